"""Reads what ran on a server into a digest: slow logs, performance_schema, the log turned on for a while."""
