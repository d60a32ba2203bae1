"""Names of machines, people and folders taken out of texts that are given away."""

import re
from collections.abc import Callable, Iterable

HOST = "some-host"
LAB = "/some/lab"
HOST_SETTINGS = frozenset(
    {"hostname", "report_host", "bind_address", "wsrep_node_name", "wsrep_node_address"}
)
"""Server variables whose value names a machine."""

_HOME = re.compile(r"/(home|Users)/[^/\s\"',:;]+")
_NO_NAMES = frozenset({"", "*", "::", "0.0.0.0", "127.0.0.1", "::1", "localhost"})
_SHORTEST_WORD = 2

Hide = Callable[[str], str]


def hider(hosts: Iterable[str], labs: Iterable[str] = ()) -> Hide:
    """What takes these names of machines and these folders, and owners of home folders, out of a text."""
    folders = sorted(set(labs) - {"/", ""}, key=len, reverse=True)
    patterns = [re.escape(folder) + r"(?![\w.-])" for folder in folders]
    words = sorted(set(hosts) - _NO_NAMES, key=len, reverse=True)
    names = [rf"(?<![\w.-]){re.escape(word)}(?![\w-])" for word in words if len(word) >= _SHORTEST_WORD]
    of_labs = re.compile("|".join(patterns)) if patterns else None
    of_hosts = re.compile("|".join(names)) if names else None

    def hide(text: str) -> str:
        if of_labs is not None:
            text = of_labs.sub(LAB, text)
        text = _HOME.sub(r"/\1/somebody", text)
        return of_hosts.sub(HOST, text) if of_hosts is not None else text

    return hide
