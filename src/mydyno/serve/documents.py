"""Advice, digests, rehearsals and searches that a lab holds: files of JSON, each made into the page of its
command.

They are read again for every page. What is in them is checked as an input is, and is escaped in the page.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from mydyno.core.errors import LabError, UsageError
from mydyno.lab.results.run import REHEARSAL
from mydyno.tune.journal import FOLDER, RECORD


@dataclass(frozen=True)
class Kind:
    """`pattern` is that of the files below the lab, whose part at `part` names the document."""

    name: str
    pattern: str
    part: int
    page: Callable[[Path], str]


@dataclass(frozen=True)
class Document:
    """A file of the lab that has a page."""

    kind: str
    name: str
    path: Path
    made: str
    """When the file was written: ISO 8601, UTC, to the minute."""
    version: tuple[int, ...]
    """Another one where the file was written again."""


def documents(lab: Path) -> tuple[Document, ...]:
    """All of them, the newest first. A file that has gone meanwhile, and a link, is none."""
    found = (each for kind in KINDS.values() for each in _of_kind(lab, kind))
    return tuple(sorted(found, key=lambda each: each.version, reverse=True))


def find_document(lab: Path, kind: str, name: str) -> Document:
    """Raises UsageError where the lab has none of that name."""
    for each in _of_kind(lab, KINDS[kind]) if kind in KINDS else ():
        if each.name == name:
            return each
    raise UsageError(f"the lab has no {kind} {name}", "the list shows what it has")


def document_html(kind: str, path: Path) -> str:
    """The page of a document's file. Raises LabError where it cannot be read."""
    try:
        return KINDS[kind].page(path)
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}") from error
    except UsageError as error:
        raise LabError(error.message, error.hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise LabError(f"{path} is not a {kind} of mydyno: {where}: {first['msg']}") from error


def _of_kind(lab: Path, kind: Kind) -> Iterator[Document]:
    for path in lab.glob(kind.pattern):
        if document := _document(lab, kind, path):
            yield document


def _document(lab: Path, kind: Kind, path: Path) -> Document | None:
    try:
        if path.is_symlink() or not path.is_file():
            return None
        status = path.stat()
    except OSError:
        return None
    made = datetime.fromtimestamp(status.st_mtime, UTC).strftime("%Y-%m-%dT%H:%MZ")
    name = path.relative_to(lab).parts[kind.part].removesuffix(".json")
    return Document(kind.name, name, path, made, (status.st_mtime_ns, status.st_size))


def _advice(path: Path) -> str:
    from mydyno.advisor.advice import read_advice
    from mydyno.advisor.report.page import advice_html

    return advice_html(read_advice(path.read_text(encoding="utf-8", errors="replace"), str(path)))


def _digest(path: Path) -> str:
    from mydyno.queries.order import BY_TIME, first_in_order
    from mydyno.queries.report import LIMIT_OF_PAGE
    from mydyno.queries.report.page import digest_html
    from mydyno.queries.saved import open_saved

    return digest_html(first_in_order(*open_saved(path), BY_TIME, LIMIT_OF_PAGE))


def _search(path: Path) -> str:
    from mydyno.tune.result import from_json

    found = from_json(path.read_bytes())
    from mydyno.tune.page import page  # With the charts, which a damaged file does not need.

    return page(found)


def _rehearsal(path: Path) -> str:
    from mydyno.rehearse.records import Rehearsal
    from mydyno.rehearse.report.page import rehearsal_html

    return rehearsal_html(Rehearsal.model_validate_json(path.read_bytes()))


KINDS = {
    each.name: each
    for each in (
        Kind("advice", "advice/*.json", -1, _advice),
        Kind("digest", "digests/*.json", -1, _digest),
        Kind("search", f"{FOLDER}/*/{RECORD}", 1, _search),
        Kind("rehearsal", f"runs/*/{REHEARSAL}", 1, _rehearsal),
    )
}
