"""setup.limits: what the operating system lets the server's process have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from mydyno.core.document.base import Fault, Section


class Limits(Section):
    """Limits of the server's process, read back from the running server."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["nofile"]}, {"required": ["nproc"]}]}
    )

    nofile: Annotated[int, Field(ge=64, le=1_073_741_816)] | None = Field(
        default=None, description="Open files (RLIMIT_NOFILE): bounds connections and open tables."
    )
    nproc: Annotated[int, Field(ge=64, le=4_194_304)] | None = Field(
        default=None,
        description="Processes and threads of the server's user (RLIMIT_NPROC): bounds connections. The "
        "kernel does not hold root to it.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if raw.get("nofile") is None and raw.get("nproc") is None:
            yield Fault("limits nothing", "nofile: N, nproc: N or both", at_key=True, show_value=False)

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}
