"""What controllers can do: each actuator acts on one component of a robot, for one robot or for a whole group."""
