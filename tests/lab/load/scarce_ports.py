"""Run in a network namespace of its own: a server that speaks just enough, few local ports, and the engine.

Prints what the engine says. Arguments: the engine.
"""

from __future__ import annotations

import fcntl
import json
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from pathlib import Path

PORTS = 2
CONNECTIONS = 6
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
# PROTOCOL_41, CONNECT_WITH_DB, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF.
_ABLE = struct.pack("<I", 1 << 9 | 1 << 3 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 24)
_GREETING = (
    b"\x0a8.4.0-played\0\x07\0\0\0abcdefgh\0" + _ABLE[:2] + b"\x2d\x02\0" + _ABLE[2:] + b"\x15" + bytes(10)
) + b"ijklmnopqrst\0mysql_native_password\0"
_OK = b"\0\0\0\x02\0\0\0"


class _Agreeable(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._send(0, _GREETING)
        self._send(self._read() + 1, _OK)
        while (number := self._read()) >= 0:
            self._send(number + 1, _OK)

    def _send(self, number: int, payload: bytes) -> None:
        self.wfile.write(struct.pack("<I", len(payload))[:3] + bytes([number]) + payload)

    def _read(self) -> int:
        """The number of the next packet; -1 at the end."""
        header = self.rfile.read(4)
        if len(header) < 4 or self.rfile.read(int.from_bytes(header[:3], "little")) == b"\x01":
            return -1
        return header[3]


def main(engine: str) -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(f"40000 {40000 + PORTS - 1}\n")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 3306), _Agreeable) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        select = {"send": {"name": "select", "sql": ["SELECT 1"]}}
        program = {"name": "one", "transactions": [{"name": "one", "steps": [select]}]}
        job = {
            "protocol": 3,
            "target": {"host": "127.0.0.1", "port": 3306, "user": "bench", "database": "mydyno"},
            "workload": {"program": program},
            "phases": [{"connections": CONNECTIONS, "work": {"kind": "rounds", "rounds": 3}}],
            "die_with_parent": False,
        }
        done = subprocess.run(
            [engine, "load"], input=json.dumps(job), capture_output=True, text=True, timeout=60, check=False
        )
        print(done.stdout, end="")
        server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
