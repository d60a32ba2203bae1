"""Reads a live system into facts: the host by its files, the server by SQL."""
