"""A rehearsal for people: text for a terminal, and a page."""
