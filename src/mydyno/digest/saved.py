"""A digest as the JSON that `mydyno digest --json` writes, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from pydantic import ValidationError

from mydyno.core.errors import UsageError
from mydyno.digest.records import FORMAT, Digest, Group

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
            comma = ""
            for group in chain(digest.groups, more):
                yield comma + group.model_dump_json(exclude_none=True)
                comma = ","
            yield "]"
        elif field := digest.model_dump_json(include={name}, exclude_none=True)[1:-1]:
            yield between + field
        else:
            continue
        between = ","
    yield "}\n"


_EXPORTS = re.compile(rb'"(?:events|logEvents|results|timestamp|@?message|\w+Token|searchedLogStreams)"\s*:')
"""Keys of what CloudWatch exports."""


def is_saved(head: bytes) -> bool:
    """Whether a file that begins so may be a saved digest: of logs, only exports begin with a brace."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and not _EXPORTS.search(head)


def read_saved(text: bytes, name: str) -> Digest:
    """The digest that `text` holds; `name` is where it stood. Raises UsageError."""
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
        return f"is JSON that ends or breaks off: {broken}"
    if not isinstance(document, dict) or not {"format", "groups", "total"} <= document.keys():
        return "is JSON, but holds no digest of mydyno"
    if document["format"] != FORMAT:
        return _other_format(document["format"])
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"is no digest that can be read: {place}: {first['msg']}"


def _other_format(found: object) -> str:
    return f"was written by another release of mydyno: its format is {found!r}, this one reads {FORMAT}"
