"""The network simulator: models that move packets between nodes, each event at its own time."""
