"""An answer of a server, its size counted while it is read. Used by `client`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mydyno.server.access.pymysql_internals import Packet, Result

if TYPE_CHECKING:
    from mydyno.server.access.client import BoundedConnection

_ERROR_BYTES = 4096
_COLUMNS = 4096
"""The most of a table and of a select list (MySQL Reference Manual, "Table Column-Count Limits")."""
_WIDEST_CHARACTER = 4
"""Bytes in memory of a character, whatever it was in the packet."""


class AnyPacket(Packet):
    """A packet. Of an error's text only the beginning is decoded."""

    __slots__ = ()

    def __init__(self, data: bytes, encoding: str) -> None:
        super().__init__(data[:_ERROR_BYTES] if data[:1] == b"\xff" else data, encoding)


class Answer(Result):
    """Raises whatever exception for an answer that is none: the connection makes a dbapi.Error of it."""

    connection: BoundedConnection

    def _get_descriptions(self) -> None:
        if not isinstance(self.field_count, int) or not 0 < self.field_count <= _COLUMNS:
            raise ValueError(f"{self.field_count} columns")
        super()._get_descriptions()

    def _read_row_from_packet(self, packet: Packet) -> tuple[Any, ...]:
        self.connection.must_have_room(_WIDEST_CHARACTER * len(packet._data))
        row = super()._read_row_from_packet(packet)
        if len(row) != self.field_count:
            raise ValueError(f"a row of {len(row)} columns where {self.field_count} were announced")
        self.connection.spend(sys.getsizeof(row) + sum(map(sys.getsizeof, row)))
        return row

    def _read_load_local_packet(self, first_packet: Packet) -> None:
        raise ValueError("it asks for a file of this machine")

    def _read_rowdata_packet_unbuffered(self) -> tuple[Any, ...] | None:
        if not self.unbuffered_active:
            return None
        with self.connection.reading_a_row():
            return super()._read_rowdata_packet_unbuffered()

    def _finish_unbuffered_query(self) -> None:
        """Ends the connection: how much is still to come is unknown."""
        if self.unbuffered_active:
            self.unbuffered_active = False
            self.connection._force_close()
