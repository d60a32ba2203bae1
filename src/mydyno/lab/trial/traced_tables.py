"""Whether the tables that a trace names are there."""

from collections.abc import Collection

from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted, listed
from mydyno.core.sql_names import SYSTEM_SCHEMAS
from mydyno.lab.workload.trace import Survey

_SHOWN = 10


def missing_tables(
    survey: Survey, schema: str | None, present: Collection[str], where: str, hint: str
) -> list[str]:
    """A warning, where some are missing. `schema`: of statements whose schema the trace does not know;
    `present`: `schema.table` in small letters; `where`: `the server`.

    Raises UsageError with the hint when all are missing: a replay would show nothing.
    """
    named = ((table.schema_name or schema, table.name) for table in survey.tables)
    wanted = {f"{of}.{name}" for of, name in named if of is not None and of.lower() not in SYSTEM_SCHEMAS}
    missing = sorted(name for name in wanted if name.lower() not in present)
    if not missing:
        return []
    if len(missing) == len(wanted):
        raise UsageError(f"{where} has none of the tables of the trace: {listed(missing, _SHOWN)}", hint)
    return [
        f"{counted(len(missing), 'table')} of {len(wanted)} that the trace names not found in {where}:"
        f" {listed(missing, _SHOWN)}; unless the trace makes {'it' if len(missing) == 1 else 'them'},"
        " its statements fail"
    ]
