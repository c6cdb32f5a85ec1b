"""Everything robonet raises on purpose.

RobonetError
├── UserError                   the scenario, an option or a file is wrong          (exit code 2)
│   └── ScenarioError           one or more places in a scenario file
├── SimulatorError              a simulator failed while running                    (exit code 3)
│   ├── ControllerError         user code raised; names robot, time and traceback
│   ├── ProtocolError
│   │   ├── LocalProtocolError  this side tried to say something it must not
│   │   └── RemoteProtocolError the peer said something it must not
│   ├── PeerLost                the peer died, was stopped or stayed silent
│   └── RecordError             results could not be written
└── Interrupted                 Ctrl-C or a request to stop                         (exit code 130)
"""

EXIT_DONE = 0
EXIT_USER = 2
EXIT_SIMULATOR = 3
EXIT_INTERRUPTED = 130


class RobonetError(Exception):
    """Root of the tree; `str(error)` is the whole message for the user."""

    exit_code = EXIT_SIMULATOR


class UserError(RobonetError):
    """Something the user asked for cannot be done as asked."""

    exit_code = EXIT_USER


class ScenarioError(UserError):
    """One or more places in a scenario file are wrong."""


class SimulatorError(RobonetError):
    """A simulator failed while running."""


class ControllerError(SimulatorError):
    """User code raised: the message names the robot, the simulated time and carries the traceback."""


class ProtocolError(SimulatorError):
    """The link's rules were broken."""


class LocalProtocolError(ProtocolError):
    """This side was about to break the rules of the link: a bug on this side."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the rules of the link."""


class PeerLost(SimulatorError):
    """The peer died, was stopped, or stayed silent past its deadline."""


class RecordError(SimulatorError):
    """What the run should leave behind could not be written."""


class Interrupted(RobonetError):
    """The user or the launcher asked the run to stop."""

    exit_code = EXIT_INTERRUPTED
