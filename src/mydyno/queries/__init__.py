"""What ran on a server: slow logs and performance_schema by group, comparisons, index candidates, reports."""
