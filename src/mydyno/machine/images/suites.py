"""Debian's suites, read from the package sources that this machine itself is configured with.

A machine that reaches its packages through a mirror, a snapshot or a proxy reaches those of another
suite there too: the sources are the machine's own with the suite's name exchanged.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from mydyno.core.errors import MissingToolError, UsageError
from mydyno.machine.protocol import Host

SUITES = {"bullseye": "5.10", "bookworm": "6.1", "trixie": "6.12"}
"""The suites whose kernel is settled, and its version (each suite's package linux-image-amd64)."""

MOVING_SUITE = "sid"
"""The one whose kernel changes: whatever version is none of the settled ones is looked for there."""

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_PARTS = ("", "-updates", "-security")
_VERSION = re.compile(r"\d+\.\d+")

# How this machine reaches its packages. The rest of its apt settings is about itself.
_REACHING = re.compile(
    r"^(Acquire::(Check-Valid-Until|Check-Date|Retries|https?::(Proxy|Timeout|Verify-Peer|CaInfo)\S*)) ", re.I
)


@dataclass(frozen=True)
class Source:
    """One line of package sources."""

    uri: str
    suite: str
    components: tuple[str, ...]

    def line(self, keyring: Path | None) -> str:
        """As sources.list(5) has it; `keyring` None: with the keys that the machine trusts anyway."""
        option = f"[signed-by={keyring}] " if keyring else ""
        return f"deb {option}{self.uri} {self.suite} {' '.join(self.components)}"

    def shown(self) -> str:
        """The same without the user and password that the address may hold."""
        parts = urlsplit(self.uri)
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        return f"{bare} {self.suite} {' '.join(self.components)}"


def suite_of_kernel(version: str) -> str:
    """The suite that has the kernel `version`, like 6.1. Raises UsageError for what is not a version."""
    if not _VERSION.fullmatch(version):
        raise UsageError(
            f"{version!r} is not a kernel version",
            f"write it like 6.1; settled ones are {', '.join(SUITES.values())}",
        )
    return next((suite for suite, kernel in SUITES.items() if kernel == version), MOVING_SUITE)


def check_suite(suite: str) -> None:
    """Raises UsageError for a suite that is none of those known."""
    if suite not in (*SUITES, MOVING_SUITE):
        raise UsageError(
            f"{suite!r} is not a suite that images are built from", f"there are {', '.join(SUITES)} and sid"
        )


def machine_suite(host: Host) -> str | None:
    """The suite that this machine runs; None when it is not Debian."""
    release = host.read_text(Path("/etc/os-release")) or ""
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release, re.MULTILINE))
    return fields.get("VERSION_CODENAME") or MOVING_SUITE if fields.get("ID") == "debian" else None


def sources_of(host: Host, suite: str) -> tuple[Source, ...]:
    """The package sources of `suite`, made from this machine's own.

    Raises MissingToolError when this machine has none of Debian's.
    """
    own = machine_suite(host)
    listed = host.run(
        [
            *("apt-get", "indextargets", "Created-By: Packages"),
            *("--format", "$(REPO_URI)\t$(RELEASE)\t$(CODENAME)\t$(ORIGIN)\t$(COMPONENT)"),
        ]
    )
    sources = rewritten(listed.stdout.splitlines(), own or "", suite) if own else ()
    if not sources:
        raise MissingToolError(
            "this machine has no Debian package sources, of which guest images and servers are made",
            "see /etc/apt/sources.list.d; on another distribution use host: uml or host: local, and servers "
            "of your own (mydyno servers add NAME --from DIR)",
        )
    return sources


def rewritten(targets: Iterable[str], own: str, suite: str) -> tuple[Source, ...]:
    """`apt-get indextargets` lines (address, release, codename, origin, component) -> sources of `suite`.

    Only those of the suite `own` and its parts count, and sid has no parts. What apt does not know, as
    long as it has fetched no lists, it leaves as `$(NAME)`.
    """
    components: dict[tuple[str, str], list[str]] = {}
    for target in targets:
        uri, release, codename, origin, component = target.split("\t")
        name = release if codename.startswith("$(") or not codename else codename
        part = name.removeprefix(own)
        if not name.startswith(own) or part not in _PARTS or origin not in ("Debian", "$(ORIGIN)", ""):
            continue
        if suite == MOVING_SUITE and part:
            continue
        chosen = components.setdefault((uri, suite + part), [])
        if component not in chosen:
            chosen.append(component)
    return tuple(Source(uri, name, tuple(chosen)) for (uri, name), chosen in components.items())


def source_lines(sources: Iterable[Source]) -> str:
    """A sources.list file. Debian's keyring vouches where it is installed, for suites newer than this."""
    keyring = _KEYRING if _KEYRING.exists() else None
    return "".join(source.line(keyring) + "\n" for source in sources)


def reaching_settings(host: Host) -> str:
    """An apt.conf(5) file with those settings of this machine by which it reaches its packages."""
    dump = host.run(["apt-config", "dump"]).stdout.splitlines()
    return "".join(f"{line}\n" for line in dump if _REACHING.match(line))
