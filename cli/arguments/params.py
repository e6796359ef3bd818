"""Kinds of arguments and options, with refusals in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.moments import moment, span

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


PAST_EXAMPLES = "'2h ago', 'yesterday 14:00', '2026-11-20 14:00' or '2026-11-20T13:00:00Z'"
COMING_EXAMPLES = "'30d', 'tomorrow 18:00' or '2026-12-24 18:00'"

MOST_ID = 2**31 - 1


class Whole(click.ParamType[int]):
    """A whole number, from 1 unless said otherwise."""

    name = "number"

    def __init__(self, least: int = 1, most: int = 2**63 - 1) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if text.isascii() and text.isdigit() and len(text) < 20 and self._least <= int(text) <= self._most:
            return int(text)
        end = f"to {self._most}" if self._most < MOST_ID else "on"
        return self.fail(f"{text!r} is no whole number from {self._least} {end}", param, ctx)


class OneOf(click.ParamType[str]):
    """One of some words, however they are written."""

    name = "word"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self._words)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = next((word for word in self._words if word.lower() == str(value).lower()), None)
        if found is None:
            self.fail(f"{value!r} is none of {', '.join(self._words)}", param, ctx)
        return found

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self._words if word.lower().startswith(incomplete.lower())]


class Words(click.ParamType[str]):
    """Text that says something."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) if str(value).strip() else self.fail("must say something", param, ctx)


class Moment(click.ParamType[str]):
    """A moment to come, for which a span of time from now will do; or any that may be `past`. As RFC 3339."""

    name = "time"
    other = "no"

    def __init__(self, *, past: bool = False) -> None:
        self._past = past

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        now = datetime.now(UTC)
        after = None if self._past else span(str(value))
        found = now + after if after is not None else moment(str(value), now)
        if found is None:
            examples = PAST_EXAMPLES if self._past else COMING_EXAMPLES
            return self.fail(f"{value!r} is {self.other} time such as {examples}", param, ctx)
        if found <= now and not self._past:
            return self.fail(f"{value!r} is over already", param, ctx)
        return found.isoformat()


ID = Whole(most=MOST_ID)
