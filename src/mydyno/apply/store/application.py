"""An application as data: advice carried out, an earlier one rolled back, or settings held for a while."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from mydyno import __version__
from mydyno.apply.acts import LiveAct
from mydyno.apply.files.replace import ReplaceFile
from mydyno.core.errors import LabError
from mydyno.core.record import Record

FORMAT = 1

Does = Literal["apply", "roll back", "hold"]
"""`hold`: for a while only, so it is restored at its end and never in force."""

AnyAct = Annotated[ReplaceFile | LiveAct, Field(discriminator="kind")]


class Application(Record):
    """All acts in the order in which they are done, and in which they are taken back, files first."""

    format: int = FORMAT
    id: Annotated[str, Field(pattern=r"^\d{8}-\d{6}-\d{6}$")]
    """UTC, to the microsecond: sorts by age."""
    mydyno: str
    made_at: str
    """UTC, ISO 8601."""
    does: Does
    rolls_back: str | None = None
    """The id of the application that is rolled back."""
    server: str
    """Release and address, for people."""
    findings: tuple[str, ...]
    """Ids of the rules whose advice this is; what it is for, when it holds."""
    acts: tuple[AnyAct, ...]
    waits_for_restart: tuple[str, ...] = ()
    """What counts only after the server's next start, a sentence each."""


def new_id(now: datetime) -> str:
    return f"{now:%Y%m%d-%H%M%S-%f}"


def new_application(
    does: Does,
    server: str,
    findings: tuple[str, ...],
    acts: tuple[AnyAct, ...],
    rolls_back: str | None = None,
    waits_for_restart: tuple[str, ...] = (),
) -> Application:
    now = datetime.now(UTC)
    return Application(
        id=new_id(now),
        mydyno=__version__,
        made_at=now.isoformat(timespec="seconds"),
        does=does,
        rolls_back=rolls_back,
        server=server,
        findings=findings,
        acts=acts,
        waits_for_restart=waits_for_restart,
    )


def read_application(text: str, source: str) -> Application:
    """Raises LabError that names `source`."""
    try:
        return Application.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise LabError(
            f"{source} is not readable: {where}: {first['msg']}", "was it written by a newer mydyno?"
        ) from error
