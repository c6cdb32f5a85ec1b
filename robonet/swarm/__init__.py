"""What controllers are written with, and a few that are ready to use."""
