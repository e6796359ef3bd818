"""The results of recipes as XML of JUnit, which continuous integration servers read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from cli.jobs.result_rows import links, shown_rows, waiver_text
from cli.terminal.tables import Row
from domain.roll_up import BAD_RESULTS

SKIPPED = frozenset({"New", "None", "Skip"})


def report(title: str, tasks: Sequence[Row]) -> str:
    """Return a document with a suite for each recipe, and a case for each result or task without results."""
    suites = ET.Element("testsuites", name=title)
    of_recipe = groupby(sorted(tasks, key=lambda task: task["recipe_id"]), key=lambda task: task["recipe_id"])
    for recipe_id, theirs in of_recipe:
        rows = list(shown_rows(map(_of_present_attempt, theirs)))
        suite = ET.SubElement(
            suites, "testsuite", name=f"recipe {recipe_id}", hostname=rows[0]["system"] or ""
        )
        cases = [_case(suite, row, name) for row, name in zip(rows, _distinct_names(rows), strict=True)]
        suite.attrib |= _counts(cases)
    suites.attrib |= _counts(list(suites.iter("testcase")))
    ET.indent(suites)
    text = ET.tostring(suites, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _of_present_attempt(task: Row) -> Row:
    """Return the task without the results of former attempts, such as before a preemption.

    They count no more: a reader would take the job for failed.
    """
    # Earlier versions of the service have no attempts.
    present = task.get("attempt", 1)
    return {**task, "results": [each for each in task["results"] if each.get("attempt", 1) == present]}


def _distinct_names(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a name for each result; readers of JUnit take two cases of one class and name for one."""
    seen = Counter[tuple[str, str]]()
    for row in rows:
        name = row["path"] or row["name"]
        seen[row["name"], name] += 1
        number = seen[row["name"], name]
        yield name if number == 1 else f"{name} ({number})"


def _case(suite: ET.Element, row: Row, name: str) -> ET.Element:
    case = ET.SubElement(suite, "testcase", classname=_legal(row["name"]), name=_legal(name))
    result, message = row["result"], _legal(row["message"])
    if row["waiver"] is not None:
        said = f"{result}: {message}" if message else result
        ET.SubElement(case, "skipped", message=_legal(f"{said}, waived {waiver_text(row)}"))
    elif result in BAD_RESULTS:
        # A task that was given up is no failed check.
        kind = "failure" if row["results"] else "error"
        ET.SubElement(case, kind, type=result, message=message)
    elif result in SKIPPED:
        ET.SubElement(case, "skipped", message=message or ("no result" if result == "New" else result))
    score = [] if row.get("score") is None else [f"score: {row['score']}"]
    if lines := [*score, *links(row)]:
        ET.SubElement(case, "system-out").text = _legal("\n".join(lines))
    return case


def _counts(cases: Sequence[ET.Element]) -> dict[str, str]:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counted = {name: str(sum(case.find(kind) is not None for case in cases)) for name, kind in kinds.items()}
    return {"tests": str(len(cases)), **counted}


def _legal(text: str) -> str:
    """Return a text without the characters that XML cannot have, not even as references."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
