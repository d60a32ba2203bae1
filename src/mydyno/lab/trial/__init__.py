"""One trial, and the campaign of all trials of a plan."""
