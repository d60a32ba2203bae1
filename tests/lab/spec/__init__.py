"""Experiment files, good and bad."""
