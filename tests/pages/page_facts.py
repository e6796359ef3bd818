"""The facts on a page, compared word by word with an answer of the HTTP API.

The text includes title and description. A word is one of a template, or part of a value of the answer,
or a time or duration that follows from one. Forms have choices, not facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from lxml import html

from api.pages.elements import duration, exact, lock_text, moment
from domain.scheduling.supply.reasons import shown_reason

WORD = re.compile(r"[\w.:/@%+-]+")
# Ages count to the moment of the page, and are beside the time itself.
AGE = re.compile(r"\b(in )?\d+(\.\d+)? (d|h|min|s)( \d+ (h|min|s))?( ago)?\s+(?=\()")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")


def text_of(page: str) -> str:
    """Return what people see of a page, with its title and its description."""
    document = html.fromstring(page)
    title = document.findtext(".//title")
    description = document.xpath("string(//meta[@name='description']/@content)")
    (main,) = document.xpath("//main")
    for form in list(main.iter("form")):
        form.getparent().remove(form)
    return f"{title} {description} {' '.join(main.itertext())}"


def is_lock(value: dict[str, Any]) -> bool:
    """Return whether a value may be a resource lock, which has names by its mode."""
    lists = [names for names in value.values() if isinstance(names, list)]
    return len(lists) == len(value) and all(isinstance(name, str) for names in lists for name in names)


def words_of(value: Any) -> Iterator[str]:
    """Yield the words that a value of an answer may be shown as, and those of all values in it."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from (*words_of(name), *words_of(each))
        if is_lock(value):
            yield from WORD.findall(lock_text(value))
    elif isinstance(value, list):
        yield str(len(value))
        for each in value:
            yield from words_of(each)
    elif isinstance(value, str):
        yield from WORD.findall(value)
        yield from WORD.findall(value.replace("_", " ").replace("-", " "))
        yield from WORD.findall(shown_reason(value))
        if TIME.fullmatch(value):
            yield from WORD.findall(f"{exact(value)} {moment(value)}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from WORD.findall(f"{value} {round(value, 2)} {duration(value)}")


@cache
def words_of_templates() -> frozenset[str]:
    """Return the words that the templates and the code of the pages contain, also with a capital letter."""
    folder = files("api.pages")
    code = (each for each in folder.iterdir() if each.name.endswith(".py"))
    # A page of a job says what its stage means.
    sources = [*(folder / "templates").iterdir(), *code, files("domain.job") / "stages.py"]
    words = {word for each in sources for word in WORD.findall(each.read_text("utf-8"))}
    return frozenset(words | {word.capitalize() for word in words})


def unexplained(page: str, answer: Any) -> set[str]:
    """Return the words of a page that are neither its own nor in the answer."""
    text = AGE.sub("", text_of(page))
    shown = {word.strip(".:,-") for word in WORD.findall(text)}
    explained = {word.strip(".:,-") for word in words_of(answer)} | {
        word.strip(".:,-") for word in words_of_templates()
    }
    return shown - explained - {""}
