"""The board Machines: how systems spend their time, and which of them cannot be used."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from projections.boards.layout import Row, board, lab_variable, pool_variable
from projections.boards.panels import (
    SECONDS,
    SHARE,
    listing,
    moment_link,
    row_link,
    series,
    span_link,
    time_line,
)
from projections.boards.queries import rows, steps

STATES = {
    "idle": "blue",
    "pending": "light-blue",
    "scheduled": "purple",
    "waiting": "yellow",
    "installing": "orange",
    "running": "green",
    "draining": "dark-yellow",
    "occupied": "dark-orange",
    "disabled": "dark-purple",
    "Manual": "gray",
    "Broken": "red",
    "Removed": "dark-gray",
}
"""The colours of states: of the usage, or of the condition unless that is Automated."""


def machines() -> Dashboard:
    lab, usage = span_link("Time line", "/lab"), span_link("Usage", "/usage")
    systems = moment_link("Systems", "/systems")
    to_system = [row_link("system", "/systems/{}")]
    units = {"seconds": SECONDS, "in use": SHARE, "unavailable": SHARE, "broken": SHARE}
    return board(
        "Machines",
        "How systems spend their time, and which of them cannot be used",
        [
            Row(
                9,
                [
                    series("Share in use by lab", steps("share_in_use"), unit=SHARE, link=usage),
                    series(
                        "Systems that take nothing new",
                        steps("unavailable_over_time"),
                        unit="short",
                        link=systems,
                        stacked=True,
                    ),
                ],
            ),
            Row(14, [time_line("First 40 systems by name", steps("time_line"), STATES, link=lab)]),
            Row(
                10,
                [
                    listing("Time by pool", rows("time_by_pool"), link=usage, units=units),
                    listing("Time by group or owner", rows("time_by_group"), link=usage, units=units),
                    listing(
                        "Systems that take nothing new now",
                        rows("unavailable"),
                        link=systems,
                        links=to_system,
                    ),
                ],
            ),
        ],
        [lab_variable(), pool_variable()],
    )
