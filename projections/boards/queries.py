"""Queries of panels: the two data sources, and SQL and PromQL as targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.dashboard import DataSourceRef
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from postgres.named_sql import named_queries

# The uids are those of `grafana/provisioning/datasources/labledger.yaml`.
PROMETHEUS: Final = DataSourceRef(type_val="prometheus", uid="labledger-prometheus")
POSTGRESQL: Final = DataSourceRef(type_val="grafana-postgresql-datasource", uid="labledger-postgresql")


def _without_comments(query: bytes) -> str:
    return "\n".join(line for line in query.decode().splitlines() if not line.startswith("--"))


SQL: Final = {
    name: _without_comments(query)
    for name, query in named_queries(Path(__file__).with_name("queries.sql")).items()
}

Target = Builder[Dataquery]


class SqlQuery(Dataquery):
    """A query of the PostgreSQL data source, for which the SDK has no class."""

    def __init__(self, sql: str, result: str) -> None:
        self._sql = sql
        self._result = result

    def to_json(self) -> dict[str, Any]:
        return {
            "refId": "A",
            "datasource": POSTGRESQL.to_json(),
            "editorMode": "code",
            "rawQuery": True,
            "rawSql": self._sql,
            "format": self._result,
        }


class SqlTarget(Builder[Dataquery]):
    def __init__(self, name: str, result: str) -> None:
        self._query = SqlQuery(SQL[name], result)

    def build(self) -> Dataquery:
        return self._query


def rows(name: str) -> Target:
    """Return a query of `queries.sql` for a table."""
    return SqlTarget(name, "table")


def steps(name: str) -> Target:
    """Return a query for series: `time` in ascending order, a number, and a text that names the series."""
    return SqlTarget(name, "time_series")


def prom(expression: str, legend: str, ref_id: str = "A") -> Target:
    """Return a query for series over the time span."""
    return (
        prometheus.Dataquery()
        .datasource(PROMETHEUS)
        .expr(expression)
        .range()
        .legend_format(legend)
        .ref_id(ref_id)
    )


def now(expression: str, legend: str = "") -> Target:
    """Return a query for the present values, as a table."""
    return (
        prometheus.Dataquery()
        .datasource(PROMETHEUS)
        .expr(expression)
        .instant()
        .legend_format(legend)
        .format(PromQueryFormat.TABLE)
        .ref_id("A")
    )
