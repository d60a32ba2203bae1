"""Records that wait in a temporary file: hundreds of thousands, of which few are wanted at once."""

import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from tempfile import TemporaryFile, gettempdir
from typing import Any, Generic, TypeVar, overload

from mydyno.core.errors import MydynoError
from mydyno.core.record import Record

_Kept = TypeVar("_Kept", bound=Record)


class Filed(Sequence[_Kept], Generic[_Kept]):
    """A sequence of which memory has 16 bytes a record; each is read again at every access.

    `place` is what records are sorted by; without it they stay as they come. Raises MydynoError where there
    is too little space for the file, which is gone with the sequence.
    """

    def __init__(
        self, kind: type[_Kept], records: Iterable[_Kept], place: Callable[[_Kept], Any] | None = None
    ) -> None:
        self._kind = kind
        self._starts, self._sizes = array("Q"), array("Q")
        places = []
        try:
            self._file = TemporaryFile()  # noqa: SIM115  (closed with the sequence)
            start = 0
            for record in records:
                text = record.model_dump_json(exclude_none=True).encode()
                self._file.write(text)
                self._starts.append(start)
                self._sizes.append(len(text))
                start += len(text)
                if place is not None:
                    places.append(place(record))
            self._file.flush()
        except OSError as error:
            raise MydynoError(
                f"the digest does not fit into a file in {gettempdir()}: {error.strerror}",
                "TMPDIR=FOLDER names a folder with enough space",
            ) from error
        if place is not None:
            order = sorted(range(len(places)), key=places.__getitem__)
            self._starts = array("Q", (self._starts[each] for each in order))
            self._sizes = array("Q", (self._sizes[each] for each in order))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> _Kept: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[_Kept, ...]: ...

    def __getitem__(self, at: int | slice) -> _Kept | tuple[_Kept, ...]:
        if isinstance(at, slice):
            return tuple(self[each] for each in range(len(self))[at])
        return self._kind.model_validate_json(
            os.pread(self._file.fileno(), self._sizes[at], self._starts[at])
        )
