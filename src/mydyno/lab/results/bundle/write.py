"""Writing a bundle: deterministic, whole or not there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mydyno import __version__
from mydyno.core.durable import replacing, sync
from mydyno.core.errors import LabError
from mydyno.core.writing import writing_hint
from mydyno.lab.results.bundle.anonymous import hide_in_file, hide_in_rows, hider_of
from mydyno.lab.results.bundle.archive import ArchiveWriter
from mydyno.lab.results.bundle.manifest import MANIFEST, ROWS, VERSION, File, Manifest
from mydyno.lab.results.plain_rows import PlainRun
from mydyno.lab.results.run import INTERVALS, SAMPLES, Run

SUFFIX = ".mydyno.tar.gz"

_OF_RUN = ("experiment.yaml", "plan.json", "events.jsonl")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class _Source:
    """A file to be: from the disk, or from memory where it was changed or may grow."""

    path: str
    content: bytes | Path

    def chunks(self) -> Iterator[bytes]:
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk


def bundle(run: Run, out: Path, *, series: bool = True, anonymous: bool = False) -> Manifest:
    """Write the finished trials of `run` into the file `out`; the same run gives the same bytes.

    Without `series` the samples and intervals stay behind; `anonymous` takes names of hosts, people and the
    lab's folder out of it. Raises LabError: `out` exists or cannot be written, the disk is full, the rows
    are damaged.
    """
    if out.exists():
        raise LabError(f"{out} exists already", "use another name: --out FILE")
    run.trials()  # Rows that no reader takes are refused here, where they can be mended.
    try:
        plain = run.plain()
        sources = list(_sources(run, plain, series=series, anonymous=anonymous))
        manifest = Manifest(
            format="mydyno-bundle",
            version=VERSION,
            mydyno=__version__,
            lab_format=plain.format,
            run=run.folder.name,
            experiment=run.experiment.name,
            series=series,
            anonymous=anonymous,
            files=tuple(map(_described, sources)),
        )
        with replacing(out) as file:
            archive = ArchiveWriter(file)
            document = manifest.document()
            archive.add(MANIFEST, len(document), iter([document]))
            for source, described in zip(sources, manifest.files, strict=True):
                archive.add(source.path, described.bytes, _unchanged(source, described))
            archive.close()
        sync(out.parent)
    except OSError as error:
        raise LabError(
            f"cannot write the bundle {out}: {error.strerror}; nothing was left behind",
            writing_hint(error, out),
        ) from error
    return manifest


def _sources(run: Run, plain: PlainRun, *, series: bool, anonymous: bool) -> Iterator[_Source]:
    hide = hider_of(plain, str(run.folder.parent.parent.resolve())) if anonymous else None
    yield _Source(ROWS, (plain if hide is None else hide_in_rows(plain, hide)).lines())
    found = [run.folder / name for name in _OF_RUN]
    for folder in sorted(plain.trial_folders):
        found += sorted((run.folder / "trials" / folder).rglob("*"))
    for path in found:
        left_out = not series and path.name in (SAMPLES, INTERVALS)
        if left_out or path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(run.folder).as_posix()
        # The events of a run at work grow while they are read.
        whole = hide is not None or path.name == "events.jsonl"
        content = path.read_bytes() if whole else path
        if hide is not None and isinstance(content, bytes):
            content = hide_in_file(name, content, hide)
        yield _Source(name, content)


def _described(source: _Source) -> File:
    checksum, size = hashlib.sha256(), 0
    for chunk in source.chunks():
        checksum.update(chunk)
        size += len(chunk)
    return File(path=source.path, bytes=size, sha256=checksum.hexdigest())


def _unchanged(source: _Source, described: File) -> Iterator[bytes]:
    checksum, size = hashlib.sha256(), 0
    for chunk in source.chunks():
        checksum.update(chunk)
        size += len(chunk)
        if size > described.bytes:
            break
        yield chunk
    if (size, checksum.hexdigest()) != (described.bytes, described.sha256):
        raise LabError(
            f"{described.path} changed while it was bundled", "is something writing into the lab? Try again"
        )
