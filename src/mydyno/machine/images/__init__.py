"""Images for guests of `host: vm`: roots (a suite with server and tools) and kernels.

>>> store = ImageStore()
>>> root = build_root(store, "bookworm", print)      # 1 minute, 350 MB
>>> kernel = build_kernel(store, "6.1", print)       # 10 seconds, 25 MB

Root and kernel are apart, so that the kernel can be a factor while server and tools stay the same.
"""

from mydyno.machine.images.kernel import build_kernel
from mydyno.machine.images.root import build_root
from mydyno.machine.images.store import (
    ImageStore,
    KernelImage,
    KernelManifest,
    Manifest,
    RootImage,
    RootManifest,
)

__all__ = [
    "ImageStore",
    "KernelImage",
    "KernelManifest",
    "Manifest",
    "RootImage",
    "RootManifest",
    "build_kernel",
    "build_root",
]
