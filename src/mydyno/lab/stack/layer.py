"""A layer: one part of the system under test, described as a frozen value."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from mydyno.core.errors import MydynoError
from mydyno.lab.stack.site import Site

_Product = TypeVar("_Product")


class BuiltLayers:
    """The products of the layers built so far, bottom first: a layer finds here what it is built on."""

    def __init__(self, products: tuple[object, ...] = ()) -> None:
        self._products = products

    def of(self, kind: type[_Product]) -> _Product:
        """The topmost product of this kind. Raises MydynoError when no layer below gives one."""
        for product in reversed(self._products):
            if isinstance(product, kind):
                return product
        raise MydynoError(f"no layer below provides a {kind.__name__}")

    def all(self, kind: type[_Product]) -> tuple[_Product, ...]:
        """Every product of this kind, bottom first."""
        return tuple(product for product in self._products if isinstance(product, kind))


class Layer(Protocol):
    """A value: it holds what to build, and never what has been built."""

    @property
    def name(self) -> str:
        """What it is, for messages: `dataset`, `data directory`, `server`."""

    @property
    def cost_seconds(self) -> float:
        """About how long `build` takes: what the planner groups trials by."""

    def fingerprint(self) -> str:
        """Two layers of one name with one fingerprint are interchangeable: the one is not rebuilt."""

    def side_effects(self) -> tuple[str, ...]:
        """What `build` does outside the lab, one sentence each, to be shown before it is done."""

    def build(self, site: Site, below: BuiltLayers) -> Any:
        """Builds it and returns its product. When it raises, it has left nothing behind."""

    def remove(self, site: Site, product: Any) -> None:
        """Removes what `build` returned. Whatever it cannot undo is still in the journal."""


def fingerprint_of(parts: Mapping[str, object]) -> str:
    """16 hexadecimal digits that are equal for equal parts, in every process and on every machine."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
