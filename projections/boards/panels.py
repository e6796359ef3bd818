"""Panels of boards: numbers, series, tables and time lines, with their links to pages of Labledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from grafana_foundation_sdk.builders import common, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.builders.dashboard import DashboardLink, ThresholdsConfig
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    StackingMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)

from projections.boards.queries import Target

# A constant of every board: the address of the pages.
ADDRESS: Final = "${labledger}"
SECONDS: Final = "s"
SHARE: Final = "percentunit"
PER_SECOND: Final = "ops"
_SPAN: Final = "since=${__from:date:iso}&until=${__to:date:iso}"
_END: Final = "as_of=${__to:date:iso}"

Link = Builder[dashboard.DashboardLink]
Panel = Builder[dashboard.Panel]


def span_link(title: str, page: str) -> Link:
    """Return a link to a page that shows a time span, with the one of the board."""
    return _link(title, f"{ADDRESS}/ui{page}?{_SPAN}")


def moment_link(title: str, page: str) -> Link:
    """Return a link to a page that shows a moment, as of the end of the time span."""
    return _link(title, f"{ADDRESS}/ui{page}?{_END}")


def _link(title: str, url: str) -> Link:
    return DashboardLink(title).type(DashboardLinkType.LINK).url(url).target_blank(True)


def row_link(column: str, page: str) -> tuple[str, str]:
    """Return a link from the cells of a column; `{}` in the page stands for the value."""
    return column, f"{ADDRESS}/ui{page.format('${__value.raw}')}"


def number(title: str, target: Target, unit: str, link: Link, bad_from: float | None = None) -> Panel:
    """Return a panel with one number, which is red from `bad_from` on."""
    steps = [Threshold(value=None, color="green")]
    steps += [] if bad_from is None else [Threshold(value=bad_from, color="red")]
    return (
        stat.Panel()
        .title(title)
        .targets([target])
        .links([link])
        .unit(unit)
        .thresholds(ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False))
    )


def series(
    title: str, *targets: Target, unit: str, link: Link, stacked: bool = False, description: str = ""
) -> Panel:
    mode = StackingMode.NORMAL if stacked else StackingMode.NONE
    legend = common.VizLegendOptions().display_mode(LegendDisplayMode.LIST)
    return (
        timeseries.Panel()
        .title(title)
        .description(description)
        .targets(list(targets))
        .links([link])
        .unit(unit)
        .min(0)
        .interval("30s")
        .stacking(common.StackingConfig().mode(mode).group("A"))
        .fill_opacity(40 if stacked else 0)
        .show_points(VisibilityMode.AUTO)
        .legend(legend.placement(LegendPlacement.BOTTOM).show_legend(True).calcs([]))
    )


def listing(
    title: str,
    target: Target,
    *,
    link: Link,
    links: Sequence[tuple[str, str]] = (),
    units: Mapping[str, str] | None = None,
    description: str = "",
) -> Panel:
    """Return a table; `links` are from the cells of columns, `units` the units of columns."""
    panel = table.Panel().title(title).description(description).targets([target]).links([link])
    for column, url in links:
        opened = {"title": "Open in Labledger", "url": url, "targetBlank": True}
        panel = panel.override_by_name(column, [DynamicConfigValue(id_val="links", value=[opened])])
    for column, unit in (units or {}).items():
        panel = panel.override_by_name(column, [DynamicConfigValue(id_val="unit", value=unit)])
    return panel


def time_line(title: str, target: Target, states: Mapping[str, str], *, link: Link) -> Panel:
    """Return a line for each series. Its numbers are places in `states`, from 1: words with their colours."""
    shown = {
        str(number): ValueMappingResult(text=text, color=color, index=number)
        for number, (text, color) in enumerate(states.items(), start=1)
    }
    return (
        statetimeline.Panel()
        .title(title)
        .targets([target])
        .links([link])
        .mappings([ValueMap(options=shown)])
        .show_value(VisibilityMode.NEVER)
        .merge_values(True)
        .row_height(0.8)
        # A state lasts until the next one of its own line, not until that of any line.
        .override_by_regexp(".*", [DynamicConfigValue(id_val="custom.spanNulls", value=True)])
    )
