"""Carries advice out, with the way back: diff, journal, change, check, roll back."""
