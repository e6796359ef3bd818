"""Unknown names after `!=` in a requirement.

At submission, `!=` with an unknown name becomes `other`, which matches only systems that have some value. So
the meaning of a stored requirement does not depend on names that are added later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from domain.requirements.language import ParsedRequirement
from domain.requirements.nodes import All, Either, KeyValue, Leaf, Node, Not
from domain.requirements.operators import OTHER
from domain.requirements.vocabulary import Vocabulary

HasName = Callable[[str, str], bool]
"""A function that returns whether the lab has a name of a kind: a field of `NameIndex`."""


def with_other(reading: ParsedRequirement, vocabulary: Vocabulary, has_name: HasName) -> ParsedRequirement:
    """Return the requirement with `other` in place of each `!=` with an unknown name of a list or key."""
    excluded = dict.fromkeys((each.kind, each.name) for each in reading.mentions if each.excludes)
    unknown = {(kind, name) for kind, name in excluded if not has_name(kind, name)}
    if not unknown:
        return reading

    def rewritten(node: Node) -> Node:
        match node:
            case All(children) | Either(children) | Not(children):
                return type(node)(tuple(map(rewritten, children)))
            case Leaf(element, "!=", value):
                asked = vocabulary.elements[element]
                is_list = vocabulary.properties[asked.about].many
                return replace(node, op=OTHER) if is_list and (asked.names, value) in unknown else node
            case KeyValue(key, "!="):
                return replace(node, op=OTHER) if ("keys", key) in unknown else node
            case _:
                return node

    return replace(reading, node=rewritten(reading.node))
