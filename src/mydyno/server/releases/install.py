"""Installing a release: staged, run for its version, moved to its place as a whole."""

import time
from shutil import disk_usage

from mydyno import __version__
from mydyno.core.errors import HostError, ServerError
from mydyno.core.folders import full_cache
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress, now
from mydyno.machine.local import LocalHost
from mydyno.machine.trees import size_of_tree, sync_tree
from mydyno.server.releases.find import binary_of_installed
from mydyno.server.releases.provider import CONTENT, Provider
from mydyno.server.releases.store import Installed, Manifest, ReleaseStore

_LITTLE_BYTES = 16 * 1024**2
"""Less than the large files of a server take: with so little left, a full disk is what was wrong."""


def install(store: ReleaseStore, name: str, provider: Provider, progress: Progress) -> Installed:
    """Installs what `provider` gives under `name`; gives the release when it is here already.

    Waits while another mydyno installs. Raises UsageError, MissingToolError, HostError, LabError, and
    ServerError when what was provided is not a server that runs here.
    """
    started = time.monotonic()
    with store.staging() as staging:
        if (here := store.installed(name)) is not None:
            return here
        with writing(staging):
            staging.chmod(0o755)  # Servers run as another user than root.
        try:
            provided = provider.install(staging, progress)
        except HostError as error:
            # A program that fetches or unpacks may not even be able to say it.
            if disk_usage(staging).free < _LITTLE_BYTES:
                raise full_cache(store.folder) from error
            raise
        content = staging / CONTENT
        manifest = Manifest(
            name=name,
            provider=provider.name,
            version="",
            binary=provided.binary,
            private_root=provided.private_root,
            source=provided.source,
            packages=dict(provided.packages),
            checksum=provided.checksum,
            size_bytes=size_of_tree(content),
            mydyno=__version__,
            installed=now(),
            seconds=round(time.monotonic() - started, 1),
        )
        progress("asking the server for its version")
        binary = binary_of_installed(Installed(content, manifest), LocalHost())
        if provided.series is not None and not provided.series.has(binary.version):
            raise ServerError(f"{provided.source} is {binary.version}, and {provided.series} is expected")
        manifest = manifest.model_copy(update={"version": str(binary.version)})
        manifest.write(content)
        sync_tree(LocalHost(), content)
        store.put(content, store.folder / name)
    return Installed(store.folder / name, manifest)
