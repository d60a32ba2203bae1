"""Test settings for everything below."""

from hypothesis import settings

# The machines that run this are shared: how long an example takes says nothing about the code.
settings.register_profile("mydyno", deadline=None)
settings.load_profile("mydyno")
