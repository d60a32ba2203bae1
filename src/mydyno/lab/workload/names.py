"""What an expression may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mydyno.lab.workload.constants import Constant


@dataclass(frozen=True)
class Names:
    """What an expression may name, at its place."""

    constants: Mapping[str, Constant] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()
    """Bound on every way to here."""
    perhaps: frozenset[str] = frozenset()
    """Bound on some ways to here."""
    dictionaries: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def with_constants(self, more: Mapping[str, Constant]) -> Names:
        return replace(self, constants={**self.constants, **more})

    def with_number(self, number: int) -> Names:
        """Inside `repeat`, where `number` is the number of the repetition whatever else has that name."""
        names = self.with_constants({"number": number})
        return replace(names, values=self.values - {"number"}, registers=self.registers - {"number"})

    def all(self) -> list[str]:
        """In an order that is the same at every run."""
        sets = (self.values, self.registers, self.dictionaries, self.words)
        return [*self.constants, *(name for names in sets for name in sorted(names))]
