"""Simulated slices of which the truth is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.slices import PARTS, Slice


@dataclass(frozen=True)
class Machine:
    """What disturbs slices. Amounts are on logarithms."""

    noise: float = 0.10
    """Standard deviation of a slice."""
    freedom: int | None = None
    """Degrees of freedom of Student's t; None: normal."""
    memory: float = 0.0
    """Correlation of a server's slices in neighbouring rounds."""
    drift: float = 0.0
    """From the first slice to the last."""
    neighbour: float = 0.0
    """Share of the time in which a neighbour takes something."""
    stay: float = 4.0
    """How many slices the neighbour stays on average."""
    takes: float = 0.7
    """How much it takes."""
    carry_over: float = 0.0
    """Slices after server 0 are faster by so much."""
    start: float = 1.0
    """The rate in the first tenth of a slice, over that in the others."""
    between: float = 0.0
    """Standard deviation of a start of a server."""


def slices(
    machine: Machine,
    random: np.random.Generator,
    rounds: int = 80,
    effects: Sequence[float] = (0.0, 0.0),
    rate: float = 1200.0,
    slice_s: float = 0.5,
) -> list[Slice]:
    """One phase of one block. `effects`: of each server, on logarithms, next to `rate` queries/s."""
    servers, made, before, there = len(effects), [], None, False
    own = np.asarray(effects) + machine.between * random.standard_normal(servers)
    state = _noise(machine, random, servers)
    profile = np.array([machine.start, *[1.0] * (PARTS - 1)])
    for number in range(rounds):
        fresh = _noise(machine, random, servers)
        state = machine.memory * state + math.sqrt(1 - machine.memory**2) * fresh
        for position, server in enumerate(random.permutation(servers).tolist()):
            there = random.random() < (1 - 1 / machine.stay if there else _arrival(machine))
            at = (number * servers + position) / (rounds * servers)
            log = own[server] + machine.noise * state[server] + machine.drift * at
            log += machine.carry_over * (before == 0) - machine.takes * random.random() * there
            parts = random.poisson(rate * slice_s / PARTS * math.exp(log) * profile)
            made.append(Slice(server, number, before, slice_s, tuple(parts.tolist())))
            before = server
    return made


def _noise(machine: Machine, random: np.random.Generator, servers: int) -> np.ndarray:
    if machine.freedom is None:
        return random.standard_normal(servers)
    return random.standard_t(machine.freedom, servers) / math.sqrt(machine.freedom / (machine.freedom - 2))


def _arrival(machine: Machine) -> float:
    """So that the neighbour is there for its share of the time."""
    return machine.neighbour / (machine.stay * (1 - machine.neighbour))
