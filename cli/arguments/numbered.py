"""Ids of jobs, recipe sets, recipes and tasks: a number, or written as in Beaker, such as `J:20`."""

from __future__ import annotations

from typing import Any, Final

import click

from cli.arguments.params import ID

KINDS: Final = {"J": "job", "RS": "recipe set", "R": "recipe", "T": "task"}
"""The kind of object by the letters that precede its number in Beaker."""


class NumberedId(click.ParamType[int]):
    """The id of one kind of object; `letters` is a key of `KINDS`."""

    name = "number"

    def __init__(self, letters: str) -> None:
        self._letters = letters

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        kind, number = read_id(value, self._letters, param, ctx)
        if kind != KINDS[self._letters]:
            wanted = KINDS[self._letters]
            self.fail(f"{value!r} is a {kind}; must be a {wanted}: {number} or {self._letters}:{number}")
        return number


class JobOrRecipe(click.ParamType[tuple[str, int]]):
    """The kind and the id of a job or of a recipe. A number alone is that of a job."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        kind, number = read_id(value, "J", param, ctx)
        if kind not in (KINDS["J"], KINDS["R"]):
            self.fail(f"{value!r} is a {kind}; must be a job such as {number} or a recipe such as R:{number}")
        return kind, number


def read_id(
    value: Any, letters: str, param: click.Parameter | None, ctx: click.Context | None
) -> tuple[str, int]:
    """Return the kind and the number; a number alone has the kind of `letters`. Raise BadParameter."""
    before, colon, number = str(value).rpartition(":")
    kind = KINDS.get(before.upper() if colon else letters)
    if kind is None:
        forms = ", ".join(f"{letters}:{number} for a {kind}" for letters, kind in KINDS.items())
        raise click.BadParameter(f"{value!r} must be a number, or {forms}", ctx, param)
    return kind, ID.convert(number, param, ctx)


JOB_ID, SET_ID, RECIPE_ID, TASK_ID = (NumberedId(letters) for letters in KINDS)
