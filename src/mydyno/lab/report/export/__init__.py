"""A run for other programs: its series for Prometheus and Grafana, and every number of it as tables."""
