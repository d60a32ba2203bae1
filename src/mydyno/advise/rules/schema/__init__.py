"""Tables and indexes."""
