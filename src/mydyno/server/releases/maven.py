"""Maven, which fetches servers that were packed for the tests of Java programs."""

from collections.abc import Iterable
from pathlib import Path

from mydyno.server.releases.packaged import Client

_GET = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get"
"""The goal that fetches one artefact, in a version that works with every Maven since 3.2.5."""


def _command(spec: str, folder: Path) -> tuple[str, ...]:
    """Maven compares what it fetches with the checksum that its repository has of it."""
    return (
        *("mvn", "--batch-mode", "--no-transfer-progress", "--strict-checksums", "-Dstyle.color=never"),
        *(_GET, f"-Dmaven.repo.local={folder}", f"-Dartifact={spec}", "-Dtransitive=false"),
    )


def _fetched(spec: str, folder: Path) -> Iterable[Path]:
    """Where a repository has it (Maven's "Repository Layout")."""
    group, artefact, version, *rest = spec.split(":")
    packaging = rest[0] if rest else "jar"
    classifier = f"-{rest[1]}" if len(rest) > 1 else ""
    place = folder.joinpath(*group.split("."), artefact, version)
    return place.glob(f"{artefact}-{version}{classifier}.{packaging}")


MAVEN = Client(
    name="maven",
    program="mvn",
    package="maven",
    by_hand="mvn dependency:get -Dtransitive=false -Dartifact={spec}",
    unreachable="can Maven reach its repository? its settings.xml names mirrors and proxies",
    command=_command,
    fetched=_fetched,
)
"""Takes `group:artefact:version`, and `:packaging:classifier` of what is not a jar."""
