"""The server of a guest image as a binary that checks settings before the guest boots."""

from __future__ import annotations

from pathlib import Path

from mydyno.core.server_version import parse_version
from mydyno.machine.images import RootImage
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.options import parse_options


def binary_of_image(root: RootImage) -> ServerBinary:
    """Where it is in the guest, its release and its options, from what it said when the image was built."""
    path = Path(root.manifest.server.split()[0])
    return ServerBinary(path, parse_version(root.manifest.server), parse_options(root.server_help()))
