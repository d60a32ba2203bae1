"""Every module can be the first one that is imported: no module needs itself by way of another."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def test_no_module_imports_itself() -> None:
    graph = grimp.build_graph("mydyno", exclude_type_checking_imports=True)
    assert len(graph.modules) > 500
    order = TopologicalSorter({one: graph.find_modules_directly_imported_by(one) for one in graph.modules})
    circle: list[str] = []
    try:
        order.prepare()
    except CycleError as error:
        circle = list(error.args[1])
    assert not circle, " <- ".join(circle)
