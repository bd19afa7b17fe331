"""Candidate graphs from the dense matrix, one row at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Graph = dict[tuple[int, int], float]


def nearest(costs: Sequence[Sequence[float]], targets: Collection[int], k: int) -> Graph:
    """The k targets of least cost per row, itself left out; of equal costs the first rows."""
    graph: Graph = {}
    for p, row in enumerate(costs):
        others = sorted((row[q], q) for q in targets if q != p)
        graph.update({(p, q): cost for cost, q in others[:k]})
    return graph


def merged(graphs: Sequence[Mapping[tuple[int, int], float]]) -> Graph:
    result: Graph = {}
    for graph in graphs:
        for pair, cost in graph.items():
            result.setdefault(pair, cost)
    return result
