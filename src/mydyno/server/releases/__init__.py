"""Releases of servers besides the system's: installed into the cache, side by side, by name.

>>> store = ReleaseStore()
>>> install(store, "mysql-5.6", KNOWN["mysql-5.6"].provider, print)     # 10 seconds, 80 MB
>>> binary = binary_of("mysql-5.6")

A provider is where a release comes from, one file for each. The system is not changed.
"""

from mydyno.server.releases.find import binary_of, not_installed
from mydyno.server.releases.install import install
from mydyno.server.releases.known import KNOWN, Known, known_release
from mydyno.server.releases.store import Installed, ReleaseStore

__all__ = [
    "KNOWN",
    "Installed",
    "Known",
    "ReleaseStore",
    "binary_of",
    "install",
    "known_release",
    "not_installed",
]
