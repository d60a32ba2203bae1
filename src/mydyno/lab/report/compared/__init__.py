"""Runs compared: what is the same, what differs, and who is slower than allowed."""
