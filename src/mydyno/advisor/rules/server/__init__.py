"""The server's release and its option files."""
