"""A digest, and two digests compared: as text for a terminal, as a page."""

LIMIT_OF_PAGE = 500
"""Groups of a page for a browser."""
