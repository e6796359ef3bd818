"""The differences of two configurations, setting by setting; a queue is named by its path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cli.terminal.tables import Column
from cli.terminal.wording import plain

COLUMNS = (
    Column("setting", "setting", rank=0),
    Column("before", "before", "text", 0),
    Column("after", "after", "text", 0),
)

Document = Mapping[str, Any]


def differences(before: Document, after: Document) -> list[dict[str, str]]:
    """Return a row for each setting that differs, in the order of the documents, the newer one last."""
    old, new = dict(settings(before)), dict(settings(after))
    return [
        {"setting": name, "before": old.get(name, "none"), "after": new.get(name, "none")}
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def queue_differences(before: Document, after: Document, paths: Collection[str]) -> list[dict[str, str]]:
    """Return the rows of `differences` for the queues at `paths`, from two trees of queues."""
    rows = differences({"queues": before}, {"queues": after})
    return [row for row in rows if row["setting"].removeprefix("queue ").partition(": ")[0] in paths]


def settings(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the path and the value of each setting; a queue is named by its path."""
    for name, value in document.items():
        if name == "queues" and isinstance(value, Mapping):
            yield from _queues(value, "root")
        elif name == "placement":
            yield name, "; ".join(map(_rule_text, value))
        else:
            yield from _values(name, value)


def _queues(queue: Document, path: str) -> Iterator[tuple[str, str]]:
    own = {field: value for field, value in queue.items() if field not in ("name", "queues")}
    yield f"queue {path}", "there"
    for field, value in own.items():
        yield from _values(f"queue {path}: {field}", value)
    for child in queue.get("queues", ()):
        yield from _queues(child, f"{path}.{child['name']}")


def _values(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for field, inner in value.items():
            yield from _values(f"{name}.{field}", inner)
    elif isinstance(value, list):
        yield name, ", ".join(_item(item) for item in value) or "none"
    else:
        yield name, "none" if value is None else plain(value)


def _item(item: Any) -> str:
    if not isinstance(item, Mapping):
        return plain(item)
    return " ".join(f"{name}={plain(value)}" for name, value in item.items())


def _rule_text(rule: Document) -> str:
    """Return a placement rule as text, such as `user below root.people, may create`."""
    below = f" below {_rule_text(rule['parent'])}" if "parent" in rule else ""
    creates = ", may create" if rule.get("create") else ""
    return f"{rule.get('value', rule['rule'])}{below}{creates}{_filter_text(rule.get('filter', {}))}"


def _filter_text(of_rule: Document) -> str:
    """Return the filter of a rule as text, such as `, not for ada, group qa`; nothing without a filter."""
    who = [*of_rule.get("users", ()), *(f"group {name}" for name in of_rule.get("groups", ()))]
    wording = "for" if of_rule.get("allow", True) else "not for"
    return f", {wording} {', '.join(who)}" if who else ""
