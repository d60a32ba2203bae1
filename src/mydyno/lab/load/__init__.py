"""Finding, starting and driving the load engine (docs/reference/engine-protocol.md)."""
