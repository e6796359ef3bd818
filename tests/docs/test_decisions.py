"""The decision records: the list of them, and their citations of the design."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.docs.page import TOP

FOLDER = TOP / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((\S+)\) \| (\d{4}-\d\d-\d\d) \| (\S.*) \|$", re.M)
# "(design 4.2, 5.2)", "design sections 4 and 5": all numbers up to the next other word.
CITED = re.compile(
    r"\bdesign(?:\.md)?(?:\]\(\S+\))?,?(?: sections?)? (\d(?:\.\d)?(?:(?:,| and|, and) \d(?:\.\d)?)*)", re.I
)


def test_list__every_record__has_a_row_with_its_number_title_date_and_status() -> None:
    rows = ROW.findall((FOLDER / "README.md").read_text("utf-8"))
    listed = [(file, f"# {number}. {title}") for number, title, file, _, _ in rows]
    assert listed == [(record.name, record.read_text("utf-8").splitlines()[0]) for record in RECORDS]
    assert [int(number) for number, *_ in rows] == [*range(1, len(RECORDS) + 1)]
    dates = [date for *_, date, _ in rows]
    assert dates == sorted(dates)


def sections() -> set[str]:
    return set(re.findall(r"^##+ (\d(?:\.\d)?)[. ]", (TOP / "docs" / "design.md").read_text("utf-8"), re.M))


def test_design__sections_that_code_and_docs_cite__are_there() -> None:
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.sql", "*.md"], cwd=TOP, capture_output=True, text=True, check=False
    )
    if files.returncode != 0:
        pytest.skip("not in a checkout")
    cited = {
        number: file
        for file in files.stdout.split()
        if file != "docs/design.md" and (TOP / file).exists()
        for numbers in CITED.findall((TOP / file).read_text("utf-8"))
        for number in re.findall(r"\d(?:\.\d)?", numbers)
    }
    assert len(cited) > 10
    assert {number: file for number, file in cited.items() if number not in sections()} == {}
