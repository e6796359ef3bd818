"""Kinds of arguments and options, with refusals in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from api.cli.arguments.moments import moment, span

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Whole(click.ParamType[int]):
    """A whole number, from 1 unless said otherwise."""

    name = "number"

    def __init__(self, least: int = 1, most: int = 2**63 - 1) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if text.isascii() and text.isdigit() and len(text) < 20 and self._least <= int(text) <= self._most:
            return int(text)
        return self.fail(f"{text!r} is no whole number from {self._least} on", param, ctx)


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
    """A moment to come, as RFC 3339; a span of time is counted from now."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        now = datetime.now(UTC)
        after = span(str(value))
        found = now + after if after is not None else moment(str(value), now)
        if found is None:
            examples = "'30d', 'tomorrow 18:00' or '2026-12-24 18:00'"
            return self.fail(f"{value!r} is no time such as {examples}", param, ctx)
        if found <= now:
            return self.fail(f"{value!r} is over already", param, ctx)
        return found.isoformat()


ID = Whole(most=2**31 - 1)
