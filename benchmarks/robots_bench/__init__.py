"""The parts of benchmarks/robots.py: worlds, minds, measuring robonet, other simulators beside it, and the report."""
