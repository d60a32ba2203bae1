"""Traces that `mydyno synthesize` put together: their statements were not recorded."""

SYNTHETIC = "synthetic"
"""The source of such a trace (docs/reference/trace-format.md)."""
SAYS = "The trace is synthetic: put together from statement digests. It is not a recording of traffic."
"""For every result of one."""
