"""Connections, threads, tables, sessions, logs and replication."""
