"""A digest, and two held against each other: as text for a terminal, as a page."""
