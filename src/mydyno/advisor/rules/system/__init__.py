"""The kernel, its memory and its limits on the server's process."""
