"""Numbers that were measured elsewhere: from a table and an import file to a run in the lab."""
