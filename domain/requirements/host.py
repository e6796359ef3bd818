"""Host requirements (`hostRequires`), which select the systems for a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domain.requirements.language import Language
from domain.requirements.leaves import Mention, Notes
from domain.requirements.nodes import Forced, Leaf, Node
from domain.requirements.operands import plain
from domain.requirements.parse import both, read_node
from domain.requirements.vocabulary import SYSTEM

# Added to a requirement that names no system type: other types must be required explicitly.
_ORDINARY: Final = Leaf("system_type", "==", "Machine")


def _read(form: Any, notes: Notes) -> Node | None:
    if isinstance(form, Mapping) and "force" in form:
        return _forced(form, notes)
    node = read_node(form, SYSTEM, (), notes)
    if _ORDINARY.element in notes.elements:
        return node
    return both([node, _ORDINARY] if node else [_ORDINARY])


def _forced(form: Mapping[str, Any], notes: Notes) -> Node | None:
    """Return the node of a forced system, None if it is no text; report other requirements beside it."""
    if len(form) > 1:
        notes.report((), "a forced system cannot be combined with other requirements")
    try:
        fqdn = plain(form["force"])
    except ValueError as wrong:
        notes.report(("force",), str(wrong))
        return None
    if not fqdn:
        notes.report(("force",), "must name a system")
    notes.mentions.append(Mention(("force",), "systems", fqdn))
    return Forced(fqdn)


HOST: Final = Language(_read)


def forced_system(text: str) -> str | None:
    """Return the system that a requirement (canonical text) forces, None if it forces none."""
    # Nearly all requirements force no system, and need not be parsed.
    if '"force"' not in text:
        return None
    node = HOST.from_text(text)
    return node.fqdn if isinstance(node, Forced) else None
