"""Writing a bundle: deterministic, whole or not there; anonymous where that is requested.

What `anonymous` replaces: the host names of the server and the environment, the folder of the lab, and the
owner's name in paths below /home and /Users. Numbers, settings and everything else stay.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from mydyno import __version__
from mydyno.core.durable import replacing, sync
from mydyno.core.errors import LabError
from mydyno.core.hiding import HOST_SETTINGS, Hide, hider
from mydyno.core.writing import writing_hint
from mydyno.lab.results.bundle.archive import MANIFEST, ROWS, VERSION, ArchiveWriter, File, Manifest
from mydyno.lab.results.plain_rows import PlainRun, TableRows, Value
from mydyno.lab.results.records import EXTERNAL_SERVER, UNSEEN_SERVER
from mydyno.lab.results.run import INTERVALS, SAMPLES, Run

SUFFIX = ".mydyno.tar.gz"
_OF_RUN = ("experiment.yaml", "plan.json", "events.jsonl")
_CHUNK = 1 << 20


def hider_of(run: PlainRun, lab: str) -> Hide:
    """What takes the names of this run out of a text. `lab`: the folder of the lab now."""
    return hider(_host_names(run), {lab, *_labs(run)})


def hide_in_rows(run: PlainRun, hide: Hide) -> PlainRun:
    """Every text of every row, JSON in it too; folders of trials are names of mydyno's own."""
    return replace(
        run,
        tables={
            name: TableRows(
                table.columns, tuple(tuple(_hidden(value, hide) for value in row) for row in table.rows)
            )
            for name, table in run.tables.items()
        },
    )


def hide_in_file(path: str, content: bytes, hide: Hide) -> bytes:
    """A text file of a trial or a run; in JSON the values, not the names. Series hold no text."""
    if path.endswith(".parquet"):
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return hide(content.decode("latin-1")).encode("latin-1")
    if path.endswith(".json"):
        return json.dumps(_in_json(json.loads(text), hide), indent=1).encode()
    if path.endswith(".jsonl"):
        lines = (json.dumps(_in_json(json.loads(line), hide)) for line in text.splitlines())
        return "".join(f"{line}\n" for line in lines).encode()
    return hide(text).encode()


def _in_json(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_in_json(each, hide) for each in value]
    if isinstance(value, dict):
        return {name: _in_json(each, hide) for name, each in value.items()}
    return value


def _hidden(value: Value, hide: Hide) -> Value:
    return hide(value) if isinstance(value, str) else value


def _host_names(run: PlainRun) -> Iterator[str]:
    for name, value in _named(run, "settings", "in_force"):
        if name in HOST_SETTINGS:
            yield value
    for name, value in _named(run, "environments", "value"):
        if name in (EXTERNAL_SERVER, UNSEEN_SERVER):
            yield value.rpartition("@")[2].rpartition(":")[0].strip("[]") or value
        elif name.endswith("hostname"):
            yield value


def _labs(run: PlainRun) -> Iterator[str]:
    """Where the lab was when its servers ran: their data were in LAB/run/..."""
    for name, value in _named(run, "settings", "in_force"):
        if name == "datadir":
            yield from (str(parent.parent) for parent in PurePosixPath(value).parents if parent.name == "run")


def _named(run: PlainRun, table: str, column: str) -> Iterable[tuple[str, str]]:
    content = run.tables.get(table)
    if content is None:
        return
    name, value = content.columns.index("name"), content.columns.index(column)
    for row in content.rows:
        if isinstance(row[value], str):
            yield str(row[name]), str(row[value])


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
    run.trials()  # Rows that no reader takes are refused here, where they can be repaired.
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
    files = [run.folder / name for name in _OF_RUN]
    for folder in sorted(plain.trial_folders):
        files += sorted((run.folder / "trials" / folder).rglob("*"))
    for path in files:
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
