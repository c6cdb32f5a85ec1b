"""ns-3 as the network simulator, through a small core in C++."""
