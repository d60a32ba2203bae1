"""The table of traps as docs/reference/super-smack.md has it."""

from __future__ import annotations

import re

from mydyno.lab.workload.smack.traps import TRAPS

_CODE = re.compile(
    r"(%9-5s|%2-5-9s|%5-9s|%5-s|%-5s|%5s|%s\b|%m-ns|"
    r"\$name|has_result_set|file_size_equiv|gen_data_file|sleep\(s, ms\)|--allow-commands|0\.5\b)"
)


def trap_table() -> str:
    lines = ["| trap | super-smack 1.3 | here | with `--strict-compat` |", "|---|---|---|---|"]
    for trap in TRAPS.values():
        cells = [_CODE.sub(r"`\1`", text) for text in (trap.original, trap.corrected, trap.strict)]
        lines.append(f"| `{trap.name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
