"""Logging in to a server: addresses, credentials, TLS, and a client that trusts no server."""
