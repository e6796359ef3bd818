"""A board: rows of panels on the grid, variables, and annotations with the firing alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from grafana_foundation_sdk.builders.dashboard import (
    AnnotationQuery,
    ConstantVariable,
    Dashboard,
    DashboardLink,
    QueryVariable,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from projections.boards.files import DEFAULT_URL
from projections.boards.panels import Panel
from projections.boards.queries import POSTGRESQL, PROMETHEUS, SQL

WIDTH: Final = 24
TAG: Final = "labledger"
FIRING: Final = 'ALERTS{alertname=~"Labledger.+", alertstate="firing"}'

Variable = Builder[dashboard.VariableModel]


class Row(NamedTuple):
    """Panels beside each other, of equal widths."""

    height: int
    panels: Sequence[Panel]


def board(
    name: str, description: str, rows: Sequence[Row], variables: Sequence[Variable] = ()
) -> dashboard.Dashboard:
    made = (
        Dashboard(f"Labledger: {name}")
        .uid(f"labledger-{name.lower()}")
        .description(description)
        .tags([TAG])
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-24h", "now")
        .refresh("1m")
        .link(_other_boards())
        .annotation(_alerts())
        .with_variable(_address())
    )
    for variable in variables:
        made.with_variable(variable)
    built = made.build()
    built.panels = list(_placed(rows))
    return built


def _placed(rows: Sequence[Row]) -> list[dashboard.Panel | dashboard.RowPanel]:
    placed: list[dashboard.Panel | dashboard.RowPanel] = []
    y = 0
    for height, panels in rows:
        width = WIDTH // len(panels)
        for number, builder in enumerate(panels):
            panel = builder.build()
            panel.id_val = len(placed) + 1
            panel.grid_pos = dashboard.GridPos(h=height, w=width, x=number * width, y=y)
            placed.append(panel)
        y += height
    return placed


def _other_boards() -> DashboardLink:
    return (
        DashboardLink("Boards")
        .type(DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(True)
        .keep_time(True)
    )


def _alerts() -> AnnotationQuery:
    return AnnotationQuery().name("Alerts").datasource(PROMETHEUS).expr(FIRING).enable(True).icon_color("red")


def _address() -> ConstantVariable:
    return ConstantVariable("labledger").label("Address of Labledger").value(DEFAULT_URL)


def lab_variable() -> QueryVariable:
    return _selection("lab", "Lab", SQL["labs"])


def pool_variable() -> QueryVariable:
    return _selection("pool", "Pool", SQL["pools"])


def _selection(name: str, label: str, sql: str) -> QueryVariable:
    """Return a variable with one or more values of a query, all of them at first."""
    return (
        QueryVariable(name)
        .label(label)
        .datasource(POSTGRESQL)
        .query(sql)
        .multi(True)
        .include_all(True)
        .current(VariableOption(text=["All"], value=["$__all"]))
        .refresh(VariableRefresh.ON_DASHBOARD_LOAD)
        .sort(VariableSort.ALPHABETICAL_ASC)
    )
