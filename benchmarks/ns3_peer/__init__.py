"""ns-3 beside robonet: the paper's performance workload, and a program that plays it on ns-3 alone."""
