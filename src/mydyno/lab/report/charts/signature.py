"""Pictures that say which program drew them.

Source: W3C, Portable Network Graphics (PNG) Specification, 5.3 "Chunk layout" and 11.3.3.3 "tEXt".
"""

from __future__ import annotations

import struct
import zlib

_HEADER_BYTES = 8 + 4 + 4 + 13 + 4
"""The signature and the first chunk, IHDR: its length, type, content and checksum."""
_SOFTWARE = b"tEXtSoftware\x00mydyno"


def signed_png(picture: bytes) -> bytes:
    """The PNG with the keyword Software after its header."""
    chunk = struct.pack(">I", len(_SOFTWARE) - 4) + _SOFTWARE + struct.pack(">I", zlib.crc32(_SOFTWARE))
    return picture[:_HEADER_BYTES] + chunk + picture[_HEADER_BYTES:]


def signed_svg(picture: str) -> bytes:
    """The SVG with a comment before it."""
    return f"<!-- mydyno -->\n{picture}".encode()
