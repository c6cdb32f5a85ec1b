"""The robot simulator: bodies, sensors, actuators and controllers over arrays, one row a robot."""
