"""Rehearsals of known outcome: how often equal sides are silent, and how often a planted fault comes first.

A trace of a dozen statements, reads and writes, is rehearsed on private servers: on the same release twice,
where any difference that is shown is a false alarm, and with an index dropped on one side, where the
statement that needs it has to be the first that is named.

    python benchmarks/rehearse.py [--runs 20] [--planted 5] [--statements 3000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_support import machine, print_table, say

from mydyno.rehearse.records import Rehearsal, SideComparison

PROGRAMS = Path(sys.executable).parent
MOST_FALSE_ALARMS = 1 / 20
ROWS = 20_000
KINDS = (
    "SELECT note FROM orders WHERE id = {n}",
    "SELECT id, note FROM orders WHERE customer = {n}",
    "SELECT customer, COUNT(*), SUM(price) FROM orders WHERE id BETWEEN {n} AND {n} + 100 GROUP BY customer",
    "SELECT id FROM orders WHERE id BETWEEN {n} AND {n} + 50 ORDER BY price, id",
    "SELECT DISTINCT note FROM orders WHERE id BETWEEN {n} AND {n} + 100",
    "SELECT MAX(price) FROM orders WHERE id > {n} AND id < {n} + 200",
    "SELECT i.name, o.note FROM orders o JOIN items i ON i.id = o.item WHERE o.id = {n}",
    "SELECT name FROM items WHERE id IN ({n} % 100, 7, 9)",
    "UPDATE orders SET note = 'changed' WHERE id = {n}",
    "UPDATE items SET stock = stock - 1 WHERE id = {n} % 100",
    "INSERT INTO notes (text) VALUES ('note {n}')",
    "DELETE FROM notes WHERE id = {n}",
)
DROPPED = "ALTER TABLE shop.orders DROP KEY by_customer;\n"
NEEDS_IT = "customer ="


def make_files(folder: Path, statements: int) -> None:
    """`shop.sql`, `dropped.sql` and `shop.trace` in `folder`."""
    draw = random.Random(1)
    rows = ",".join(f"({n},{n % 2000},{n % 100},{n % 997},'note {n % 300}')" for n in range(1, ROWS + 1))
    items = ",".join(f"({n},'item {n}',1000000)" for n in range(100))
    (folder / "shop.sql").write_text(
        "CREATE DATABASE shop; USE shop;\n"
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, item INT, price INT, note VARCHAR(20),\n"
        "KEY by_customer (customer));\n"
        f"INSERT INTO orders VALUES {rows};\n"
        "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(20), stock INT);\n"
        f"INSERT INTO items VALUES {items};\n"
        "CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20));\n"
    )
    (folder / "dropped.sql").write_text(DROPPED)
    log = folder / "slow.log"
    with log.open("w") as out:
        out.write("/usr/sbin/mariadbd, Version: 10.11.6-MariaDB. started with:\n")
        out.write("Tcp port: 0  Unix socket: x\nTime\t\t    Id Command\tArgument\n")
        for number in range(statements):
            sql = KINDS[number % len(KINDS)].format(n=1 + draw.randrange(ROWS // 10))
            out.write(
                "# User@Host: app[app] @ localhost []\n# Thread_id: 1  Schema: shop  QC_hit: No\n"
                "# Query_time: 0.000200  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n"
                f"SET timestamp={1767225600 + number / 100:.2f};\n{sql};\n"
            )
    engine = str(PROGRAMS / "mydyno-engine")
    capture = [engine, "trace", "capture", str(log), "--out", str(folder / "shop.trace")]
    subprocess.run(capture, check=True, capture_output=True)


def rehearsed(folder: Path, repeats: int, *sides: str) -> SideComparison:
    """One rehearsal in a lab of its own."""
    with tempfile.TemporaryDirectory(prefix="lab-", dir=folder) as lab:
        Path(lab).chmod(0o755)
        command = [str(PROGRAMS / "mydyno"), "rehearse", "shop.trace", "--data", "shop.sql", "--lab", lab]
        command += ["--speed", "max", "--repeats", str(repeats), "--json", *sides]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    (comparison,) = Rehearsal.model_validate_json(done.stdout).comparisons
    return comparison


def alarms(comparison: SideComparison) -> list[str]:
    """What is said to differ, by statement; the last is the whole trace."""
    found = []
    for one in comparison.statements:
        kinds = [
            *(["fails"] if one.fails or one.repaired else []),
            *(["other result"] if one.other_result else []),
            *(["warnings"] if one.warnings else []),
            *([one.times.timing] if one.times.timing in ("slower", "faster") else []),
            *(["plan"] if one.has_other_plan else []),
        ]
        found += [f"{kind}: {one.text}" for kind in kinds]
    if comparison.total.timing in ("slower", "faster"):
        found.append(f"{comparison.total.timing}: the whole trace")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20, help="rehearsals of two equal sides")
    parser.add_argument("--planted", type=int, default=5, help="rehearsals with an index dropped")
    parser.add_argument("--statements", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{machine()}\n")
    silent = first = 0
    took = []
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        # The server runs as another user when root starts it.
        folder.chmod(0o755)
        make_files(folder, options.statements)
        for number in range(options.runs):
            began = time.monotonic()
            said = alarms(rehearsed(folder, options.repeats, "--releases", "system,system"))
            took.append(time.monotonic() - began)
            silent += not said
            say(f"equal {number + 1} of {options.runs}, {took[-1]:.0f} s: {'; '.join(said) or 'silent'}")
        for number in range(options.planted):
            said = alarms(rehearsed(folder, options.repeats, "--schema-change", "dropped.sql"))
            first += bool(said) and said[0].startswith("slower") and NEEDS_IT in said[0]
            say(f"index dropped {number + 1} of {options.planted}: {'; '.join(said) or 'silent'}")
    print_table(
        ("sides", "rehearsals", "outcome", "wanted"),
        [
            (
                "equal",
                str(options.runs),
                f"{silent} silent",
                f"at least {options.runs * (1 - MOST_FALSE_ALARMS):.0f}",
            ),
            (
                "an index dropped",
                str(options.planted),
                f"{first} name its statement first, as slower",
                f"{options.planted}",
            ),
        ],
    )
    if took:
        print(f"\n{sum(took) / len(took):.0f} s a rehearsal of {options.statements} statements (mean)")


if __name__ == "__main__":
    main()
