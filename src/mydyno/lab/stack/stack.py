"""Builds and removes layers, as an image cache does: a layer that is already right is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mydyno.core.closing import Closing
from mydyno.core.errors import HostError
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers, Layer
from mydyno.lab.stack.site import Site


@dataclass(frozen=True)
class _BuiltLayer:
    layer: Layer
    fingerprint: str
    product: Any


class Stack(Closing):
    """The layers that are built on a site, bottom first. After any failure none is left.

    Use it as a context manager: leaving the block removes all of them.
    """

    def __init__(self, site: Site, announce: Callable[[Layer], None] = lambda layer: None) -> None:
        """`announce` is called with each layer before it is built."""
        self._site = site
        self._announce = announce
        self._layers: list[_BuiltLayer] = []
        self.building: str | None = None
        """Name of the layer that is being built, or that could not be; None when all of them are."""
        self.spent: dict[str, float] = {}
        """Name of a layer -> seconds spent on building it, since the caller cleared it."""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that are built, bottom first."""
        return tuple(entry.layer for entry in self._layers)

    def move_to(self, layers: Sequence[Layer]) -> BuiltLayers:
        """Builds exactly `layers`: keeps equal ones at the bottom, rebuilds from the first difference.

        When a layer cannot be built or removed, all are removed and the first error is raised; errors
        while removing the rest are added to it as notes.
        """
        wanted = [(layer, layer.fingerprint()) for layer in layers]
        self._remove_above(self._kept(wanted))
        try:
            for layer, fingerprint in wanted[len(self._layers) :]:
                self._announce(layer)
                self.building = layer.name
                began = time.monotonic()
                product = layer.build(self._site_on_top(), self._built())
                self.spent[layer.name] = self.spent.get(layer.name, 0.0) + time.monotonic() - began
                self._layers.append(_BuiltLayer(layer, fingerprint, product))
        except BaseException as error:
            try:
                self._remove_above(0)
            except Exception as second:
                error.add_note(f"and while removing the rest: {second}")
            raise
        self.building = None
        return self._built()

    def clear(self) -> None:
        """Removes all layers, and undoes what a failed one has left. Raises UndoError when it cannot."""
        self.close()
        self._site.journal.replay()
        self.building = None

    def close(self) -> None:
        """Removes all layers, top first. Raises the first error after trying each of them."""
        self._remove_above(0)

    def _kept(self, wanted: Sequence[tuple[Layer, str]]) -> int:
        """How many layers, from the bottom, are already as wanted."""
        count = 0
        for entry, (layer, fingerprint) in zip(self._layers, wanted, strict=False):
            if (entry.layer.name, entry.fingerprint) != (layer.name, fingerprint):
                break
            count += 1
        return count

    def _remove_above(self, count: int) -> None:
        """Removes all above the first `count`; when one fails, all of them."""
        first: BaseException | None = None
        while len(self._layers) > (0 if first else count):
            entry = self._layers.pop()
            try:
                entry.layer.remove(self._site_on_top(), entry.product)
            except HostError:
                # The host that it was built on is lost, and the layer with it.
                continue
            except BaseException as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"and while removing {entry.layer.name}: {error}")
        if first is not None:
            raise first

    def _site_on_top(self) -> Site:
        """Layers above an environment are built on its host."""
        grounds = self._built().all(Ground)  # type: ignore[type-abstract]
        return replace(self._site, host=grounds[-1].host) if grounds else self._site

    def _built(self) -> BuiltLayers:
        return BuiltLayers(tuple(entry.product for entry in self._layers))
