"""The words for kinds and names in messages to users, and the message for an unknown name."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "user": "user",
    "group": "group",
    "pool": "pool",
    "system": "system",
    "lab-controller": "lab controller",
    "distro-tree": "distro tree",
    "arch": "architecture",
    "key": "key",
    "power-type": "power type",
    "token": "token",
    "job": "job",
    "recipe-set": "recipe set",
    "recipe": "recipe",
}
"""The words for each kind in messages."""


def display_name(kind: str, name: str | int) -> str:
    """Return `recipe set 23` for the kind `recipe-set` and the name 23."""
    return f"{WORDS[kind]} {name}"


def display_subject(subject: str) -> str:
    """Return `recipe set 23` for the subject `recipe-set/23`; an unknown kind is shown as it is."""
    kind, _, name = subject.partition("/")
    return f"{WORDS.get(kind, kind)} {name}"


def unknown_name(kind: str, name: str | int) -> str:
    """Return the message for a name that does not exist, such as `there is no pool "smal"`."""
    return f"there is no {WORDS[kind]} " + (f'"{name}"' if isinstance(name, str) else str(name))
