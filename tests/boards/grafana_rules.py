"""The expansion of queries by Grafana 11.6, written anew from its behaviour.

Variables are replaced first, as the browser does; then the time macros, as the server does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

Values = Mapping[str, str | Sequence[str]]
"""Variable -> its value, or the selected values of one that may have several."""

# A macro with its arguments. As in Grafana, an argument contains no closing parenthesis.
_MACRO: Final = re.compile(r"\$(__\w+)\(([^)]*)\)")
_VARIABLE: Final = re.compile(r"\$(\w+)|\$\{(\w+)(?:\.(\w+))?(?::([\w:]+))?\}")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "ms": 0.001}
_INTERVAL: Final = re.compile(r"(\d+)(ms|[smhdw])")


class UnknownMacro(Exception):
    """Grafana refuses the query, or sends it with a `$`."""


@dataclass(frozen=True)
class Request:
    """The request of a panel: its time span, its interval, and the variables of its board."""

    since: datetime
    until: datetime
    interval: str = "30s"
    variables: Values = field(default_factory=dict)

    @property
    def built_in(self) -> Mapping[str, str]:
        span = self.until - self.since
        return {
            "__interval": self.interval,
            "__interval_ms": f"{seconds_of(self.interval) * 1000:g}",
            "__range": f"{round(span.total_seconds())}s",
            "__range_s": f"{round(span.total_seconds())}",
            # At least four scrapes.
            "__rate_interval": f"{max(seconds_of(self.interval), 60):g}s",
            "__from": str(round(self.since.timestamp() * 1000)),
            "__to": str(round(self.until.timestamp() * 1000)),
        }


def seconds_of(interval: str) -> float:
    found = _INTERVAL.fullmatch(interval)
    if found is None:
        raise UnknownMacro(f"{interval!r} is no interval")
    return int(found[1]) * _UNITS[found[2]]


def sql(query: str, request: Request) -> str:
    """Return the SQL that PostgreSQL gets. Raises UnknownMacro."""
    return _complete(_MACRO.sub(lambda found: _macro(found, request), _with_variables(query, request, _sql)))


def promql(query: str, request: Request) -> str:
    """Return the expression that Prometheus gets. Raises UnknownMacro."""
    return _complete(_with_variables(query, request, _regular_expression))


def link(url: str, request: Request, value: str = "") -> str:
    """Return the address to which a link leads, from a cell with a value."""
    return _complete(_with_variables(url.replace("${__value.raw}", value), request, str))


def _complete(text: str) -> str:
    if "$" in text:
        raise UnknownMacro(text)
    return text


def _with_variables(text: str, request: Request, quoted: Callable[[str | Sequence[str]], str]) -> str:
    def value(found: re.Match[str]) -> str:
        name, form = found[1] or found[2], found[4]
        if form == "date:iso":
            return _rfc3339({"__from": request.since, "__to": request.until}[name])
        if name in request.built_in:
            return request.built_in[name]
        if name in request.variables:
            return quoted(request.variables[name])
        return found[0]

    return _VARIABLE.sub(value, text)


def _sql(value: str | Sequence[str]) -> str:
    """Quote the values of a variable with several; one without is inserted with its quotes doubled."""
    if isinstance(value, str):
        return value.replace("'", "''")
    return ",".join("'" + each.replace("'", "''") + "'" for each in value)


def _regular_expression(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return value
    return "(" + "|".join(map(re.escape, value)) + ")"


def _macro(found: re.Match[str], request: Request) -> str:
    name, arguments = found[1], [argument.strip() for argument in found[2].split(",")]
    expand = _MACROS.get(name)
    if expand is None:
        raise UnknownMacro(f"${name}")
    return expand(request, *arguments)


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _filter(request: Request, column: str) -> str:
    return f"{column} BETWEEN {_from(request)} AND {_to(request)}"


def _from(request: Request, _: str = "") -> str:
    return f"'{_rfc3339(request.since)}'"


def _to(request: Request, _: str = "") -> str:
    return f"'{_rfc3339(request.until)}'"


def _group(_: Request, column: str, interval: str, fill: str = "") -> str:
    # A fill value changes the answer, not the query.
    seconds = seconds_of(interval.strip("'"))
    return f"floor(extract(epoch from {column})/{seconds:g})*{seconds:g}"


def _group_alias(request: Request, column: str, interval: str, fill: str = "") -> str:
    return f'{_group(request, column, interval, fill)} AS "time"'


_MACROS: Final[Mapping[str, Callable[..., str]]] = {
    "__time": lambda _, column: f'{column} AS "time"',
    "__timeFilter": _filter,
    "__timeFrom": _from,
    "__timeTo": _to,
    "__timeGroup": _group,
    "__timeGroupAlias": _group_alias,
}
