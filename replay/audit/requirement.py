"""What a host requirement (its JSON form) asks of one system, leaf by leaf.

Three-valued: of what is not known of a system neither a question nor its negation holds. What asks nothing
(an empty `and`, `or` or `not`) is left out wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from replay.audit.facts import Facts
from replay.audit.leaves import Answer, Ask, UnknownLeaf, read_disk_leaf, read_leaf

Form = Mapping[str, Any]
Read = Callable[[Form], Ask | None]


def judge(form: Form, facts: Facts) -> Answer:
    return question(form)(facts)


def question(form: Form) -> Ask:
    """To be put to many systems. Raises UnknownLeaf."""
    return _read(form, read_leaf) or _anybody


def _anybody(_: Facts) -> Answer:
    return True


def _read(form: Form, leaf: Read) -> Ask | None:
    """None: it asks nothing. `leaf` reads the elements, which are others within a disk."""
    if "element" in form:
        return leaf(form)
    if len(form) != 1:
        raise UnknownLeaf(f"{dict(form)}")
    ((word, inner),) = form.items()
    if word == "force" and leaf is read_leaf:
        return _forced(inner.casefold())
    if word == "disk" and leaf is read_leaf:
        return _one_disk(_every(_asked(inner, read_disk_leaf)))
    if word not in ("and", "or", "not"):
        raise UnknownLeaf(f"{dict(form)}")
    asks = _asked(inner, leaf)
    if not asks:
        return None
    return {"and": _every, "or": _any, "not": _not_every}[word](asks)


def _asked(forms: Iterable[Form], leaf: Read) -> list[Ask]:
    return [ask for form in forms if (ask := _read(form, leaf)) is not None]


def _forced(fqdn: str) -> Ask:
    return lambda facts: bool(facts["fqdn"] == fqdn)


def _every(asks: list[Ask]) -> Ask:
    def ask(facts: Facts) -> Answer:
        every: Answer = True
        for each in asks:
            said = each(facts)
            if said is False:
                return False
            every = every and said
        return every

    return ask


def _any(asks: list[Ask]) -> Ask:
    def ask(facts: Facts) -> Answer:
        answers = [each(facts) for each in asks]
        return True if True in answers else None if None in answers else False

    return ask


def _not_every(asks: list[Ask]) -> Ask:
    every = _every(asks)

    def ask(facts: Facts) -> Answer:
        said = every(facts)
        return None if said is None else not said

    return ask


def _one_disk(inner: Ask) -> Ask:
    """One and the same disk is as asked."""

    def ask(facts: Facts) -> Answer:
        if facts["disks"] is None:
            return None
        answers = [inner(disk) for disk in facts["disks"]]
        return True if True in answers else None if None in answers else False

    return ask
