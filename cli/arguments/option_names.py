"""Errors of the server about fields, turned into errors about the options that set these fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from domain.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable


@contextmanager
def faults_changed(change: Callable[[Fault], Fault]) -> Iterator[None]:
    """Apply `change` to each fault of a request that the server refuses."""
    from api.client import ServerProblem

    try:
        yield
    except ServerProblem as problem:
        problem.faults = tuple(map(change, problem.faults))
        raise


def by_option(options: Mapping[str, str]) -> Callable[[Fault], Fault]:
    """Return a function that names the options of fields in the location and the message of a fault."""
    # Other fields, such as `seconds`, are also words of sentences.
    named = _pattern(name for name in options if "_" in name)

    def change(fault: Fault) -> Fault:
        message = named.sub(lambda found: options[found[0]], fault.message) if named else fault.message
        return Fault(options.get(fault.where, fault.where), message)

    return change


def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    words = "|".join(map(re.escape, names))
    return re.compile(rf"\b(?:{words})\b") if words else None
