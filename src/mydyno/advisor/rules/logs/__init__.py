"""The error, slow and general logs, performance_schema."""
