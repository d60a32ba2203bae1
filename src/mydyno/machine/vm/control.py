"""Commands to a running QEMU: its QEMU Machine Protocol (QMP), JSON lines over a socket."""

from __future__ import annotations

import json
import socket
from typing import Any

from mydyno.core.errors import HostError

_ANSWER_SECONDS = 30.0


class Control:
    """QEMU's end of a connected socket. Not for two threads at once."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._stream.settimeout(_ANSWER_SECONDS)
        self._lines = stream.makefile("rb")
        self._next = 0

    def greet(self) -> None:
        """Hears the greeting and leaves the negotiation. Raises HostError."""
        self._hear()
        self.execute("qmp_capabilities")

    def execute(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        """What the command returns. Raises HostError when QEMU refuses it or has gone."""
        self._next += 1
        request = {"execute": command, "id": self._next, **({"arguments": arguments} if arguments else {})}
        try:
            self._stream.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise HostError(f"QEMU has gone ({command}): {error.strerror}") from error
        # Events come in between, and carry no id.
        while (answer := self._hear()).get("id") != self._next:
            pass
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error'].get('desc', 'it gave no reason')}")
        return answer["return"]

    def throttle(self, disk: str, iops: int | None, bytes_per_second: int | None) -> None:
        """Limits reads and writes of a disk together; None lifts that limit. Raises HostError."""
        self.execute("block_set_io_throttle", throttle_arguments(disk, iops, bytes_per_second))

    def close(self) -> None:
        self._lines.close()
        self._stream.close()

    def _hear(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
            answer = json.loads(line) if line else None
        except (OSError, ValueError) as error:
            raise HostError(f"QEMU does not answer on its control socket: {error}") from error
        if not isinstance(answer, dict):
            raise HostError("QEMU has closed its control socket")
        return answer


def throttle_arguments(disk: str, iops: int | None, bytes_per_second: int | None) -> dict[str, Any]:
    """Of block_set_io_throttle (QEMU QMP Reference Manual, BlockIOThrottle); 0 means no limit there."""
    none = {"bps_rd": 0, "bps_wr": 0, "iops_rd": 0, "iops_wr": 0}
    return {"device": f"drive-{disk}", "iops": iops or 0, "bps": bytes_per_second or 0, **none}
