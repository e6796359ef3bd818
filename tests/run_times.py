"""Run times in tests/README.md: `python -m tests.run_times FILE` writes them from a JUnit report."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path(__file__).with_name("README.md")
ROW = re.compile(r"^(\| `(\w+)/` \| )[^|]*( \|)", re.M)


def seconds_by_folder(report: Path) -> Counter[str]:
    """Return the sums of the run times in a JUnit report."""
    found = Counter[str]()
    for case in ElementTree.parse(report).iter("testcase"):
        folder = (case.get("classname") or "").removeprefix("tests.").partition(".")[0]
        found[folder] += float(case.get("time") or 0)
    return found


def main(report: Path) -> None:
    seconds = seconds_by_folder(report)
    rows = ROW.sub(lambda row: f"{row[1]}{round(seconds[row[2]])}{row[3]}", PAGE.read_text("utf-8"))
    PAGE.write_text(rows, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
