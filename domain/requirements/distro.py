"""distroRequires: which distro tree a recipe installs."""

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


def newest_first(node: Node, trees: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The trees that fit, by when they were added, latest first; added together: the higher id first."""
    ordered = sorted(trees, key=lambda tree: (tree["added_at"], tree["id"]))
    columns = Columns(DISTRO_TREE)
    for number, tree in enumerate(ordered):
        columns.put(number, tree)
    fitting = matching(node, columns)
    return [tree for number, tree in reversed([*enumerate(ordered)]) if fitting >> number & 1]
