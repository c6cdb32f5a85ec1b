"""The command line: parse, call, print, exit. Everything else lives elsewhere."""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from robonet import __version__
from robonet.errors import EXIT_DONE, EXIT_INTERRUPTED, EXIT_USER, RobonetError, UserError
from robonet.plugins import FAMILIES, closest
from robonet.study_cli import add_study_commands, compare_study, is_study


class _Parser(argparse.ArgumentParser):
    """Argument errors in the same form as all others, with the closest word."""

    def error(self, message: str) -> NoReturn:
        if "invalid choice" in message:
            word = message.split("'")[1]
            names = [name for action in self._actions for name in (action.choices or ())]
            message = message.split(" (choose", maxsplit=1)[0] + closest(word, [str(name) for name in names])
            message += f"; choose from {', '.join(str(name) for name in names)}"
        self.exit(EXIT_USER, f"error: {message}\ntry: {self.prog} --help\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except RobonetError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `robonet list networks | head -1` is no mistake
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="robonet", description="Robot teams and their radio networks, simulated in lock-step.")
    parser.add_argument("--version", action="version", version=f"robonet {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    run = command("run", _run, "simulate a scenario and show what came of it")
    _scenario_options(run)
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="run folder; an earlier run in it is replaced (default: new)"
    )
    _realtime_option(run)
    run.add_argument("--link", metavar="ADDRESS", help="where the two sides meet (default: a private socket)")
    output = run.add_mutually_exclusive_group()
    output.add_argument("--quiet", action="store_true", help="print nothing but errors")
    output.add_argument("--json", action="store_true", help="print the summary as one JSON object")

    compare = command(
        "compare", _compare, "several network models on one scenario, or a finished study: how do they differ?"
    )
    _scenario_options(compare)
    compare.add_argument("--networks", default="", metavar="A,B,...", help="models to compare, e.g. ideal,disk,wifi")
    compare.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds of each, from --seed on (default: 5)")
    compare.add_argument("--out", type=Path, metavar="DIR", help="folder for the runs (default: runs/compare-NAME)")
    compare.add_argument("--json", action="store_true", help="print one JSON object")
    compare.add_argument("--bootstrap", action="store_true", help="of a study: intervals by bootstrap, not Student's t")

    add_study_commands(command)

    check = command("check", _check, "parse and explain a scenario; runs nothing, not even your code")
    _scenario_options(check, optional=True)
    check.add_argument("--schema", action="store_true", help="print the JSON Schema of scenarios")

    listing = command("list", _list, "what can be named in a scenario")
    listing.add_argument("family", choices=list(FAMILIES), metavar="|".join(FAMILIES))
    listing.add_argument("--json", action="store_true", help="as a JSON object")

    new = command("new", _new, "write a commented scenario and a controller to start from")
    new.add_argument("folder", type=Path, metavar="DIR")

    importing = command("import", _import, "turn a Stage world or an ARGoS experiment into a scenario")
    importing.add_argument("file", type=Path, metavar="FILE", help="a .world or an .argos file")
    importing.add_argument("--out", type=Path, metavar="scenario.yaml", help="default: standard output")

    robots = command("robots", _robots, "the robot simulator alone, joined to a network simulator by --link")
    _side_options(robots)
    robots.add_argument("--peer", default="robots", metavar="NAME", help="name of this simulator (default: robots)")
    _realtime_option(robots)
    robots.add_argument("--started-at", type=float, help=argparse.SUPPRESS)

    network = command("network", _network, "the network simulator alone, joined by robot simulators at --link")
    _side_options(network)
    network.add_argument("--peers", type=int, default=1, metavar="N", help="robot simulators to wait for (default: 1)")
    network.add_argument("--private-folder", type=Path, help=argparse.SUPPRESS)

    show = command("show", _show, "the summary of a finished or killed run again")
    show.add_argument("folder", type=Path, metavar="RUN")
    show.add_argument("--json", action="store_true", help="as a JSON object")

    export = command("export", _export, "the motion of a run in the ns-2 format, or a picture of it as SVG")
    export.add_argument("folder", type=Path, metavar="RUN")
    export.add_argument("--format", choices=["ns2", "svg"], help="default: svg for a FILE that ends so, else ns2")
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output")

    keys = command("keys", _keys, "make the keys that let two machines join one run")
    keys.add_argument("folder", type=Path, metavar="DIR")

    doctor = command("doctor", _doctor, "what is installed and usable here, and what to install for the rest")
    doctor.add_argument("--json", action="store_true", help="as a JSON object")
    return parser


def _scenario_options(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument("scenario", type=Path, nargs="?" if optional else None, metavar="scenario.yaml")
    parser.add_argument("--network", metavar="MODEL", help="another network model (robonet list networks)")
    parser.add_argument("--seed", type=int, metavar="N", help="another root of all randomness")
    parser.add_argument("--duration", type=float, metavar="S", help="another duration in simulated seconds")
    parser.add_argument("--variant", metavar="NAME", help="a variant named in the scenario")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change anything, e.g. network.disk.range_m=80",
    )


def _realtime_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--realtime",
        type=float,
        nargs="?",
        const=1.0,
        metavar="FACTOR",
        help="pace to real time, or a multiple of it",
    )


def _side_options(parser: argparse.ArgumentParser) -> None:
    _scenario_options(parser)
    parser.add_argument("--link", required=True, metavar="ADDRESS", help="tcp://host:port or ipc://path")
    parser.add_argument("--keys", type=Path, metavar="DIR", help="folder of CURVE keys (robonet keys)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder to record into (default: no record)")
    parser.add_argument("--control-fd", type=int, help=argparse.SUPPRESS)


def _loaded(options: argparse.Namespace) -> Any:
    from robonet.scenario import load_scenario

    overrides = list(options.set)
    if options.network is not None:
        overrides.append(f"network.model={json.dumps(options.network)}")
    if options.seed is not None:
        overrides.append(f"seed={options.seed}")
    if options.duration is not None:
        overrides.append(f"duration_s={options.duration}")
    return load_scenario(options.scenario, tuple(overrides), options.variant)


def _real_time_factor(options: argparse.Namespace) -> float | None:
    factor: float | None = options.realtime
    if factor is not None and not 0 < factor < float("inf"):
        raise UserError(f"--realtime {factor:g}: the factor must be positive")
    return factor


# --- commands --------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    from rich.console import Console

    from robonet.console import progress_bar, summary_table
    from robonet.runs import prepare, run_scenario

    loaded = _loaded(options)
    factor = _real_time_factor(options)
    prepared = prepare(loaded, options.out, options.link, factor, started)
    screen = Console(stderr=True)
    with progress_bar(screen, loaded.scenario.name, prepared.steps, shown=not options.quiet) as progress:
        verdict, summary = run_scenario(prepared, progress)
    if verdict.exit_code == EXIT_USER:
        pass  # nothing was simulated: there is nothing to show but the mistake
    elif options.json:
        print(json.dumps(summary))  # noqa: T201
    elif not options.quiet:
        Console().print(summary_table(summary))
    if verdict.message:
        print(f"error: {verdict.message}", file=sys.stderr)  # noqa: T201
    return verdict.exit_code


def _compare(options: argparse.Namespace) -> int:
    from rich.console import Console

    from robonet.console import comparison_progress, comparison_table
    from robonet.experiments.compare import compare

    if is_study(options.scenario):
        return compare_study(options.scenario, as_json=options.json, bootstrap=options.bootstrap)
    if options.network is not None:
        raise UserError("--network is for `robonet run`; here --networks names them all")
    if options.seeds < 1:
        raise UserError("--seeds must be at least 1")
    first = _loaded(options).scenario

    def load(network: str, seed: int) -> Any:
        options.network, options.seed = network, seed
        return _loaded(options)

    networks = [name.strip() for name in options.networks.split(",") if name.strip()]
    if not networks:
        raise UserError("--networks names no model; try: robonet list networks")
    out = options.out or Path("runs") / f"compare-{first.name}"
    seeds = list(range(first.seed, first.seed + options.seeds))
    with comparison_progress(Console(stderr=True)) as on_run:
        found = compare(load, networks, seeds, out, on_run)
    if options.json:
        print(json.dumps(found.as_json()))  # noqa: T201
    else:
        Console().print(comparison_table(found))
    return EXIT_DONE


def _import(options: argparse.Namespace) -> int:
    from robonet.imports import import_file

    imported = import_file(options.file, options.out.parent if options.out is not None else None)
    if options.out is None:
        print(imported.text, end="")  # noqa: T201
    else:
        try:
            options.out.write_text(imported.text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {options.out}: {error.strerror}") from error
        print(f"wrote {options.out}")  # noqa: T201
    for one in imported.unmapped:
        print(f"not taken over: {one}", file=sys.stderr)  # noqa: T201
    return EXIT_DONE


def _check(options: argparse.Namespace) -> int:
    from rich.console import Console

    from robonet.console import explanation
    from robonet.robots.rehearsal import rehearse
    from robonet.scenario import Scenario, load_scenario

    if options.schema:
        print(json.dumps(Scenario.model_json_schema(), indent=2))  # noqa: T201
        return EXIT_DONE
    if options.scenario is None:
        raise UserError("name a scenario file, or ask for --schema")
    loaded = _loaded(options)
    for variant in loaded.scenario.variants:
        load_scenario(options.scenario, variant=variant)
    rehearse(loaded.scenario, loaded.base)
    console = Console()
    console.print(explanation(loaded))
    console.print(f"{options.scenario} is good to run", style="green", markup=False, highlight=False)
    return EXIT_DONE


def _list(options: argparse.Namespace) -> int:
    if options.json:
        print(json.dumps({name: plugin.help for name, plugin in FAMILIES[options.family].items()}))  # noqa: T201
        return EXIT_DONE
    from rich.console import Console

    from robonet.console import family_table

    Console().print(family_table(options.family))
    return EXIT_DONE


def _new(options: argparse.Namespace) -> int:
    from robonet.scenario.starter import write_starter

    for path in write_starter(options.folder):
        print(f"wrote {path}")  # noqa: T201
    print(f"now: robonet run {options.folder / 'scenario.yaml'}")  # noqa: T201
    return EXIT_DONE


def _robots(options: argparse.Namespace) -> int:
    from robonet.robots.process import RobotsOptions, run_robots

    is_launched = options.control_fd is not None
    code = run_robots(
        _loaded(options),
        RobotsOptions(
            link=options.link,
            keys=options.keys,
            out=options.out,
            peer=options.peer,
            real_time_factor=_real_time_factor(options),
            started_at=options.started_at,
            control_fd=options.control_fd,
        ),
    )
    if options.out is not None and not is_launched and code in (EXIT_DONE, EXIT_INTERRUPTED):
        _print_summary(options.out)
    return code


def _print_summary(folder: Path) -> None:
    from rich.console import Console

    from robonet.console import summary_table
    from robonet.runs import summary_of

    Console().print(summary_table(summary_of(folder)))


def _network(options: argparse.Namespace) -> int:
    from robonet.network.process import NetworkOptions, run_network

    if options.peers < 1:
        raise UserError("--peers must be at least 1")
    return run_network(
        _loaded(options),
        NetworkOptions(
            link=options.link,
            keys=options.keys,
            out=options.out,
            peers=options.peers,
            private_folder=options.private_folder,
            control_fd=options.control_fd,
        ),
    )


def _show(options: argparse.Namespace) -> int:
    if not options.json:
        _print_summary(options.folder)
        return EXIT_DONE
    from robonet.runs import summary_of

    print(json.dumps(summary_of(options.folder)))  # noqa: T201
    return EXIT_DONE


def _export(options: argparse.Namespace) -> int:
    from robonet.record.ns2_export import export_ns2
    from robonet.record.picture import draw_run
    from robonet.runs import run_folder

    is_svg = options.output is not None and options.output.suffix == ".svg"
    write = {"ns2": export_ns2, "svg": draw_run}[options.format or ("svg" if is_svg else "ns2")]
    folder = run_folder(options.folder)
    if options.output is None:
        write(folder, sys.stdout)
        return EXIT_DONE
    try:
        with options.output.open("w", encoding="utf-8") as file:
            robots = write(folder, file)
    except OSError as error:
        raise UserError(f"cannot write {options.output}: {error.strerror}") from error
    print(f"wrote {robots} robots to {options.output}")  # noqa: T201
    return EXIT_DONE


def _keys(options: argparse.Namespace) -> int:
    from robonet.link.keys import make_keys

    for path in make_keys(options.folder):
        print(f"wrote {path}")  # noqa: T201
    return EXIT_DONE


def _doctor(options: argparse.Namespace) -> int:
    from robonet.doctor import diagnosis, findings_table

    findings = diagnosis()
    if options.json:
        print(json.dumps([finding._asdict() for finding in findings]))  # noqa: T201
    else:
        from rich.console import Console

        Console().print(findings_table(findings))
    return EXIT_DONE
