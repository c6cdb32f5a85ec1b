"""ns-2 as the network: a plain OTcl script in a child process, in lock-step over a loopback socket."""
