"""A run in one file, to be carried to another lab; docs/sharing.md explains it to people."""

from mydyno.results.bundle.read import Bundle, unbundle
from mydyno.results.bundle.write import SUFFIX, bundle

__all__ = ["SUFFIX", "Bundle", "bundle", "unbundle"]
