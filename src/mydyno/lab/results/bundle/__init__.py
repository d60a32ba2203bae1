"""A run in one file, to be carried to another lab; docs/how-to/sharing.md explains it to people."""

from mydyno.lab.results.bundle.read import Bundle, unbundle
from mydyno.lab.results.bundle.write import SUFFIX, bundle

__all__ = ["SUFFIX", "Bundle", "bundle", "unbundle"]
