"""The smallest and the largest value that a server binary takes for a variable: as it prints them itself.

`--verbose --help` prints the values in force after its parser has adjusted them, so an option that is given
far too small or far too large is shown as the least or the largest that there is. No server is started.
"""

from collections.abc import Iterable, Mapping

from mydyno.machine.protocol import Host
from mydyno.server.program.binary import ServerBinary, help_text, parse_options

_LEAST, _LARGEST = 0, (1 << 63) - 1


def ranges(host: Host, binary: ServerBinary, names: Iterable[str]) -> Mapping[str, tuple[float, float]]:
    """Name -> least and largest value; what the binary does not have, or does not print as a number, is left
    out. Raises ServerError when the binary cannot be run."""
    # MySQL ends at a number for a variable of words that has fewer of them.
    wanted = [name for name in names if _number(binary.options.get(name)) is not None]
    ends = [_values(host, binary, wanted, value) for value in (_LEAST, _LARGEST)]
    found = {}
    for name in wanted:
        low, high = (_number(each.get(name)) for each in ends)
        if low is not None and high is not None and low < high:
            found[name] = (low, high)
    return found


def _values(host: Host, binary: ServerBinary, names: list[str], value: int) -> Mapping[str, str | None]:
    settings = [f"--loose-{name.replace('_', '-')}={value}" for name in names]
    return parse_options(help_text(host, binary.path, binary.version, binary.root, settings))


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
