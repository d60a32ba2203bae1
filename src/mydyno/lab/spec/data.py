"""setup.data: data of the user's own, which every trial gets a clone of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, StringConstraints, model_serializer, model_validator

from mydyno.core.document.base import Fault, Section, refuse
from mydyno.core.document.spec_folder import spec_folder

_Path = Annotated[str, StringConstraints(min_length=1)]


class Data(Section):
    """Where the data comes from. What it is is recognised by its files when the experiment starts."""

    path: _Path = Field(
        description="A dump of mysqldump or mariadb-dump (`.sql`, also `.gz`, `.bz2`, `.xz`, `.zst`), the "
        "folder of a mydumper dump, a data directory copied while its server was stopped, or the prepared "
        "folder of mariadb-backup or xtrabackup. Relative to the folder of the experiment file.",
        examples=["shop.sql.gz"],
    )
    database: _Path | None = Field(
        default=None, description="The schema for a dump that names none (mysqldump of one database)."
    )
    schema_change: _Path | None = Field(
        default=None,
        description="A file of SQL statements that are run once on the loaded data, as CREATE INDEX. "
        "As a factor it compares schemas.",
        examples=["index.sql"],
    )
    _folder: Path = PrivateAttr()

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """A path as the section with that path."""
        return {"path": raw} if isinstance(raw, str) else raw

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        self._folder = spec_folder().resolve()
        missing = [
            Fault(f"there is no {self._folder / name}", "the path of a file or folder", at=(key,), whole=True)
            for key, name in (("path", self.path), ("schema_change", self.schema_change))
            if name is not None and not (self._folder / name).exists()
        ]
        if missing:
            raise refuse(*missing)
        return self

    @property
    def source(self) -> Path:
        """The absolute path of the data."""
        return self._folder / self.path

    @property
    def change(self) -> Path | None:
        """The absolute path of the file of the schema change."""
        return None if self.schema_change is None else self._folder / self.schema_change

    @property
    def size_bytes(self) -> int:
        """What the source takes on disk."""
        source = self.source
        files = [source] if source.is_file() else source.rglob("*")
        return sum(each.lstat().st_blocks * 512 for each in files if each.is_file())

    @model_serializer(mode="plain", when_used="json")
    def _given(self) -> dict[str, str]:
        keys: Mapping[str, str | None] = {
            "path": self.path,
            "database": self.database,
            "schema_change": self.schema_change,
        }
        return {key: value for key, value in keys.items() if value is not None}
