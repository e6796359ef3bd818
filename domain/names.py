"""How named things are called to people, and the one sentence for a name that nobody knows."""

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
"""Kind -> the words for one of it."""


def called(kind: str, name: str | int) -> str:
    """One thing, by its kind and name."""
    return f"{WORDS[kind]} {name}"


def unknown_name(kind: str, name: str | int) -> str:
    """What is wrong with a name that nothing of this kind has."""
    return f"there is no {WORDS[kind]} " + (f'"{name}"' if isinstance(name, str) else str(name))
