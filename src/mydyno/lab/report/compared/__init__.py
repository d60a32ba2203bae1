"""Runs held against each other: what is the same, what differs, and who is slower than allowed."""
