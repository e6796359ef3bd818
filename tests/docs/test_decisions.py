"""Pages that repeat the code: decisions, dependencies and elements of requirements."""

from __future__ import annotations

import configparser
import re
import subprocess
from collections.abc import Iterator

import pytest

from domain.requirements import operands
from domain.requirements.operators import EQUALITY, EVERY, EVERY_OF_A_KEY, MATCHING, MATCHING_NAMES
from domain.requirements.vocabulary import DISK, DISTRO_TREE, SYSTEM, Vocabulary
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


def test_packages__of_setup_cfg__are_those_of_the_page() -> None:
    config = configparser.ConfigParser()
    config.read(TOP / "setup.cfg")
    ranges = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    demanded = {re.split(r"[\[<>=]", line)[0] for text in ranges for line in text.split()}
    page = (TOP / "docs" / "dependencies.md").read_text("utf-8")
    first_cells = re.findall(r"^\| (?!package|-)([^|(]+)", page, re.M)
    assert {name.strip() for cell in first_cells for name in cell.split(",")} == demanded


PAGE = (TOP / "docs" / "requirements.md").read_text("utf-8")
OPERATORS = {
    "all": EVERY,
    "all and other": EVERY_OF_A_KEY,
    "match": MATCHING,
    "match and other": MATCHING_NAMES,
    "equality": EQUALITY,
    "yes": ("==",),
    "none": (),
}
SECTIONS = {"Systems": SYSTEM, "Disks": DISK, "Distro trees": DISTRO_TREE}


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield spellings, operators and remarks of each row."""
    for line in section(title).splitlines():
        if line.startswith("| `"):
            spellings, _, operators, remarks = (cell.strip() for cell in line.strip("|").split(" | ", 3))
            yield re.findall(r"`([^`]+)`", spellings), operators, remarks


@pytest.mark.parametrize(("title", "language"), SECTIONS.items(), ids=SECTIONS)
def test_page__each_table__is_the_vocabulary(title: str, language: Vocabulary) -> None:
    listed = {name: OPERATORS[operators] for spellings, operators, _ in rows(title) for name in spellings}
    assert listed == {name: element.operators for name, element in language.elements.items()}


def test_page__spellings_of_one_row__are_of_one_element() -> None:
    for title in ("Systems", "Disks"):
        for spellings, _, _ in rows(title):
            assert SECTIONS[title].elements[spellings[0]].spellings == tuple(spellings)


def test_page__attributes_and_units__are_all_there() -> None:
    remarks = {name: text for title in SECTIONS for spellings, _, text in rows(title) for name in spellings}
    for name in ("device", "key_value", "system/compatible_with_distro"):
        assert all(f"`{attribute}`" in remarks[name] for attribute in SYSTEM.elements[name].attributes)
    assert all(f"`{unit}`" in section("Disks") for unit in operands.UNITS)
