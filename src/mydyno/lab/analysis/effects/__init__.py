"""Effects, interactions and their shares of the variance (docs/reference/statistics.md)."""
