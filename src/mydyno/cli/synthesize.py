"""`mydyno synthesize`: a trace put together from statement digests, where none was captured."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mydyno.cli import outputs, screen
from mydyno.cli.declare import option, option_group
from mydyno.cli.login_options import LoginOptions
from mydyno.cli.quantities import Duration, duration
from mydyno.core.errors import EngineError, UsageError

if TYPE_CHECKING:
    from mydyno.queries.records import Digest

_LISTED = 5


@option_group
class SynthesisOptions:
    """What is put together."""

    panel: ClassVar = "Trace"

    out: Path = option("--out FILE", "The trace.")
    seconds: Duration = duration("--for", "Length of the trace.", default=Duration(300), least=1)
    digest: Path | None = option(
        "--digest FILE",
        "What `mydyno digest --json` wrote: which statements, and how often.",
        show_default="performance_schema of the server",
    )
    rate: float | None = option(
        "--rate N", "Statements a second.", min=0.001, show_default="as the digest has them; else 100"
    )
    connections: int = option("--connections N", "Connections that send them.", default=8, min=1)
    seed: int = option("--seed N", "Of the random draws.", default=1)


def synthesize(server: LoginOptions, wanted: SynthesisOptions, force: outputs.Force = False) -> None:
    """Put a trace together from statement digests, where no traffic can be captured.

    Statements are drawn by how often they ran, their values from the real columns of the server. Order,
    transactions and skew are not known from digests: the trace is marked synthetic, and so is every result
    of it. Only reads from the server (docs/how-to/rehearse.md).

    ```text
    mydyno synthesize --server /run/mysqld/mysqld.sock --for 5m --out shop.trace
    mydyno synthesize --server mysql://app@db1 --rate 200 --out shop.trace
    ```
    """
    from mydyno.queries.performance_schema import leave_itself_out
    from mydyno.rehearse.synthesis import ColumnValues, shapes_of, slow_log
    from mydyno.server.access.session import session

    file = outputs.Outputs((wanted.digest, server.defaults_file), force).file(
        "--out", wanted.out, outputs.TRACE
    )
    assert file is not None
    login = server.login()
    digest = _digest(wanted.digest, server)
    shapes, left_out = shapes_of(digest)
    rate = wanted.rate or (digest.total.count / digest.seconds if digest.seconds else 100.0)
    with session(login, answer_seconds=120) as cursor, tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "slow.log"
        leave_itself_out(cursor)
        values = ColumnValues(cursor)
        with log.open("w", encoding="utf-8") as text:
            text.writelines(
                slow_log(
                    shapes,
                    values,
                    seconds=wanted.seconds,
                    rate=rate,
                    connections=wanted.connections,
                    seed=wanted.seed,
                )
            )
        made = Path(folder) / "made.trace"
        _convert(log, made)
        file.write(made.read_bytes())
    screen.echo(f"synthetic trace {wanted.out}: {len(shapes)} statements drawn, {rate:.3g} a second")
    if left_out:
        screen.echo(f"left out: {len(left_out)}")
    for each in left_out[:_LISTED]:
        screen.echo(f"  {each.fingerprint[:60]}: {each.why}")


def _digest(path: Path | None, server: LoginOptions) -> Digest:
    from mydyno.queries.performance_schema import read_digests
    from mydyno.queries.saved import read_saved

    if path is None:
        return read_digests(server.login(), seconds=None, limit=None, report=lambda text: None)
    try:
        return read_saved(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"--digest {path} cannot be read: {error.strerror}") from error


def _convert(log: Path, trace: Path) -> None:
    import subprocess

    from mydyno.machine.programs import find_program

    program = find_program("mydyno-engine")
    done = subprocess.run(
        [program, "trace", "capture", str(log), "--out", str(trace), "--synthetic"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not trace.exists():
        raise EngineError(f"the trace could not be written: {(done.stdout + done.stderr).strip()[-300:]}")
