"""The lock-step between a robot simulator and a network simulator."""
