"""Making systemd read the changed drop-ins of a unit: daemon-reload, read back by `systemctl show`."""

import re
from collections.abc import Mapping
from typing import Literal

from mydyno.apply.act import Act, Look, PropertyName, UnitName
from mydyno.apply.acts.systemd import properties, systemctl
from mydyno.apply.apply_context import AS_ROOT, ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.core.units import parse_bytes, span_seconds

_SHOWN_OTHERWISE = ("NUMAMask",)
"""`all` is shown as the nodes that there are."""
_WHOLE = re.compile(r"-?\d+")
_PLAIN = re.compile(r"-?\d+[KMGT]?|[a-z]+")


class ReadUnit(Act):
    """Properties of a unit, as its files say them before and after. They count at the unit's next start."""

    kind: Literal["read unit"] = "read unit"
    unit: UnitName
    before: dict[PropertyName, str]
    after: dict[PropertyName, str]

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when systemd refuses."""
        done = systemctl("daemon-reload")
        if done.returncode != 0:
            raise ApplyError(f"systemd does not read its units again: {done.stderr.strip()}", AS_ROOT)

    def look(self, context: ApplyContext) -> Look:
        if not self.after:
            return Look("unseen", f"{self.unit} has lines that systemd shows in another form")
        now = properties(self.unit, self.after)
        says = f"{self.unit} has " + ", ".join(f"{name}={now.get(name)}" for name in self.after)
        if _same(now, self.after):
            return Look("after", says)
        return Look("before" if _same(now, self.before) else "elsewhere", says)

    def sentence(self) -> str:
        sets = ", ".join(f"{name}={value}" for name, value in self.after.items())
        return f"systemctl daemon-reload, for {self.unit}{' with ' + sets if sets else ''}"


def reading_unit(unit: str, wanted: Mapping[str, str]) -> ReadUnit:
    """The act behind the drop-in with these lines. Raises ApplyError."""
    before = properties(unit, wanted)
    after = {name: value for name, value in wanted.items() if name in before and _is_read_back(name, value)}
    return ReadUnit(unit=unit, before={name: before[name] for name in after}, after=after)


def _is_read_back(name: str, value: str) -> bool:
    """Shares of memory (`80%`) are shown as bytes."""
    return name not in _SHOWN_OTHERWISE and _PLAIN.fullmatch(value) is not None


def _same(now: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(same_line(now.get(name, ""), value) for name, value in wanted.items())


def same_line(one: str, other: str) -> bool:
    """Whether two values of a unit mean the same: systemd shows 64G as a number of bytes, 900 as `15min`."""
    return _meaning(one) == _meaning(other)


def _meaning(text: str) -> float | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        return parse_bytes(text)
    except ValueError:
        seconds = span_seconds(text)
        return text if seconds is None else seconds
