"""Records what the installed sysbench and mariadb-slap really print, for the tests of the parsers.

    python tests/lab/load/external/record_golden.py SOCKET

SOCKET is that of a private server without anything of value, with max_connections = 20 and an account
`bench` without a password that may do everything. Files of other versions of the programs stay.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"

_RUN = ["--report-interval=1", "--histogram=on"]
SYSBENCH = {
    "point-select": ["oltp_point_select", "--threads=4", "--time=3", *_RUN],
    "warm-up": ["oltp_read_write", "--threads=4", "--time=4", "--report-checkpoints=2", *_RUN],
    "rate": ["oltp_read_only", "--threads=2", "--time=3", "--rate=100", "--percentile=99", *_RUN],
    "events": ["oltp_write_only", "--threads=3", "--time=0", "--events=1000", *_RUN],
    "nothing-done": ["oltp_point_select", "--threads=2", "--time=1", "--rate=1", "--rand-seed=7", *_RUN],
    "ignored-errors": ["oltp_write_only", "--threads=8", "--time=2", "--table-size=20", *_RUN],
    "too-many-connections": ["oltp_point_select", "--threads=30", "--time=3", *_RUN],
    "no-table": ["oltp_point_select", "--threads=2", "--mysql-db=mysql", "--time=3", *_RUN],
    "duplicate-key": ["oltp_write_only", "--threads=8", "--time=3", "--table-size=5", "--skip-trx=on", *_RUN],
    "cut-off": ["oltp_point_select", "--threads=2", "--time=60", *_RUN],
    "wrong-option": ["oltp_point_select", "--range-sise=1", *_RUN],
}
SLAP = {
    "default": ["-a", "--concurrency=2", "--number-of-queries=1000"],
    "engines": [
        "-a",
        "--concurrency=2,4",
        "--engine=innodb,aria",
        "--iterations=3",
        "--number-of-queries=100",
    ],
    "engines-csv": [
        *("-a", "--concurrency=2,4", "--engine=innodb,aria", "--iterations=3", "--number-of-queries=100"),
        "--csv",
    ],
    "csv": [
        "-a",
        "--concurrency=3",
        "--auto-generate-sql-load-type=write",
        "--number-of-queries=100",
        "--csv",
    ],
    "no-number-of-queries": ["-a", "--concurrency=2"],
    "too-many-connections": ["-a", "--concurrency=50", "--number-of-queries=20000"],
    "wrong-query": ["--create=CREATE TABLE t (i int)", "--query=SELECT j FROM t", "--number-of-queries=4"],
    "unknown-engine": ["-a", "--engine=misam"],
    "key-without-key": ["-a", "--auto-generate-sql-load-type=key"],
}


def record(name: str, argv: list[str], seconds: float = 30.0) -> None:
    """Standard output and error together, in the order in which they come."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
        assert process.stdout is not None
        (GOLDEN / f"{name}.txt").write_text(process.stdout.read())


def main() -> None:
    [socket] = sys.argv[1:]
    sysbench = ["sysbench", f"--mysql-socket={socket}", "--mysql-user=bench"]
    subprocess.run([*sysbench, "oltp_read_write", "cleanup"], check=True)
    subprocess.run([*sysbench, "oltp_read_write", "prepare"], check=True)
    for name, arguments in SYSBENCH.items():
        seconds = 2.5 if name == "cut-off" else 30.0
        record(f"sysbench-1.0.20-{name}", [*sysbench, *arguments, "run"], seconds)
    slap = ["mariadb-slap", "--no-defaults", f"--socket={socket}", "--user=bench"]
    for name, arguments in SLAP.items():
        record(f"mariadb-slap-10.11-{name}", [*slap, *arguments])


if __name__ == "__main__":
    main()
