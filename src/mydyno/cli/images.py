"""`mydyno images`: roots and kernels of guests, built of Debian's packages and kept in a cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from mydyno.cli import options, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.progress import showing_progress
from mydyno.core.errors import MissingToolError, UsageError
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes, format_duration

if TYPE_CHECKING:
    from mydyno.machine.images import KernelManifest, Manifest, RootManifest

_Names = Annotated[list[str] | None, argument("NAME", "Names as `mydyno images list` shows them.")]
_All = Annotated[bool, option("--all", "Remove every image and kernel.")]

commands = Application(
    name="images",
    help="""Build, list and remove images of guests (`host: vm`): roots and kernels.

A root is a Debian suite with a server, fio, mdadm and the tools of file systems; any root runs on any
kernel. They are in a cache for all labs. `host: uml` needs only a kernel, `host: local` neither.

```text
# a root and a kernel of this machine's suite, which takes a minute
mydyno images build
mydyno images build --kernel 5.10 --kernel 6.12
mydyno images list
# a kernel for host: uml
mydyno images fetch 6.1
```
""",
)


@commands.command("list")
def list_images(as_json: options.AsJson = False) -> None:
    """List the images, and what they contain.

    ```text
    mydyno images list
    mydyno images list --json | jq '.[] | {name, sha256, packages}'
    ```
    """
    from mydyno.machine.images import ImageStore
    from mydyno.machine.uml import UmlKernels

    store, kernels = ImageStore(), UmlKernels().all()
    images = store.images()
    if as_json:
        manifests = [*images, *(kernel.manifest for kernel in kernels)]
        screen.echo_json([manifest.model_dump(mode="json") for manifest in manifests])
        return
    for image in images:
        screen.echo(
            f"{image.name:<12} {format_bytes(image.size_bytes):>7}  {image.built[:10]}  {_content(image)}"
        )
    for kernel in kernels:
        screen.echo(
            f"{f'uml {kernel.version}':<12} {'':>7}  User-Mode Linux kernel {kernel.manifest.release}"
        )
    unread = sorted(set(store.names()) - {image.name for image in images})
    for name in unread:
        screen.echo(f"{name:<12} was built by another version of mydyno: build it again or remove it")
    if not images and not unread:
        screen.echo(f"there is no image in {store.folder}\n  hint: mydyno images build")


@commands.command()
def build(
    suite: str | None = option(
        "--suite",
        "The Debian suite of server and tools: bullseye, bookworm, trixie or sid.",
        show_default="that of this machine",
    ),
    kernel: list[str] | None = option(
        "--kernel VERSION",
        "The kernel's version, like 6.1: 5.10 is in bullseye, 6.1 in bookworm, 6.12 in trixie, newer ones in "
        "sid. Can be repeated.",
        show_default="the suite's own",
    ),
    again: bool = option("--again", "Build again what is already built.", default=False),
) -> None:
    """Build a root and a kernel from this machine's package sources.

    What is already built is left as it is. A root takes about a minute and 350 MB, a kernel half a minute and
    25 MB. The same packages give the same bytes: compare the sha256 of `images list --json`. Runs as
    root, or as an ordinary user where user namespaces are allowed. Ctrl-C leaves nothing behind.

    ```text
    mydyno images build
    mydyno images build --suite trixie
    mydyno images build --suite bookworm --kernel 6.1 --kernel 6.12
    ```
    """
    from mydyno.machine.images import ImageStore, build_kernel, build_root
    from mydyno.machine.images.suites import SUITES, check_suite, machine_suite, suite_of_kernel
    from mydyno.machine.local import LocalHost

    suite = suite or machine_suite(LocalHost())
    if suite is None:
        raise MissingToolError(
            "this machine is not Debian, and images are built of Debian's packages",
            "host: uml and host: local need no image",
        )
    check_suite(suite)
    if not kernel and suite not in SUITES:
        raise UsageError(
            f"the kernel of {suite} changes: say which version it has now", "--kernel 6.12, for example"
        )
    kernels = kernel or [SUITES[suite]]
    for version in kernels:
        suite_of_kernel(version)
    store = ImageStore()
    for version in kernels:
        built = None if again else store.kernel(version)
        if built is None:
            with showing_progress() as progress:
                built = build_kernel(store, version, progress)
        _show(built.manifest)
    root = None if again else store.root(suite)
    if root is None:
        with showing_progress() as progress:
            root = build_root(store, suite, progress)
    _show(root.manifest)


@commands.command()
def fetch(
    version: str | None = argument(
        "VERSION", "Its version, like 6.1.", show_default="that of this machine's suite"
    ),
) -> None:
    """Download a User-Mode Linux kernel, for `host: uml`.

    A run does so when one is missing. It is a package of the suite, downloaded and unpacked into the cache,
    never installed: about 20 seconds and 45 MB. An existing kernel is left as it is.

    ```text
    mydyno images fetch
    mydyno images fetch 5.10
    ```
    """
    from mydyno.machine.uml import UmlKernels
    from mydyno.machine.uml.kernels import default_version, fetch_kernel

    with showing_progress() as progress:
        kernel = fetch_kernel(UmlKernels(), version or default_version(), progress)
    screen.echo(f"User-Mode Linux {kernel.manifest.release}, package {kernel.manifest.package}")


@commands.command()
def remove(names: _Names = None, everything: _All = False) -> None:
    """Remove images and User-Mode Linux kernels, and what an interrupted build has left.

    ```text
    mydyno images remove bookworm linux-6.1
    mydyno images remove uml 6.1
    mydyno images remove --all
    ```
    """
    from mydyno.machine.images import ImageStore
    from mydyno.machine.uml import UmlKernels

    store, kernels = ImageStore(), UmlKernels()
    uml = {f"uml {version}": version for version in kernels.versions()}
    there = [*store.names(), *uml]
    wanted = _uml_names(names or [])
    if unknown := sorted(set(wanted) - set(there)):
        raise UsageError(f"there is no image {', '.join(unknown)}", f"built: {', '.join(there) or 'none'}")
    if not wanted and not everything:
        raise UsageError("which image?", f"its name, or --all; built: {', '.join(there) or 'none'}")
    for name in there if everything else dict.fromkeys(wanted):
        if name in uml:
            kernels.remove(uml[name])
        else:
            store.remove(name)
        screen.echo(f"removed {name}")
    store.remove_initrds()
    if swept := store.sweep():
        screen.echo(f"removed what {swept} interrupted builds had left")


def _uml_names(names: Sequence[str]) -> list[str]:
    """`uml 6.1` is one name, with quotes around it or without."""
    joined: list[str] = []
    for name in names:
        if joined and joined[-1] == "uml":
            joined[-1] = f"uml {name}"
        else:
            joined.append(name)
    return joined


def _show(image: Manifest) -> None:
    screen.echo(
        f"{image.name}: {_content(image)}; {format_bytes(image.size_bytes)},"
        f" built in {format_duration(image.seconds)}"
    )


def _content(image: Manifest) -> str:
    return _root(image) if image.kind == "root" else _kernel(image)


def _root(image: RootManifest) -> str:
    version = image.server.partition(" Ver ")[2].partition(" ")[0] or image.server
    return f"root of {image.suite}: server {version}, {counted(len(image.packages), 'package')}"


def _kernel(image: KernelManifest) -> str:
    lacks = f", without {', '.join(image.absent)}" if image.absent else ""
    return f"kernel {image.release} ({image.suite}), {counted(len(image.modules), 'module')}{lacks}"
