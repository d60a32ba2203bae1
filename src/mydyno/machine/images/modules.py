"""Which kernel modules a guest needs, and in what order they go in.

A kernel package holds its modules without depmod's index, so the dependencies are read from where
depmod itself reads them: the `.modinfo` section of each file, zero-terminated `key=value` texts.
"""

import lzma
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mydyno.core import raid
from mydyno.core.errors import HostError

WANTED = (
    # Checksums come first: ext4, xfs, btrfs and f2fs ask the kernel for them by name, which in a guest
    # without modprobe finds only what is in already.
    *(
        "crc32c_generic",
        "crc32c_intel",
        "crc32_generic",
        "xxhash_generic",
        "blake2b_generic",
        "sha256_generic",
    ),
    *("virtio_pci", "virtio_blk", "virtio_console", "9pnet_virtio", "9p", "erofs", "overlay"),
    *raid.MODULES,
    *("ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs"),
    *("mq_deadline", "kyber_iosched", "bfq"),
)
"""By the kernel's own names. What a kernel has built in, or has no more, is not in the list that results."""

NEEDED = frozenset({"virtio_pci", "virtio_blk", "virtio_console", "9pnet_virtio", "9p", "erofs", "overlay"})
"""Without these, as modules or built in, no guest boots."""

_SUFFIX = re.compile(r"\.ko(\.xz)?$")
_SIGNED = b"~Module signature appended~\n"
_TRAILER_BYTES = 12
_INFORMATION = re.compile(rb"(?<=\0)(?:name|depends)=[^\0]*(?=\0)")


@dataclass(frozen=True)
class Chosen:
    """Module files in the order of loading, and what was wanted and is not a module of this kernel."""

    files: tuple[Path, ...]
    built_in: tuple[str, ...]
    absent: tuple[str, ...]


def choose(folder: Path, wanted: Iterable[str] = WANTED, needed: Iterable[str] = NEEDED) -> Chosen:
    """The modules below `folder` (`/lib/modules/RELEASE` of a kernel) that `wanted` takes.

    Raises HostError when one of `needed` is neither a module nor built in.
    """
    wanted = tuple(wanted)
    files = {name_of(file): file for file in folder.rglob("*.ko*") if _SUFFIX.search(file.name)}
    dependencies: dict[str, tuple[str, ...]] = {}
    waiting = [name for name in wanted if name in files]
    while waiting:
        name = waiting.pop()
        if name not in dependencies:
            dependencies[name] = depends(read_module(files[name])) if name in files else ()
            waiting += dependencies[name]
    built_in = _built_in(folder)
    missing = set(wanted) - files.keys()
    lacking = sorted((set(needed) | dependencies.keys()) - files.keys() - built_in)
    if lacking:
        raise HostError(f"the kernel {folder.name} lacks {', '.join(lacking)}, which a guest needs")
    ordered = load_order([name for name in wanted if name in files], dependencies)
    return Chosen(
        tuple(files[name] for name in ordered if name in files),
        tuple(name for name in wanted if name in missing & built_in),
        tuple(name for name in wanted if name in missing - built_in),
    )


def load_order(wanted: Iterable[str], dependencies: Mapping[str, Iterable[str]]) -> list[str]:
    """Every wanted module and all that they need, each after what it needs and else as `wanted` has it.

    Raises HostError for modules that need each other.
    """
    ordered: dict[str, None] = {}

    def put(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise HostError(f"kernel modules that need each other: {' -> '.join((*above, name))}")
        if name not in ordered:
            for below in dependencies.get(name, ()):
                put(below, (*above, name))
            ordered[name] = None

    for name in wanted:
        put(name, ())
    return list(ordered)


def name_of(file: Path) -> str:
    """A module's name as the kernel writes it: `virtio-rng.ko.xz` is `virtio_rng`."""
    return _SUFFIX.sub("", file.name).replace("-", "_")


def depends(module: bytes) -> tuple[str, ...]:
    """The modules that this one (the bytes of its file) says it needs."""
    for field in _INFORMATION.findall(b"\0" + module):
        key, _, value = field.partition(b"=")
        if key == b"depends":
            return tuple(name.replace("-", "_") for name in value.decode().split(",") if name)
    return ()


def read_module(file: Path) -> bytes:
    """A module's bytes, unpacked: Debian has compressed them with xz since its release 13."""
    content = file.read_bytes()
    return lzma.decompress(content) if file.suffix == ".xz" else content


def unsigned(module: bytes) -> bytes:
    """A module without the signature that is appended to it.

    Where the package comes from was checked when it was fetched; that the guest's kernel hashes every
    module once more takes a second of each boot under TCG. The trailer is struct module_signature of
    the kernel's include/linux/module_signature.h, whose last four bytes are the signature's length.
    """
    if not module.endswith(_SIGNED):
        return module
    trailer = module[: -len(_SIGNED)][-_TRAILER_BYTES:]
    signature = int.from_bytes(trailer[-4:], "big")
    return module[: -len(_SIGNED) - _TRAILER_BYTES - signature]


def _built_in(folder: Path) -> set[str]:
    """What the package's own `modules.builtin` lists, one file name a line."""
    try:
        lines = (folder / "modules.builtin").read_text().splitlines()
    except FileNotFoundError:
        return set()
    return {name_of(Path(line)) for line in lines}
