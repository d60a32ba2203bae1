"""Queues of disks and caches of arrays at each boot and plugging: /etc/udev/rules.d/99-mydyno.rules.

A disk is matched by what stays with it (its serial number, as udev knows it) where that is known: sda can be
another one after a reboot. The file's name comes after 60-persistent-storage.rules, which finds the serial,
and after other files that choose schedulers: of several assignments the last one counts (udev(7)).
"""

import re
from collections.abc import Mapping

from mydyno.apply.change import SetArray, SetQueue
from mydyno.apply.edits.texts import RefusedError, Texts, set_line

PATH = "/etc/udev/rules.d/99-mydyno.rules"
Identity = tuple[str, str]
"""A property of udev's and its value: `("ID_SERIAL", "WDC_WD40_123")`."""
_PLAIN = re.compile(r"[A-Za-z0-9_.:!,/@+ -]+")


def set_block_device(texts: Texts, change: SetQueue | SetArray, identities: Mapping[str, Identity]) -> None:
    """`identities`: by kernel name, of the devices of which one is known. Raises RefusedError."""
    device = change.disk if isinstance(change, SetQueue) else change.array
    if not _PLAIN.fullmatch(device) or not _PLAIN.fullmatch(change.value):
        raise RefusedError(f"{device} or {change.value} has characters that a udev rule cannot match")
    name, identity = identities.get(device, ("", ""))
    attribute = f"{'queue' if isinstance(change, SetQueue) else 'md'}/{change.attribute}"
    # A value between quotes has no escapes in udev, and is matched as a pattern of a shell.
    is_known = bool(name) and _PLAIN.fullmatch(identity) is not None
    match = f'ENV{{{name}}}=="{identity}"' if is_known else f'KERNEL=="{device}"'
    rule = f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", {match}, ATTR{{{attribute}}}='
    texts.put(PATH, set_line(texts.get(PATH), rule, f'{rule}"{change.value}"'))
