"""Filters of templates: times, durations, and text that people wrote."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from api.durations import duration
from domain.rfc3339 import rfc3339
from domain.roll_up import BAD_RESULTS
from domain.scheduling.supply.reasons import shown_reason

# Longer texts are cut in lists; the page of the thing itself has the whole text.
MAX_SHOWN: Final = 200
_WHOLE_WORDS: Final = {"arch": "architecture"}
# Characters that change the order or hide the text around them, and other control characters.
_CONTROLS: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE: Final = re.compile(rf"[{_CONTROLS}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def visible(value: Any) -> Any:
    """Return a value for output: a character that would not be seen is written as its escape."""
    # Nearly all texts are printable, and a page has thousands. Markup may be a whole page.
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
    return value


def reason(text: str | None) -> str:
    """Return the text that people see for a stored reason of a recipe; empty without one."""
    return shown_reason(text) if text else ""


def as_time(at: datetime | str) -> datetime:
    return (at if isinstance(at, datetime) else datetime.fromisoformat(at)).astimezone(UTC)


def moment(at: datetime | str) -> str:
    """Return a time for people, in UTC."""
    return f"{as_time(at).replace(microsecond=0, tzinfo=None)} UTC"


def tick(at: datetime | str, first: datetime | str, last: datetime | str) -> str:
    """Return a time on an axis, in UTC: without the date if the whole axis is short."""
    is_short = as_time(last) - as_time(first) < timedelta(days=1)
    return f"{as_time(at):%H:%M:%S}" if is_short else f"{as_time(at):%m-%d %H:%M}"


def exact(at: datetime | str) -> str:
    """Return a time for machines, with its microseconds."""
    return rfc3339(as_time(at))


@pass_context
def when(context: Context, at: datetime | str) -> Markup:
    """Return how long before the moment of the page a time is, and the exact time."""
    time = as_time(at)
    age = context["page"].moment - time
    return _time(time, f"{duration(max(age, timedelta()).total_seconds())} ago")


@pass_context
def until(context: Context, at: datetime | str) -> Markup:
    """Return how long after the moment of the page a time is, and the exact time."""
    time = as_time(at)
    left = time - context["page"].moment
    return _time(time, f"in {duration(left.total_seconds())}" if left > timedelta() else "over")


def _time(at: datetime, relative: str) -> Markup:
    # Times and durations have nothing to escape, which would take most of the time of a long table.
    ages = f"<span data-age>{relative}</span> <small>({moment(at)})</small>"
    return Markup(f'<time datetime="{exact(at)}">{ages}</time>')


def cut(text: str | None, length: int = MAX_SHOWN) -> str:
    """Return the first characters of a text, with an ellipsis if it is longer."""
    text = text or ""
    return text if len(text) <= length else f"{text[:length]}…"


def pretty(value: Any) -> str:
    """Return a value as JSON for people."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def as_text(value: Any) -> str:
    """Return a value of a property as text: texts as they are, anything else as JSON."""
    texts = value if isinstance(value, list) else [value]
    if all(isinstance(each, str) for each in texts):
        return ", ".join(texts) or "none"
    return orjson.dumps(value).decode()


def words(name: str) -> str:
    """Return the name of a field as words: `lab_controller` is `lab controller`."""
    return _WHOLE_WORDS.get(name) or name.replace("_", " ").replace("-", " ")


def has_failed(recipe_set: dict[str, Any]) -> bool:
    """Return whether a recipe set has failed, and its failures are not all waived."""
    failed, waived = recipe_set["failed_task_count"], recipe_set["waived_task_count"]
    is_accepted = recipe_set["waiver"] is not None or (waived > 0 and failed == 0)
    return recipe_set["result"] in BAD_RESULTS and not is_accepted


def external_link(url: str, name: str | None = None) -> Markup:
    """Return a link to a file that a lab names. Other schemes than HTTP stay text: they could run code."""
    return Markup(_external_link(url, name))


def log_links(result: dict[str, Any]) -> Markup:
    """Return the logs of a result as links that lead outside."""
    named = [_external_link(log["url"], log["name"]) for log in result["logs"]]
    return Markup(", ".join([*named, *(_external_link(url, cut(url, 60)) for url in result["log_urls"])]))


def whole_text(value: str | None) -> Markup:
    """Return a text that a person wrote, on the page of its thing: if it is long, behind a click."""
    return Markup(_whole_text(value or ""))


def result_cells(result: dict[str, Any]) -> Markup:
    """Return the cells of a table for the path, value, score and message of a result."""
    path, value, score, message = result["path"], result["result"], result["score"], result["message"]
    return Markup(
        f"<td><bdi>{_escaped(path)}</bdi></td><td>{_escaped(value)}</td>"
        f'<td class="number">{"" if score is None else score}</td><td>{_whole_text(message)}</td>'
    )


# These return plain strings that are HTML: a page has thousands of results, and the methods of Markup, which
# escape what they join or format, would take most of the time of the page.


def _escaped(text: str) -> str:
    return escape(visible(text))


def _external_link(url: str, name: str | None) -> str:
    if not url.lower().startswith(("http://", "https://")):
        return _escaped(url if name is None else f"{name} ({url})")
    return f'<a href="{escape(url)}" rel="noreferrer noopener">{_escaped(name or url)}</a>'


def _whole_text(text: str) -> str:
    whole = f"<bdi>{_escaped(text)}</bdi>"
    if len(text) <= MAX_SHOWN:
        return whole
    return f"<details><summary><bdi>{_escaped(cut(text))}</bdi></summary>{whole}</details>"


def lock_text(lock: Any) -> str:
    """Return a resource lock as text: `Shared: a, b`, or its mode alone."""
    if not isinstance(lock, dict):
        return str(lock)
    return "; ".join(f"{mode}: {', '.join(names)}" for mode, names in lock.items())
