"""Several runs of one scenario, and what can be said about them together."""
