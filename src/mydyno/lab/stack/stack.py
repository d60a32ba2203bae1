"""Raising and taking down layers, as an image cache does: what is already right is left standing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from mydyno.core.errors import HostError
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import Layer, Standing
from mydyno.lab.stack.site import Site


@dataclass(frozen=True)
class _Storey:
    layer: Layer
    fingerprint: str
    product: Any


class Stack:
    """The layers that stand on a site, bottom first. After any failure nothing stands.

    Use it as a context manager: leaving the block takes everything down.
    """

    def __init__(self, site: Site, announce: Callable[[Layer], None] = lambda layer: None) -> None:
        """`announce` hears of each layer before it is raised."""
        self._site = site
        self._announce = announce
        self._storeys: list[_Storey] = []
        self.building: str | None = None
        """Name of the layer that is being raised, or that could not be; None when all of them stand."""
        self.spent: dict[str, float] = {}
        """Name of a layer -> seconds spent on raising it, since the caller cleared it."""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that stand, bottom first."""
        return tuple(storey.layer for storey in self._storeys)

    def move_to(self, layers: Sequence[Layer]) -> Standing:
        """Makes exactly `layers` stand: keeps equal ones at the bottom, rebuilds from the first difference.

        When a layer cannot be raised or taken down, everything is taken down and the first error is
        raised; errors while taking down the rest are added to it as notes.
        """
        wanted = [(layer, layer.fingerprint()) for layer in layers]
        self._take_down_to(self._kept(wanted))
        try:
            for layer, fingerprint in wanted[len(self._storeys) :]:
                self._announce(layer)
                self.building = layer.name
                began = time.monotonic()
                product = layer.up(self._site_on_top(), self._standing())
                self.spent[layer.name] = self.spent.get(layer.name, 0.0) + time.monotonic() - began
                self._storeys.append(_Storey(layer, fingerprint, product))
        except BaseException as error:
            try:
                self._take_down_to(0)
            except Exception as second:
                error.add_note(f"and while taking down the rest: {second}")
            raise
        self.building = None
        return self._standing()

    def clear(self) -> None:
        """Takes everything down, and undoes what a failed layer has left. Raises UndoError when it cannot."""
        self.close()
        self._site.journal.replay()
        self.building = None

    def close(self) -> None:
        """Takes everything down, top first. Raises the first error after trying every layer."""
        self._take_down_to(0)

    def __enter__(self) -> Stack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _kept(self, wanted: Sequence[tuple[Layer, str]]) -> int:
        """How many storeys, from the bottom, are already as wanted."""
        count = 0
        for storey, (layer, fingerprint) in zip(self._storeys, wanted, strict=False):
            if (storey.layer.name, storey.fingerprint) != (layer.name, fingerprint):
                break
            count += 1
        return count

    def _take_down_to(self, count: int) -> None:
        """Takes down all above the first `count`; when one fails, all of them go."""
        first: BaseException | None = None
        while len(self._storeys) > (0 if first else count):
            storey = self._storeys.pop()
            try:
                storey.layer.down(self._site_on_top(), storey.product)
            except HostError:
                # The host that it stood on is lost, and it went with it.
                continue
            except BaseException as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"and while taking down {storey.layer.name}: {error}")
        if first is not None:
            raise first

    def _site_on_top(self) -> Site:
        """What stands on a ground is built on the ground's host."""
        grounds = self._standing().all(Ground)  # type: ignore[type-abstract]
        return replace(self._site, host=grounds[-1].host) if grounds else self._site

    def _standing(self) -> Standing:
        return Standing(tuple(storey.product for storey in self._storeys))
