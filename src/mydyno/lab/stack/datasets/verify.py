"""Is a frozen dataset still what it was at the freeze? Checked by a server on a clone of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mydyno.core.errors import LabError, MissingToolError, MydynoError
from mydyno.core.plurals import plural
from mydyno.lab.stack.datadir import DataDirectoryLayer
from mydyno.lab.stack.dataset import FrozenDataset, frozen
from mydyno.lab.stack.datasets.manifest import DatasetManifest, TableContent
from mydyno.lab.stack.datasets.store import DatasetEntry
from mydyno.lab.stack.datasets.tables import contents_of, one_checksum
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.server.sandbox import start_server
from mydyno.lab.stack.site import Site
from mydyno.machine.protocol import Host
from mydyno.server.program.binary import ServerBinary
from mydyno.server.releases.find import binary_of, binary_of_installed, is_known_server
from mydyno.server.releases.store import ReleaseStore


@dataclass(frozen=True)
class Verified:
    """The tables as they are now."""

    tables: Mapping[str, TableContent]
    checksum: str
    """One number over all."""
    differences: tuple[str, ...]
    """From the freeze, a sentence each."""


def verify(site: Site, entry: DatasetEntry) -> Verified:
    """What a server finds in the tables of a clone.

    Raises LabError when it cannot be used or has no checksums, MissingToolError without its server,
    ServerError when that does not start on a clone.
    """
    manifest = entry.manifest
    if manifest is None:
        raise LabError(
            f"{entry.name} cannot be used: {entry.trouble}", f"mydyno datasets remove {entry.name}"
        )
    if manifest.tables is None:
        raise LabError(
            f"{entry.name} was made by an older mydyno, which stored no checksums",
            f"remove it, and the next run makes it again: mydyno datasets remove {entry.name}",
        )
    binary = maker_of(site.host, manifest)
    now = _contents(site, binary, frozen(entry.folder, manifest))
    return Verified(now, one_checksum(now), tuple(differences(manifest.tables, now)))


def maker_of(host: Host, manifest: DatasetManifest) -> ServerBinary:
    """A server of the release that made the dataset. Raises MissingToolError naming those that were found."""
    seen: list[str] = []
    for ask in _candidates(host, manifest):
        try:
            binary = ask()
        except MydynoError:
            continue
        if str(binary.version) == manifest.release:
            return binary
        seen.append(f"{binary.version} ({binary.path})")
    raise MissingToolError(
        f"the dataset is of {manifest.release}, and no server of this release is installed"
        + (f": there is {', '.join(dict.fromkeys(seen))}" if seen else ""),
        "another release would upgrade its files; install that release, or remove the dataset",
    )


def _candidates(host: Host, manifest: DatasetManifest) -> Iterator[Callable[[], ServerBinary]]:
    """Those at the path of its maker, which several private roots have; the system's; the others."""
    installed = ReleaseStore().all()
    made_by = [one for one in installed if str(one.binary.resolve()) == manifest.binary]
    for one in made_by:
        yield partial(binary_of_installed, one, host)
    # A lab of somebody else does not choose the program that is run.
    if manifest.binary is not None and is_known_server(Path(manifest.binary)):
        yield partial(binary_of, path=manifest.binary, host=host)
    yield partial(binary_of, host=host)
    for one in installed:
        if one not in made_by:
            yield partial(binary_of_installed, one, host)


def differences(then: Mapping[str, TableContent], now: Mapping[str, TableContent]) -> Iterator[str]:
    """In the order of the tables' names."""
    for name in sorted(then.keys() | now.keys()):
        before, after = then.get(name), now.get(name)
        if before is None:
            yield f"{name}: did not exist when the dataset was frozen"
        elif after is None:
            yield f"{name}: is gone ({before.rows:,} {plural(before.rows, 'row')} at the freeze)"
        elif before.rows != after.rows:
            yield f"{name}: {after.rows:,} {plural(after.rows, 'row')}, {before.rows:,} at the freeze"
        elif before.checksum != after.checksum:
            yield f"{name}: its {after.rows:,} rows have checksum {after.checksum}, not {before.checksum}"


def _contents(site: Site, binary: ServerBinary, dataset: FrozenDataset) -> dict[str, TableContent]:
    layer = DataDirectoryLayer("verify")
    directory = layer.build(site, BuiltLayers((dataset,)))
    try:
        with site.temporary(site.short_folder()) as log:
            server = start_server(
                site,
                binary,
                datadir=directory.data,
                scratch=directory.scratch,
                config=dataset.settings,
                folder=log,
            )
            try:
                return contents_of(server)
            finally:
                server.stop()
    finally:
        layer.remove(site, directory)
