"""Servers in folders and archives, as far as they say what they are."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from lab.stack.builders import GOLDEN, MARIADB_VERSION


def says(version: str = MARIADB_VERSION) -> str:
    """A program that prints a version, and its options as a real MariaDB printed them."""
    return (
        "#!/bin/sh\n"
        f'case "$*" in *--version*) echo "{version}" ;;\n'
        f"*) cat <<'END'\n{(GOLDEN / 'mariadb-10.11.19-help.txt').read_text()}\nEND\n;; esac\n"
    )


def program(path: Path, text: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(says() if text is None else text)
    path.chmod(0o755)
    return path


def archive(file: Path, members: dict[str, str], *, mode: str = "w:gz", top: str = "server-1.0/") -> Path:
    """A tar archive of programs: name -> text."""
    with tarfile.open(file, mode) as tar:  # type: ignore[call-overload]
        for name, text in members.items():
            member = tarfile.TarInfo(f"{top}{name}")
            member.mode = 0o4755
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return file
