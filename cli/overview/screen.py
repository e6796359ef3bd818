"""The screen of an overview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from cli.lists.listing import PARTITION, columns_for
from cli.terminal.states import STYLES
from cli.terminal.tables import Column, Row, Rows
from cli.terminal.wording import (
    INTAKE_ENDED,
    clock,
    counted,
    duration,
    elapsed,
    lab_state,
    plain,
    reason_of,
)

MAX_LABS = 12
MAX_SETS = 6
BAR_COLUMNS = 60
# Category of systems -> its mark in the bar, which needs no colours, and its style.
MARKS = {
    "running": ("█", "bold cyan"),
    "starting": ("▒", "cyan"),
    "had_by_people": ("P", "magenta"),
    "idle": ("·", "green"),
    "manual": ("M", "magenta"),
    "draining": ("D", "yellow"),
    "broken": ("X", "red"),
}
ASCII = {"█": "#", "▒": "+", "·": "."}


def _usage(recipe_set: Row) -> str:
    usages: list[str] = recipe_set["usage"]
    return max(usages, key=usages.count)


def _systems(recipe_set: Row) -> str:
    first, *others = recipe_set["systems"]
    return f"{first} +{len(others)}" if others else first


def _became(event: Row) -> str:
    return str(event["data"].get("condition") or event["topic"].rpartition(".")[2])


def _heard(lab: Row) -> str:
    return f"{elapsed(lab['last_heard_at'])} ago" if lab["last_heard_at"] else ""


def _doing(lab: Row) -> list[str]:
    return [f"{lab['doing'][activity]} {_words(activity)}" for activity in MARKS if lab["doing"][activity]]


LAB_COLUMNS = (
    Column("lab controller", "lab_controller", rank=0),
    PARTITION,
    Column("state", lab_state, "state", 0),
    Column("heard", _heard, "number", 1),
    Column("systems", "systems", "number", 0),
    Column("doing", _doing, "text", 0),
)
SET_COLUMNS = (
    Column("set", "recipe_set_id", "number", 0),
    Column("job", "job_id", "number", 0),
    PARTITION,
    Column("usage", _usage, "state", 0),
    Column("recipes", "recipes", "number", 2),
    Column("priority", "priority", "state", 3),
    Column("owner", "owner"),
    Column("systems", _systems, "name", 1),
    Column("whiteboard", "whiteboard", "text", 4),
)
BROKEN_COLUMNS = (
    Column("for", lambda row: elapsed(row["at"]) if row["at"] else "", "number", 0),
    Column("system", "fqdn", "name", 0),
    Column("reason", reason_of, "text", 0),
    Column("ticket", "ticket", "text", 2),
)
EVENT_COLUMNS = (
    Column("ago", lambda row: elapsed(row.get("at")), "number", 0),
    Column("what", "subject", rank=0),
    Column("became", _became, "state", 0),
    Column("reason", lambda row: reason_of(row["data"]), "text", 0),
)


class OverviewScreen:
    """An overview for rich. `widest` keeps the column widths of each table between redraws."""

    def __init__(self, document: Row, widest: dict[str, dict[str, int]] | None = None) -> None:
        self._document = document
        self._widest = {} if widest is None else widest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._heading()
        yield self._readiness()
        if "labs" in self._document:
            yield from self._partitions()
            for part in (self._labs(options), self._queue(), self._placed(options), self._lately(options)):
                yield Text()
                yield from part
            yield from self._own_broken(options)

    def _heading(self) -> Text:
        where = f" at position {self._document['position']}" if "position" in self._document else ""
        return Text(f"{self._document['url']}, {clock(self._document['at'])}{where}", style="bold")

    def _readiness(self) -> Text:
        line = (
            Text("ready", style="green") if self._document["ready"] else Text("not ready", style="bold red")
        )
        for name, check in self._document["checks"].items():
            line.append(", ", style="default not bold")
            outcome = f"FAILS ({plain(check['detail'])})" if not check["ok"] else "ok"
            style = "default not bold" if check["ok"] else "bold red"
            line.append(f"{name.replace('_', ' ')} {outcome}", style=style)
            if check["ok"]:
                line.append_text(_failing_partitions(check.get("partitions", {})))
        if self._document["detail"]:
            line.append(f": {plain(self._document['detail'])}", style="red")
        return line

    def _partitions(self) -> Iterator[Text]:
        """Yield a line for each partition that is not active."""
        for partition in self._document["partitions"]:
            if partition["state"] in INTAKE_ENDED:
                name, state = partition["name"], partition["state"]
                line = Text(f"partition {plain(name)} is ")
                line.append(state, style=STYLES[state])
                yield line.append(
                    f": {INTAKE_ENDED[state]}; `labledger partition start {plain(name)}` resumes"
                )

    def _labs(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        labs = self._document["labs"]
        if not labs:
            yield Text("No labs yet: `labledger lab load FILE` adds some.")
            return
        yield from self._table("labs", LAB_COLUMNS, labs[:MAX_LABS], options)
        if len(labs) > MAX_LABS:
            yield Text(f"and {counted(len(labs) - MAX_LABS, 'more lab')}", style="dim")
        yield from _bar(self._document["all_labs"]["doing"], options)

    def _queue(self) -> Iterator[RenderableType]:
        queue = self._document["queue"]
        if not queue["recipes"]:
            yield Text("queue: empty")
            return
        longest = queue["oldest"][0]
        wait = duration(longest["wait_seconds"])
        head = f"queue: {counted(queue['recipes'], 'recipe')} unplaced, longest wait {wait}:"
        owner = f", {plain(longest.get('owner'))}" if longest.get("owner") else ""
        yield Text(f"{head} recipe {longest['recipe_id']} of job {longest['job_id']}{owner}")
        by_priority = Text("  ")
        for name, waiting in queue["by_priority"].items():
            by_priority.append(f"{name} {waiting['recipes']}", style=STYLES[name] or "default")
            by_priority.append(f" (up to {duration(waiting['longest_wait_seconds'])})  ", style="dim")
        yield by_priority
        if held_back := queue["held_back_now"]:
            rules = ", ".join(f"{kind} {count}" for kind, count in held_back.items())
            yield Text(f"  recipes held back: {rules}; `labledger queue` shows the reasons")

    def _placed(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        placed = self._document["placed"]
        sets = placed["recipe_sets"]
        if not placed["recipes"]:
            yield Text("placed: no recipes")
            return
        more = " or more" if placed["not_shown"] else ""
        yield Text(
            f"placed: {counted(placed['recipes'], 'recipe')} in {counted(len(sets), 'recipe set')}{more}"
        )
        yield from self._table("sets", SET_COLUMNS, sets[:MAX_SETS], options)
        if len(sets) > MAX_SETS or more:
            yield Text("and more: run `labledger systems` for all", style="dim")

    def _lately(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        events = self._document["problems"]
        yield Text("recent problems" if events else "recent problems: none")
        if events:
            yield from self._table("events", EVENT_COLUMNS, events, options)

    def _own_broken(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the table of the user's Broken systems; nothing if there are none."""
        broken = self._document["broken"]
        owned = broken["owned"]
        if not owned:
            return
        yield Text()
        yield Text(f"broken: {counted(owned, 'system')} of yours", style="red")
        yield from self._table("broken", BROKEN_COLUMNS, broken["systems"][:owned], options)
        if owned > len(broken["systems"]):
            yield Text("and more: run `labledger systems --condition Broken` for all", style="dim")

    def _table(
        self, name: str, columns: Sequence[Column], rows: list[Row], options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        table = Rows(columns_for(columns, rows), rows, widest=self._widest.setdefault(name, {}))
        yield table
        if left_out := table.left_out(options.max_width):
            yield Text(f"columns not shown: {', '.join(left_out)}", style="dim")


def _failing_partitions(checks: dict[str, Row]) -> Text:
    """Return the failing checks of partitions, of a check that passes because others do not fail."""
    failing = [(name, check["detail"]) for name, check in checks.items() if not check["ok"]]
    texts = (f", partition {plain(name)} FAILS ({plain(detail)})" for name, detail in failing)
    return Text("".join(texts), style="bold red")


def _words(activity: str) -> str:
    return activity.replace("_", " ")


def _bar(total: dict[str, int], options: ConsoleOptions) -> Iterator[Text]:
    """Yield a bar of all systems and its legend. A category with systems has at least one mark."""
    systems, bar, legend = sum(total.values()), Text(no_wrap=True), Text()
    columns = min(BAR_COLUMNS, options.max_width)
    for activity, number in total.items():
        if number:
            mark, style = MARKS[activity]
            mark = ASCII.get(mark, mark) if options.ascii_only else mark
            bar.append(mark * max(1, columns * number // systems), style=style)
            legend.append(f"{mark} {number} {_words(activity)}  ", style=style)
    yield from (bar, legend)
