"""Distro requirements (`distroRequires`), and the distro trees that satisfy them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from domain.requirements.columns import Columns
from domain.requirements.evaluate import matching
from domain.requirements.language import Language
from domain.requirements.leaves import Notes
from domain.requirements.nodes import Node
from domain.requirements.parse import read_node
from domain.requirements.vocabulary import DISTRO_TREE


def _read(form: Any, notes: Notes) -> Node | None:
    return read_node(form, DISTRO_TREE, (), notes)


DISTRO: Final = Language(_read)
parse = DISTRO.parse
from_text = DISTRO.from_text


class NewestFirst:
    """All distro trees, the one added last first; of trees added at the same time, the higher id first."""

    def __init__(self, trees: Iterable[Mapping[str, Any]]) -> None:
        ordered = sorted(trees, key=lambda tree: (tree["added_at"], tree["id"]), reverse=True)
        self.columns = Columns(DISTRO_TREE)
        for number, tree in enumerate(ordered):
            self.columns.put(number, tree)
        self._ids = [tree["id"] for tree in ordered]

    def fitting(self, node: Node) -> tuple[int, ...]:
        """Return the ids of the trees that satisfy a requirement, newest first."""
        digits = f"{matching(node, self.columns):b}"[::-1]
        return tuple(tree_id for tree_id, digit in zip(self._ids, digits, strict=False) if digit == "1")
