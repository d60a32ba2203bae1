"""What the plan and the analysis of slices share."""

LEAST_ROUNDS = 5
"""Of a phase. With fewer it is not known whether the servers disturb each other."""
