"""The stack against recording layers: real layers that build and take down nothing but a note."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.stack.builders import site_in
from mydyno.core.errors import MydynoError
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.stack import Stack


@dataclass
class World:
    """What recording layers do to the world: the notes they left, and which are left."""

    notes: list[str] = field(default_factory=list)
    built: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RecordingLayer:
    """A layer `name` of kind `kind` that can be made to fail while it is built or removed."""

    name: str
    kind: int
    world: World
    fails_up: bool = False
    fails_down: bool = False
    cost_seconds: float = 0.0

    def fingerprint(self) -> str:
        return fingerprint_of({"kind": self.kind})

    def side_effects(self) -> tuple[str, ...]:
        return ()

    def build(self, site: Site, below: BuiltLayers) -> str:
        if self.fails_up:
            raise MydynoError(f"{self} will not go up")
        self.world.notes.append(f"up {self}")
        self.world.built.append(str(self))
        return str(self)

    def remove(self, site: Site, product: str) -> None:
        assert product == str(self)
        self.world.notes.append(f"down {self}")
        self.world.built.remove(product)
        if self.fails_down:
            raise MydynoError(f"{self} will not go down")

    def __str__(self) -> str:
        return f"{self.name}{self.kind}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site_in(tmp_path_factory.mktemp("lab"))


def layers(world: World, kinds: list[int], **failing: int) -> list[RecordingLayer]:
    """One layer of each kind, named a, b, c...; `fails_up=2` makes the third fail on its way up."""
    return [
        RecordingLayer(
            "abcdefgh"[index],
            kind,
            world,
            fails_up=failing.get("fails_up") == index,
            fails_down=failing.get("fails_down") == index,
        )
        for index, kind in enumerate(kinds)
    ]


KINDS = st.lists(st.integers(0, 2), max_size=5)


@given(moves=st.lists(KINDS, min_size=1, max_size=6))
def test_equal_layers_at_the_bottom_are_never_rebuilt_and_the_rest_always_is(
    moves: list[list[int]], site: Site
) -> None:
    world, before = World(), []
    stack = Stack(site)
    for kinds in moves:
        world.notes.clear()
        wanted = layers(world, kinds)
        stack.move_to(wanted)
        now = [str(layer) for layer in wanted]
        same = next((n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), None)
        kept = min(len(before), len(now)) if same is None else same
        downs = [f"down {name}" for name in reversed(before[kept:])]
        assert world.notes == downs + [f"up {name}" for name in now[kept:]]
        assert world.built == now
        before = now
    stack.close()
    assert world.built == []


@given(first=KINDS, second=KINDS, place=st.integers(0, 4))
def test_after_a_failure_while_building_no_layer_is_left(
    first: list[int], second: list[int], place: int, site: Site
) -> None:
    world = World()
    stack = Stack(site)
    stack.move_to(layers(world, first))
    failing = layers(world, second, fails_up=place)
    if place < len(second) and first[: place + 1] != second[: place + 1]:
        with pytest.raises(MydynoError, match="will not go up"):
            stack.move_to(failing)
        assert world.built == []
        assert stack.layers == ()
    else:
        stack.move_to(failing)
        assert world.built == [str(layer) for layer in failing]
    stack.move_to(layers(world, first))
    assert len(world.built) == len(first)


@given(
    kinds=st.lists(st.integers(0, 2), min_size=1, max_size=5), place=st.integers(0, 4), keep=st.integers(0, 4)
)
def test_after_a_failure_while_removing_no_layer_is_left(
    kinds: list[int], place: int, keep: int, site: Site
) -> None:
    world = World()
    stack = Stack(site)
    stack.move_to(layers(world, kinds, fails_down=place))
    wanted = layers(world, kinds[:keep])
    if keep <= place < len(kinds):
        with pytest.raises(MydynoError, match="will not go down"):
            stack.move_to(wanted)
        assert world.built == []
        assert stack.layers == ()
    else:
        stack.move_to(wanted)
        assert world.built == [str(layer) for layer in wanted]


def test_an_error_while_tidying_up_is_reported_with_the_first_and_not_instead(site: Site) -> None:
    world = World()
    stack = Stack(site)
    (first,) = layers(world, [0])
    grumpy = RecordingLayer("b", 0, world, fails_down=True)
    failing = RecordingLayer("c", 0, world, fails_up=True)
    with pytest.raises(MydynoError, match="c0 will not go up") as caught:
        stack.move_to([first, grumpy, failing])
    assert any("b0 will not go down" in note for note in caught.value.__notes__)
    assert world.built == []


def test_leaving_the_block_removes_all_layers_even_after_an_interruption(site: Site) -> None:
    world = World()

    def run_and_interrupt() -> None:
        with Stack(site) as stack:
            stack.move_to(layers(world, [0, 1]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_and_interrupt()
    assert world.notes == ["up a0", "up b1", "down b1", "down a0"]


def test_a_layer_finds_the_nearest_product_of_a_kind_below_it() -> None:
    built = BuiltLayers(("low", 1, "high"))
    assert built.of(str) == "high"
    assert built.of(int) == 1
    with pytest.raises(MydynoError, match="no layer below provides a Path"):
        built.of(Path)


def test_fingerprints_are_the_same_in_every_process_and_whatever_the_order_of_parts() -> None:
    assert fingerprint_of({"a": 1, "b": [True, "x"]}) == fingerprint_of({"b": [True, "x"], "a": 1})
    assert fingerprint_of({"a": 1}) == "015abd7f5cc57a2d"
    assert fingerprint_of({"a": 1}) != fingerprint_of({"a": "1"})
