"""YAML files that people write: read with their lines, checked as types, answered with errors that point."""
