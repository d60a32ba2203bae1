"""What the entries of a digest are grouped by."""

from dataclasses import dataclass

BY_FINGERPRINT = "fingerprint"
NAMES = (BY_FINGERPRINT, "user", "host", "database", "table", "tag.KEY")


@dataclass(frozen=True)
class Grouping:
    by: str = BY_FINGERPRINT
    """One of `NAMES`."""
    merge_tables: bool = False
    """Whether tables whose names differ in a number or a hash only are one."""

    @property
    def noun(self) -> str:
        """What a group is, in words: `statement`, `user`, `route`."""
        return "statement" if self.by == BY_FINGERPRINT else self.by.removeprefix("tag.")
