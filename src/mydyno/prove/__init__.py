"""Measures what advice is worth: each finding alone and all together, before and after."""
