"""What the errors of a phase say of the whole of it. Pure: it sees messages only."""

from collections import Counter
from collections.abc import Iterable, Mapping

from mydyno.core.plurals import counted
from mydyno.lab.load import messages

_NO_LOCAL_PORT = "2004"
_HINTS = {
    "1040": "increase max_connections on the server, or use fewer connections",
    "2001": "this machine is short of open files (ulimit -n) or memory",
    _NO_LOCAL_PORT: "this machine is short of local ports: widen net.ipv4.ip_local_port_range, set"
    " net.ipv4.tcp_tw_reuse = 1, keep connections open, or use the server's unix socket",
    "2061": "use the server's unix socket, or name its RSA key with --server-public-key",
    "2066": "--compression-algorithms zlib,uncompressed does without where the server offers no zlib",
    "3159": "--ssl-mode REQUIRED, or the server's unix socket",
}
"""By the code of an error, which is as a key of a phase's `errors`."""


def hint_of(errors: Mapping[str, int]) -> str | None:
    """What helps against the commonest error; None where it speaks for itself."""
    return _HINTS.get(max(errors, key=errors.__getitem__)) if errors else None


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Errors of several phases or runs together, by their codes."""
    total: Counter[str] = Counter()
    for errors in counts:
        total.update(errors)
    return dict(total)


def listed(errors: Mapping[str, int], examples: Mapping[str, str]) -> str:
    """`3 x 1213: Deadlock found...; 1 x ...`"""
    return "; ".join(f"{count} x {code}: {examples.get(code, '')}" for code, count in errors.items())


def nothing_succeeded(end: messages.PhaseEnd) -> str | None:
    """That every transaction of a phase failed, in one sentence; None when one did not, or none was tried."""
    if not end.errors or end.transactions.count:
        return None
    return f"every transaction failed: {commonest(end)}"


def some_failed(end: messages.PhaseEnd) -> str | None:
    """How many errors a phase had that no retry made good, against its transactions; None without any.

    What sysbench ignores it counts together, as 1213/1020/1205, and runs again.
    """
    lost = sum(count for code, count in end.errors.items() if "/" not in code) - end.retries
    done = end.transactions.count
    if lost <= 0 or not done:
        return None
    share = lost / (lost + done)
    return (
        f"{counted(lost, 'error')} on {counted(done, 'transaction')} ({share:.2%} failed): {commonest(end)}"
    )


def commonest(end: messages.PhaseEnd) -> str:
    """The error that a phase had most often, how often, and what the server said of it."""
    code = max(end.errors, key=end.errors.__getitem__)
    said = end.error_examples.get(code)
    others = len(end.errors) - 1
    return f"error {code}{f' ({said})' if said else ''}, {counted(end.errors[code], 'time')}" + (
        f", and {counted(others, 'other code')}" if others else ""
    )
