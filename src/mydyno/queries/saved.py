"""A digest as the JSON that `mydyno digest --json` writes, and back."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from mydyno.core.errors import UsageError
from mydyno.core.record import Record
from mydyno.queries.records import FORMAT, Digest, Group

_HINT = "`mydyno digest FILE --json > digest.json` makes one"


def to_json(digest: Digest) -> str:
    return "".join(json_parts(digest))


def json_parts(digest: Digest, more: Iterable[Group] = ()) -> Iterator[str]:
    """The digest with `more` groups behind its own, part by part, of which only one is held at once.

    Without line breaks or nulls: thousands of groups have megabytes of them.
    """
    between = "{"
    for name in Digest.model_fields:
        if name == "groups":
            yield f'{between}"groups":['
            yield from listed(chain(digest.groups, more))
            yield "]"
        elif field := digest.model_dump_json(include={name}, exclude_none=True)[1:-1]:
            yield between + field
        else:
            continue
        between = ","
    yield "}\n"


def listed(records: Iterable[Record]) -> Iterator[str]:
    """The elements of a JSON list, without nulls."""
    comma = ""
    for record in records:
        yield comma + record.model_dump_json(exclude_none=True)
        comma = ","


_EXPORTS = re.compile(rb'"(?:events|logEvents|results|timestamp|@?message|\w+Token|searchedLogStreams)"\s*:')
"""Keys of what CloudWatch exports."""


def is_saved(head: bytes) -> bool:
    """Whether a file that begins so may be a saved digest: of logs, only exports begin with a brace."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and not _EXPORTS.search(head)


_GROUPS = b'"groups":['
_GROUP = b'{"count":'
"""How a group begins, and within the list of groups nothing else does: the quotes of a text are escaped."""
_CHUNK = 1024 * 1024


def open_saved(path: Path) -> tuple[Digest, Iterator[Group]]:
    """The digest in a file without its groups, and these one by one, of which only one is held at once.

    A file that another program has laid out differently is read as a whole. Raises OSError and UsageError,
    for a group when it is read.
    """
    parts = _outside_of_groups(path)
    if parts is None:
        digest = read_saved(path.read_bytes(), str(path))
        return digest.model_copy(update={"groups": ()}), iter(digest.groups)
    text, spans = parts
    return read_saved(text, str(path)), _groups(path, spans)


def _outside_of_groups(path: Path) -> tuple[bytes, list[tuple[int, int]]] | None:
    """The text before and after the groups, and where each of them begins and ends. None for a file that
    is not laid out as `json_parts` does it, or breaks off."""
    starts, size = _starts(path)
    if not starts:
        return None
    head_end = starts[0]
    with path.open("rb") as file:
        head = file.read(head_end)
        file.seek(starts[-1])
        last = file.read(size - starts[-1]).decode("utf-8", "replace")
    if last.startswith("]"):  # There is no group.
        return head + last.encode(), []
    try:
        _, length = json.JSONDecoder().raw_decode(last)
    except ValueError:
        return None
    ends = [start - 1 for start in starts[1:]] + [starts[-1] + len(last[:length].encode())]
    return head + last[length:].encode(), list(zip(starts, ends, strict=True))


def _starts(path: Path) -> tuple[list[int], int]:
    """Where the groups begin, or the end of their empty list does, and the size of the file."""
    starts: list[int] = []
    wanted, kept, at = _GROUPS, b"", 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            text = kept + chunk
            place = text.find(wanted)
            if wanted == _GROUPS and place >= 0 and len(text) > place + len(wanted) + len(_GROUP):
                first = place + len(wanted)
                if not text.startswith((_GROUP, b"]"), first):
                    return [], 0
                starts.append(at + first)
                wanted = b"," + _GROUP
                place = text.find(wanted, first)
            while wanted != _GROUPS and place >= 0:
                starts.append(at + place + 1)
                place = text.find(wanted, place + 1)
            overlap = len(_GROUPS) + len(_GROUP) if wanted == _GROUPS else len(wanted) - 1
            kept = text[-overlap:]
            at += len(text) - len(kept)
        return starts, at + len(kept)


def _groups(path: Path, spans: list[tuple[int, int]]) -> Iterator[Group]:
    with path.open("rb") as file:
        for number, (start, end) in enumerate(spans):
            file.seek(start)
            try:
                yield Group.model_validate_json(file.read(end - start))
            except ValidationError as error:
                raise UsageError(f"{path} {_invalid(error, 'groups', number)}", _HINT) from None


def read_saved(text: bytes, name: str) -> Digest:
    """The digest that `text` holds; `name` is its file. Raises UsageError."""
    try:
        digest = Digest.model_validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{name} {_why_not(text, error)}", _HINT) from None
    if digest.format != FORMAT:
        raise UsageError(f"{name} {_other_format(digest.format)}", _HINT)
    return digest


def _why_not(text: bytes, error: ValidationError) -> str:
    try:
        document = json.loads(text)
    except ValueError as broken:
        return f"is incomplete JSON: {broken}"
    if not isinstance(document, dict) or not {"format", "groups", "total"} <= document.keys():
        return "is JSON, but not a digest of mydyno"
    if document["format"] != FORMAT:
        return _other_format(document["format"])
    return _invalid(error)


def _invalid(error: ValidationError, *parents: str | int) -> str:
    first = error.errors()[0]
    return f"is not a valid digest: {'.'.join(map(str, (*parents, *first['loc'])))}: {first['msg']}"


def _other_format(number: object) -> str:
    return f"was written by another release of mydyno: its format is {number!r}, this one reads {FORMAT}"
