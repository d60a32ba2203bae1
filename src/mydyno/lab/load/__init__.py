"""Finding, starting and talking to the load engine. docs/engine-protocol.md is the language spoken."""
