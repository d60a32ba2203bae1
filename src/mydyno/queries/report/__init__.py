"""A digest, and two digests compared: as text for a terminal, as a page."""
