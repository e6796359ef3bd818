"""Changes of a requirement at its submission: removal of empty elements, and `other` for unknown names.

Clients of Beaker write elements with empty values, which Beaker ignores. `!=` with an unknown name becomes
`other`, which matches only systems with some value, so that names that are added later change no requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from domain.requirements.findings import Path, Report
from domain.requirements.inventory import DEVICE_ATTRIBUTES
from domain.requirements.language import ParsedRequirement
from domain.requirements.nodes import All, Either, KeyValue, Leaf, Node, Not
from domain.requirements.operators import EQUALITY, OTHER, SPELLINGS
from domain.requirements.vocabulary import Element, Vocabulary

_ASKS_NOTHING: Final = "is empty, so this part has no effect"
# Elements that lose only their empty attributes, because the others still have an effect.
_OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "device": DEVICE_ATTRIBUTES,
    "system/compatible_with_distro": ("osminor",),
}


def without_empty(form: Any, vocabulary: Vocabulary, path: Path, report: Report) -> Any:
    """Return a submitted form without the parts whose empty value has no meaning; report each of them.

    Stored forms may have such parts, and keep their meaning.
    """
    if not isinstance(form, Mapping):
        return form
    if "element" in form:
        return _leaf(form, vocabulary, path, report)
    if len(form) != 1:
        return form
    ((word, inner),) = form.items()
    if not isinstance(inner, list):
        return form
    nested = vocabulary.nested.get(word, vocabulary)
    return {
        word: [
            without_empty(child, nested, (*path, word, index), report) for index, child in enumerate(inner)
        ]
    }


def _leaf(form: Mapping[str, Any], vocabulary: Vocabulary, path: Path, report: Report) -> Mapping[str, Any]:
    spelling = form["element"]
    element = vocabulary.elements.get(spelling) if isinstance(spelling, str) else None
    if element is None or not form.keys() <= {"element", "op", *element.attributes}:
        return form
    name = element.spellings[0]
    if name in _OPTIONAL:
        return _without(form, _OPTIONAL[name], path, report)
    for attribute in _meaningless(element, form):
        if form.get(attribute) == "":
            report((*path, attribute), _ASKS_NOTHING)
            return {}
    return form


def _without(
    form: Mapping[str, Any], optional: Iterable[str], path: Path, report: Report
) -> Mapping[str, Any]:
    empty = [attribute for attribute in optional if form.get(attribute) == ""]
    for attribute in empty:
        report((*path, attribute), _ASKS_NOTHING)
    return {name: value for name, value in form.items() if name not in empty}


def _meaningless(element: Element, form: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the attributes for which an empty text has no meaning."""
    if element.empty_counts or element.empty_means_none:
        return ()
    if element.spellings[0] == "key_value" and SPELLINGS.get(form.get("op", "==")) in (*EQUALITY, OTHER):
        # A key may have an empty text for its value.
        return ("key",)
    return ("key", "value")


HasName = Callable[[str, str], bool]
"""A function that returns whether the lab has a name of a kind: a field of `NameIndex`."""


def with_other(parsed: ParsedRequirement, vocabulary: Vocabulary, has_name: HasName) -> ParsedRequirement:
    """Return the requirement with `other` in place of each `!=` with an unknown name of a list or key."""
    excluded = dict.fromkeys((each.kind, each.name) for each in parsed.mentions if each.excludes)
    unknown = {(kind, name) for kind, name in excluded if not has_name(kind, name)}
    if not unknown:
        return parsed

    def rewritten(node: Node) -> Node:
        match node:
            case All(children) | Either(children) | Not(children):
                return type(node)(tuple(map(rewritten, children)))
            case Leaf(element, "!=", value):
                definition = vocabulary.elements[element]
                is_list = vocabulary.properties[definition.about].many
                return replace(node, op=OTHER) if is_list and (definition.names, value) in unknown else node
            case KeyValue(key, "!="):
                return replace(node, op=OTHER) if ("keys", key) in unknown else node
            case _:
                return node

    return replace(parsed, node=rewritten(parsed.node))
