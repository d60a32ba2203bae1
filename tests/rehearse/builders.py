"""Results of replays, made up statement by statement."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mydyno.rehearse.results import Replayed, Shape

RECORD = np.dtype(
    [
        ("statement", "<u8"),
        ("fingerprint", "<u8"),
        ("service_us", "<u8"),
        ("rows", "<u8"),
        ("affected", "<u8"),
        ("ordered", "<u8"),
        ("unordered", "<u8"),
        ("error", "<u2"),
        ("warnings", "<u2"),
        ("flags", "<u2"),
        ("outcome", "u1"),
        ("class", "u1"),
    ]
)


@dataclass
class Trace:
    """`texts`: the fingerprint of each statement, in order."""

    texts: Sequence[str]
    noise: float = 0.02
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def replay(self, side: str, block: int) -> Replayed:
        """Times scatter by `noise`; every result is the statement's own."""
        texts = list(dict.fromkeys(self.texts))
        records = np.zeros(len(self.texts), RECORD)
        records["statement"] = np.arange(len(self.texts))
        records["fingerprint"] = [texts.index(text) + 1 for text in self.texts]
        shared = self.random.normal(0, self.noise)
        own = self.random.normal(0, self.noise, len(self.texts))
        records["service_us"] = np.round(1000 * np.exp(shared + own))
        records["rows"] = 1
        records["ordered"] = records["unordered"] = records["statement"] + 100
        records["outcome"] = 1
        records["class"] = [1 if text.startswith("select") else 2 for text in self.texts]
        shapes = {
            number: Shape(f"{number:016x}", text, text, None, {}) for number, text in enumerate(texts, 1)
        }
        return Replayed(side, block, records, shapes)

    def replays(self, side: str, repetitions: int) -> list[Replayed]:
        return [self.replay(side, block) for block in range(1, repetitions + 1)]
