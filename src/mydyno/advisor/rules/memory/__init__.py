"""The machine's memory, the server's caches and session buffers, temporary tables."""
