"""Advice as a terminal shows it."""
