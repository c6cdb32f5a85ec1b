"""Physics engines: what moves bodies from one step to the next."""
