"""Arguments and options that several commands share, and their types."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

import click

from cli.arguments.moments import UnclearTime, is_exact, moment, span
from cli.arguments.utf8 import content_of
from cli.failures import AS_JSON
from cli.terminal.output import note
from domain.errors import Fault, Unreadable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

T = TypeVar("T")

Command = Callable[..., None]
Decorator = Callable[[Command], Command]

PAST_EXAMPLES = (
    "'2h ago', 'yesterday 14:00', 'last tuesday', '2026-11-20 14:00 Europe/Berlin' or '2026-11-20T13:00:00Z'"
)
FUTURE_EXAMPLES = "'30d', 'tomorrow 18:00', 'friday 9:00', or '2026-12-24 18:00 Europe/Berlin'"

# Maximum difference that is accepted between the clocks of client and server.
CLOCKS_DIFFER = timedelta(minutes=1)
MAX_ID = 2**31 - 1
MAX_LIMIT = 2**63 - 1


class WholeNumber(click.ParamType[int]):
    """A whole number with a minimum, by default 1."""

    name = "number"

    def __init__(self, minimum: int = 1, maximum: int = MAX_LIMIT) -> None:
        self._minimum, self._maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if re.fullmatch("[0-9]{1,19}", text) and self._minimum <= int(text) <= self._maximum:
            return int(text)
        limits = f"of at least {self._minimum}"
        if self._maximum < MAX_ID:
            limits = f"from {self._minimum} to {self._maximum}"
        return self.fail(f"{text!r} must be a whole number {limits}", param, ctx)


class Decimal(click.ParamType[float]):
    """A finite number of at least 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number) and number >= 0:
            return number
        return self.fail(f"{str(value)!r} must be a number of at least 0", param, ctx)


class WordChoice(click.ParamType[str]):
    """One of several words or of their aliases, in upper or lower case."""

    name = "word"

    def __init__(self, words: Sequence[str], aliases: Mapping[str, str] = MappingProxyType({})) -> None:
        self._words = tuple(words)
        self._of_lower = {alias.lower(): word for alias, word in aliases.items()}
        self._of_lower |= {word.lower(): word for word in words}

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self._words)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = self._of_lower.get(str(value).lower())
        if word is None:
            self.fail(f"{value!r} must be one of {', '.join(self._words)}", param, ctx)
        return word

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self._words if word.lower().startswith(incomplete.lower())]


class Words(click.ParamType[str]):
    """Text that is not blank."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) if str(value).strip() else self.fail("must not be empty", param, ctx)


class ParsedText(click.ParamType[T]):
    """A text, converted by `read`, which raises ValueError with the reason for a refusal."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)


class TimeParam(click.ParamType[str]):
    """A time, converted to RFC 3339. Without `past`, it must be a future time, or a duration from now.

    With `or_now`, a future time may also be `now`. `future` says what happens to a future time with `past`:
    it stays, is refused, or becomes the present time with a note.

    The time taken is printed, unless it was given in that form. It is in whole seconds, but for `now`.
    """

    name = "time"
    allowed = "a time"

    def __init__(
        self,
        *,
        past: bool = False,
        or_now: bool = False,
        future: Literal["stays", "is refused", "is cut"] = "stays",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._past = past
        self._or_now = or_now
        self._future = future
        self._clock = clock

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text, now = str(value), self._clock()
        option = param.opts[0] if param else self.name
        as_json, is_completing = bool(ctx and ctx.meta.get(AS_JSON)), bool(ctx and ctx.resilient_parsing)
        if self._past and span(text) is not None:
            return self.fail(f"{value!r} is a duration; write '{text.strip()} ago' for the time", param, ctx)
        try:
            taken = self._taken(text, now)
        except UnclearTime as error:
            return self.fail(f"{value!r} is unclear: {error}; it must be {self._examples}", param, ctx)
        if taken is None:
            return self.fail(f"{value!r} must be {self._examples}", param, ctx)
        if taken != now and not is_exact(text):
            # As people say it: the current fraction of a second means nothing. Only that of `now` does.
            taken = taken.replace(microsecond=0)
        local = taken.astimezone().isoformat()
        if not self._past and (taken < now or (taken == now and not self._or_now)):
            return self.fail(f"{value!r} is in the past: {local}", param, ctx)
        if self._past and self._future != "stays" and taken > now + CLOCKS_DIFFER:
            if self._future == "is refused":
                return self.fail(f"{local} is in the future; give a past time, or omit {option}", param, ctx)
            taken, local = now, now.astimezone().isoformat(timespec="seconds")
            if not is_completing:
                _note_cut(option, local, as_json=as_json)
        elif not is_exact(text) and not is_completing:
            _note_time(option, local, as_json=as_json)
        return taken.isoformat()

    def _taken(self, text: str, now: datetime) -> datetime | None:
        after = None if self._past else span(text)
        return now + after if after is not None else moment(text, now, "past" if self._past else "future")

    @property
    def _examples(self) -> str:
        return f"{self.allowed} such as {PAST_EXAMPLES if self._past else FUTURE_EXAMPLES}"


def _note_time(option: str, time: str, *, as_json: bool) -> None:
    """Print the time of an option to standard error; with --json as an object on a line."""
    note(json.dumps({"option": option, "time": time}) if as_json else f"{option}: {time}")


def _note_cut(option: str, now: str, *, as_json: bool) -> None:
    """Print that a time in the future was replaced by the present one."""
    why = "the time given is in the future"
    note(
        json.dumps({"option": option, "time": now, "note": why})
        if as_json
        else f"{option}: {now}, now: {why}"
    )


class Duration(click.ParamType[int]):
    """A duration such as `2h` or `1d 12h`, in seconds, up to a maximum of whole days."""

    name = "duration"

    def __init__(self, max_seconds: int = MAX_ID) -> None:
        self._max_seconds = max_seconds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = span(str(value))
        if found is None or not 1 <= found.total_seconds() <= self._max_seconds:
            bound = f" and at most {self._max_seconds // 86_400}d" if self._max_seconds < MAX_ID else ""
            return self.fail(
                f"{value!r} must be a duration of at least 1s{bound}, such as 2h or '1d 12h'", param, ctx
            )
        return round(found.total_seconds())


ID = WholeNumber(maximum=MAX_ID)


def limit_option(default: int, help: str, *, maximum: int = MAX_LIMIT) -> Decorator:
    kind = WholeNumber(maximum=maximum)
    return click.option("--limit", type=kind, default=default, show_default=True, help=help)


reason_option = click.option(
    "--reason",
    metavar="TEXT",
    callback=lambda _, __, value: value or None,
    help="Reason, which is recorded in the log [default: none].",
)
required_reason_option = click.option(
    "--reason", metavar="TEXT", type=Words(), required=True, help="Reason, which is shown with the results."
)


def no_option(command: Command) -> Command:
    """Return the command unchanged, in the place of an option that only some commands have."""
    return command


assignments_argument = click.argument("changes", metavar="NAME=VALUE…", nargs=-1, required=True)


def assigned(changes: tuple[str, ...]) -> dict[str, Any]:
    """Return the values by name: JSON, or text if not valid JSON. `cpu.cores=8` is `cpu={"cores": 8}`."""
    values: dict[str, Any] = {}
    for name, value in map(_assigned, changes):
        whole, dot, part = name.partition(".")
        if not dot:
            values[name] = value
        elif isinstance(values.setdefault(whole, {}), dict):
            values[whole][part] = value
        else:
            raise click.UsageError(f"{name}: another argument already sets all of {whole}")
    return values


def _assigned(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text!r} must be NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def read_json(file: IO[bytes]) -> Any:
    """Return the value in a JSON file in UTF-8. Raise Unreadable."""
    try:
        return json.loads(content_of(file))
    except ValueError as error:
        raise Unreadable([Fault(file.name, f"is not JSON: {error}")]) from None
