"""Where advice can be put to the test. Imports nothing, so that the command's help need not wait."""

from typing import Literal

Place = Literal["sandbox", "vm", "uml", "server"]
"""A private server on this machine, in a QEMU guest, in a User-Mode Linux guest; or the advised one."""
