"""The names in acts, as they are checked when a journal is read: they become words of SQL and of commands."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$")]
UnitName = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_][A-Za-z0-9:_.\\@-]*\.service$")]
"""A service of systemd (systemd.unit(5)); no dash comes first, so it is no option of systemctl."""
PropertyName = Annotated[str, Field(pattern=r"^[A-Za-z]+$")]
PathFromRoot = Annotated[str, Field(pattern=r"^/[^\x00-\x1f\x7f]*$")]
MountOption = Annotated[str, Field(pattern=r"^[^\s,\x00-\x1f\x7f]+$")]
LockName = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_.-]+$")]
