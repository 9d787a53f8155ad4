# SPDX-License-Identifier: Apache-2.0
"""Circles of a graph."""

from collections.abc import Hashable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reached(start: Node, edges: dict[Node, set[Node]]) -> set[Node]:
    """Every node that `start` leads to, directly or over others."""
    found: set[Node] = set()
    waiting = [start]
    while waiting:
        for target in edges[waiting.pop()] - found:
            found.add(target)
            waiting.append(target)
    return found


def circles(edges: dict[Node, set[Node]]) -> list[set[Node]]:
    """The groups of nodes of which each reaches every other."""
    reach = {node: reached(node, edges) for node in edges}
    found: list[set[Node]] = []
    for node in sorted(edges):
        if node in reach[node] and not any(node in circle for circle in found):
            found.append({other for other in reach[node] if node in reach[other]})
    return found
