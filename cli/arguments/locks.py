"""Resource locks as options: `--lock system=Exclusive:a,b --lock network=AllShared`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from cli.arguments.params import ParsedText
from cli.terminal.wording import plain
from domain.contention.algebra import merge
from domain.contention.cells import KINDS
from domain.contention.documents import NAMED, locks_to_json, raising, read_locks
from domain.contention.locks import ALIASES, LEVELS, WHOLE_LAB, Locks
from domain.errors import FaultyInput

METAVAR = "LEVEL=KIND[:NAME,…]"
_FORM = f"must be {METAVAR}, as in network=Exclusive:vlan-12, or {WHOLE_LAB}"
LOCK_HELP = (
    f"Lock at a LEVEL ({', '.join(LEVELS)}). KIND is Shared or Exclusive with names, or AllShared,"
    f" AllExclusive, UnknownShared or UnknownExclusive without; the kind is case-insensitive."
    f" {WHOLE_LAB} locks the whole lab. Repeatable."
)
_KINDS = {kind.lower(): kind for kind in KINDS}


def _lock(text: str) -> Locks:
    """Return a lock at one level, or the lock on the whole lab. The kind is case-insensitive."""
    if text == WHOLE_LAB:
        return Locks(whole_lab=True)
    level, equals, lock = text.partition("=")
    if level == WHOLE_LAB:
        raise ValueError(f"{WHOLE_LAB} takes no kind; write {WHOLE_LAB}")
    word, colon, names = lock.partition(":")
    if not (level and equals and word) or "=" in word:
        raise ValueError(_FORM)
    if level not in LEVELS and level not in ALIASES:
        raise ValueError(f"unknown level {level!r}; must be one of {', '.join(LEVELS)}")
    kind = _KINDS.get(word.lower())
    if kind is None:
        raise ValueError(f"unknown kind {word!r}; must be one of {', '.join(KINDS)}")
    if kind in NAMED and not names:
        raise ValueError(f"{kind} needs names, as in {level}={kind}:NAME")
    if kind not in NAMED and colon:
        raise ValueError(f"{kind} takes no names; write {level}={kind}")
    form = {kind: names.split(",")} if names else kind
    try:
        return raising(lambda report: read_locks({level: form}, (), report))
    except FaultyInput as error:
        messages = dict.fromkeys(f"a name {fault.message}" for fault in error.faults)
        raise ValueError("; ".join(messages)) from None


LOCK = ParsedText("lock", _lock)
lock_option = click.option("--lock", "locks", type=LOCK, metavar=METAVAR, multiple=True, help=LOCK_HELP)


def locks_document(locks: Iterable[Locks]) -> dict[str, Any]:
    """Return the document of the merged locks."""
    return locks_to_json(merge(*locks))


def locks_text(document: Mapping[str, Any]) -> str:
    """Return the text of a document of locks, as the options that declare them."""
    return " ".join(text for level, value in document.items() for text in _texts(level, value))


def _texts(level: str, value: Any) -> Iterator[str]:
    if level == WHOLE_LAB:
        yield level
    elif isinstance(value, list):
        yield from (text for lock in value for text in _texts(level, lock))
    elif isinstance(value, str):
        yield f"{level}={value}"
    else:
        yield from (f"{level}={kind}:{','.join(map(plain, names))}" for kind, names in value.items())
