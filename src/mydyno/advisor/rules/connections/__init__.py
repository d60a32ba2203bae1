"""Connections and the threads that serve them."""
