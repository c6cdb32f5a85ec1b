"""Adapters to foreign simulators, one folder each; installed as `robonet_bridges`."""
