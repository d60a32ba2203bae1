"""Kernel packages and images as tests need them."""

from __future__ import annotations

import lzma
from pathlib import Path

from mydyno.machine.images.store import KernelManifest, RootManifest


def module(name: str, depends: str = "") -> bytes:
    """A module's file as far as its information goes."""
    fields = [b"license=GPL", b"depends=" + depends.encode(), b"name=" + name.encode()]
    return b"\x7fELF\0" + b"\0".join(fields) + b"\0\x01\x02"


def kernel_folder(folder: Path, modules: dict[str, str], built_in: tuple[str, ...] = ()) -> Path:
    """`/lib/modules/RELEASE`: file name -> what it says it depends on."""
    for file, depends in modules.items():
        path = folder / "kernel" / "drivers" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        content = module(file.partition(".")[0], depends)
        path.write_bytes(lzma.compress(content) if file.endswith(".xz") else content)
    (folder / "modules.builtin").write_text("".join(f"kernel/{name}.ko\n" for name in built_in))
    return folder


def root_manifest(suite: str = "bookworm") -> RootManifest:
    return RootManifest(
        name=suite,
        suite=suite,
        mydyno="0.1.0",
        built="2026-11-21T12:00:00Z",
        seconds=51.3,
        sources=("http://mirror.example/debian bookworm main",),
        sha256="0" * 64,
        size_bytes=305528832,
        server="/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64",
        packages={"fio": "3.33-3"},
    )


def kernel_manifest(version: str = "6.1", modules: tuple[str, ...] = ()) -> KernelManifest:
    return KernelManifest(
        name=f"linux-{version}",
        suite="bookworm",
        mydyno="0.1.0",
        built="2026-11-21T12:00:00Z",
        seconds=8.4,
        sources=("http://mirror.example/debian bookworm main",),
        sha256="1" * 64,
        size_bytes=25786540,
        release=f"{version}.0-56-amd64",
        package=f"linux-image-{version}.0-56-amd64",
        package_version=f"{version}.192-2",
        modules=modules,
        built_in=(),
        absent=(),
    )
