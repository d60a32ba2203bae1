"""What each factor explains: effects, interactions and their shares of the variance (docs/statistics.md)."""
