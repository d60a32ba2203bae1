"""Bundles that are damaged on purpose in one place, often with checksums that fit again."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import tarfile
from collections.abc import Callable
from typing import Any

from mydyno.lab.results.bundle.archive import _checksum

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63 - 1,
    2**63,
    -(2**63),
    10**400,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    "abc",
    "\x00",
    "\ud800",
    "9" * 5000,
    "../../x",
    "{" * 3000,
    '{"a":' * 500,
    [],
    {},
    [[[]]],
)
TEXTS = (b"[" * 100_000, b"{}", b"[]", b'{"table":"trials","columns":[]}', b"\xff\xfe", b"null", b"1", b"")

Members = list[tuple[str, bytes]]


def members(content: bytes) -> Members:
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as archive:
        return [(one.name, archive.extractfile(one).read()) for one in archive]  # type: ignore[union-attr]


def archive(found: Members) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in found:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue(), compresslevel=1)


def signed(found: Members) -> Members:
    """The manifest made to fit the other files again."""
    manifest = json.loads(found[0][1])
    manifest.pop("sha256", None)
    manifest["files"] = [
        {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in found[1:]
    ]
    return [(found[0][0], json.dumps(manifest | {"sha256": _checksum(manifest)}).encode()), *found[1:]]


def _bytes(chance: random.Random, content: bytes) -> bytes:
    """Some bytes of the compressed file."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.choice((len(changed), chance.randrange(1, len(changed))))])


def _header(chance: random.Random, content: bytes) -> bytes:
    """A byte of a header of the archive."""
    plain = bytearray(gzip.decompress(content))
    start = chance.choice(
        [place for place in range(0, len(plain), 512) if plain[place + 257 : place + 262] == b"ustar"]
    )
    for _ in range(chance.randint(1, 3)):
        plain[start + chance.randrange(512)] = chance.randrange(256)
    if chance.random() < 0.7:
        # With a checksum that fits, so that the field itself is looked at.
        plain[start + 148 : start + 156] = b" " * 8
        total = sum(plain[start : start + 512])
        plain[start + 148 : start + 156] = f"{total:06o}\0 ".encode()
    return gzip.compress(bytes(plain), compresslevel=1)


def _rows(chance: random.Random, content: bytes) -> bytes:
    """A cell, a line or the head of a table, with checksums that fit."""
    found = members(content)
    lines = found[1][1].split(b"\n")[:-1]
    place = chance.randrange(len(lines))
    one = json.loads(lines[place])
    how = chance.random()
    if how < 0.6:
        value = chance.choice(VALUES)
        if isinstance(one, list):
            one[chance.randrange(len(one))] = value
        else:
            key = chance.choice(["table", "columns"])
            if key == "columns" and chance.random() < 0.5:
                one["columns"][chance.randrange(len(one["columns"]))] = value
            else:
                one[key] = value
        lines[place] = json.dumps(one).encode()
    elif how < 0.7:
        lines[place] = chance.choice(TEXTS)
    elif how < 0.8:
        del lines[place]
    elif how < 0.9:
        lines.insert(chance.randrange(len(lines)), lines[place])
    else:
        other = chance.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    return archive(signed([found[0], (found[1][0], b"\n".join(lines) + b"\n"), *found[2:]]))


def _manifest(chance: random.Random, content: bytes) -> bytes:
    """A value of the manifest, whose own checksum fits."""
    found = members(content)
    manifest = json.loads(found[0][1])
    manifest.pop("sha256")
    where: Any = manifest
    if chance.random() < 0.4:
        where = chance.choice(manifest["files"])
    where[chance.choice(sorted(where))] = chance.choice(VALUES)
    try:
        checksum = _checksum(manifest)
    except ValueError:
        checksum = ""
    document = json.dumps(manifest | {"sha256": checksum}).encode()
    if chance.random() < 0.1:
        document = chance.choice(TEXTS)
    return archive([(found[0][0], document), *found[1:]])


def _files(chance: random.Random, content: bytes) -> bytes:
    """A file that is missing, doubled, renamed or moved."""
    found = members(content)
    place = chance.randrange(1, len(found))
    how = chance.randrange(4)
    if how == 0:
        del found[place]
    elif how == 1:
        found.insert(place, found[place])
    elif how == 2:
        names = (
            "../x",
            "/etc/x",
            "trials/x/y",
            "a" * 90,
            "trials/t001/\x01",
            "rows.jsonl",
            "trials/t001/a/b/c",
        )
        found[place] = (chance.choice(names), found[place][1])
    else:
        found.append(found.pop(place))
    return archive(signed(found) if chance.random() < 0.7 else found)


MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _bytes,
    _header,
    _rows,
    _rows,
    _manifest,
    _files,
)


def mutated(chance: random.Random, content: bytes) -> bytes:
    return chance.choice(MUTATIONS)(chance, content)
