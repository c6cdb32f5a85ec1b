"""What controllers can know: each sensor reads the world for one robot or for a whole group."""
