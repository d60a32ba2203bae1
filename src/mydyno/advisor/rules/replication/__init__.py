"""The binary log and replication."""
