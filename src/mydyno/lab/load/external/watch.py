"""The engine next to an external program: no load, only samples, and the one clock of both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from mydyno.lab.load import messages
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Job, Sampling, Target
from mydyno.machine.local import LocalHost

_ENDS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Clock:
    """Counts ns from `zero_ns`, an instant of time.monotonic_ns() that was `started_unix_ns` on the wall."""

    zero_ns: int
    started_unix_ns: int

    @classmethod
    def start(cls) -> Clock:
        return cls(time.monotonic_ns(), time.time_ns())

    def at(self, monotonic_ns: int) -> int:
        return monotonic_ns - self.zero_ns

    def now(self) -> int:
        return self.at(time.monotonic_ns())

    def of_another(self, t_ns: int, its_started_unix_ns: int) -> int:
        """An instant of the clock of another process on this machine, on this clock."""
        return t_ns + its_started_unix_ns - self.started_unix_ns


class Watch:
    """Delivers samples on `clock`, from a separate thread, and what ends the engine too early."""

    def __init__(
        self,
        target: Target,
        sampling: Sampling,
        clock: Clock,
        deliver: Callable[[messages.Sample | Exception], None],
    ) -> None:
        # A schema that is always there: mysqlslap may not have made its own yet.
        anywhere = replace(target, database="information_schema")
        job = Job(target=anywhere, seed=1, workload={"watch": {}}, sampling=sampling)
        # Made here: the kernel ends the engine with the thread that started it.
        self._engine = Engine(job, LocalHost())
        self._clock = clock
        self._deliver = deliver
        self._thread = threading.Thread(target=self._listen, name="mydyno-watch", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        started_unix_ns = self._clock.started_unix_ns
        try:
            for message in self._engine:
                match message:
                    case messages.Hello():
                        started_unix_ns = message.started_unix_ns
                    case messages.Sample():
                        t_ns = self._clock.of_another(message.t_ns, started_unix_ns)
                        self._deliver(message.model_copy(update={"t_ns": t_ns}))
                    case _:
                        pass
        except Exception as error:  # Raised again where the messages are heard.
            self._deliver(error)

    def stop(self) -> None:
        """Ends it; every sample has been delivered when this returns."""
        self._engine.request_stop()
        self._thread.join(_ENDS_WITHIN_S)
        self._engine.__exit__(None, None, None)
