"""Tables in a terminal, and control characters in them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cli.lists.jobs import JOBS, QUEUE
from cli.lists.listing import Listing
from cli.lists.systems import IDLE, LAB_CONTROLLERS, SYSTEMS
from cli.terminal.output import Output, xml
from cli.terminal.states import STYLES, style_of
from cli.terminal.tables import GAP, Column, Need, Rows, fitting_columns
from domain.lab_commands.lifecycle import COMMAND
from domain.priority import Priority
from domain.recipe.lifecycle import RECIPE, TASK
from domain.roll_up import RESULT_ORDER
from domain.system.lifecycle import CONDITIONS, USAGE

FQDN = "ibm-p9z-18-lp3.lab.eng.brno.example.com"
LAB = "lab-02.rhts.eng.brno.example.com"
ROW: dict[str, Any] = {
    "fqdn": FQDN,
    "lab_controller": LAB,
    "condition": "Automated",
    "draining": True,
    "usage": "installing",
    "recipe_id": 1234567,
    "recipe_set_id": 1234567,
    "job_id": 1234567,
    "state": "installing",
    "priority": "Urgent",
    "owner": "alice",
    "group": "kernel-qe",
    "whiteboard": "word " * 40,
    "user": "bob",
    "arches": ["x86_64", "i386"],
    "memory_mb": 131072,
    "pools": ["big", "small"],
    "result": "Pass",
    "since": "2026-01-01T00:00:00Z",
    "as_of": "2026-01-01T09:00:00Z",
    "enabled": True,
    "type": "Machine",
}


def shown(rows: Rows, width: int) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(rows, crop=False)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("listing", [IDLE, JOBS, LAB_CONTROLLERS, QUEUE, SYSTEMS], ids=lambda one: one.path)
def test_list__on_a_terminal__names_are_whole_and_no_line_is_longer(listing: Listing, width: int) -> None:
    rows = Rows(listing.columns, [ROW])
    lines = shown(rows, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for column in listing.columns:
        if column.kind != "text":
            assert (column.heading in rows.left_out(width)) or column.cell(ROW) in text
    assert rows.left_out(200) == [] or width < 200


def test_table__too_narrow_for_the_names__one_field_per_line() -> None:
    lines = shown(Rows(SYSTEMS.columns, [ROW, ROW]), 40)
    assert f"system: {FQDN}" in lines and "condition: Automated, draining" in lines
    assert lines.count("") == 1


def test_table__empty_columns__are_dropped_first_and_silently() -> None:
    columns = (
        Column("name", "name", rank=0),
        Column("empty", "empty", rank=1),
        Column("more", "more", rank=5),
    )
    rows = Rows(columns, [{"name": "x" * 10, "more": "y" * 10}])
    assert rows.left_out(24) == [] and "empty" not in shown(rows, 24)[0]
    assert rows.left_out(15) == ["more"]


def test_table__text__goes_on_in_the_next_line_and_is_cut_in_the_end() -> None:
    columns = (Column("name", "name", rank=0), Column("whiteboard", "whiteboard", "text"))
    lines = shown(Rows(columns, [{"name": "x", "whiteboard": "many words " * 100}]), 40)
    assert 4 < len(lines) < 9 and lines[-1].rstrip().endswith("…")


def test_table__title_wider_than_the_table__is_one_line() -> None:
    table = Rows([Column("user", "user")], [{"user": "ada"}], title="Users who had systems longest")
    assert shown(table, 60)[0] == "Users who had systems longest"


def test_table__without_a_width__has_everything() -> None:
    text = "\n".join(shown(Rows(QUEUE.columns, [{**ROW, "whiteboard": "word " * 200 + "end"}]), 10_000))
    assert "word end" in text and LAB in text


needs = st.lists(st.builds(Need, st.integers(1, 60), st.booleans(), st.integers(0, 5)), max_size=12)


@given(needs, st.integers(1, 200))
def test_kept__whatever_columns_there_are__fit_and_no_more_important_one_is_missing(
    asked: list[Need], available: int
) -> None:
    places = fitting_columns(asked, available)
    if places is None:
        least = [need.min_width for need in asked if need.rank == 0]
        assert sum(least) + GAP * (len(least) - 1) > available
        return
    widths = [asked[place].min_width for place in places]
    assert not widths or sum(widths) + GAP * (len(widths) - 1) <= available
    gone = [need.rank for place, need in enumerate(asked) if place not in places]
    assert 0 not in gone
    assert all(asked[place].rank <= rank for place in places for rank in gone)


def test_states__every_state__has_a_colour_or_is_listed_without() -> None:
    states = {*RECIPE.states, *TASK.states, *USAGE.states, *COMMAND.states, *CONDITIONS, *RESULT_ORDER}
    assert states | {one.name for one in Priority} <= set(STYLES)


@pytest.mark.parametrize(
    ("cell", "style"), [("Broken, draining", "red"), ("Urgent as Low", "bold red"), ("nobody knows", "")]
)
def test_style__of_a_cell__is_that_of_its_first_word(cell: str, style: str) -> None:
    assert style_of(cell) == style


CONTROL_CHARACTERS = "\x9b2J\u202egpj.exe\u2066\u2028\x7f"


def test_json__text_with_control_characters__is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).document({"whiteboard": CONTROL_CHARACTERS, "é": "ü"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"whiteboard": CONTROL_CHARACTERS, "é": "ü"}
    assert not set(printed) & set("\x9b\u202e\u2066\u2028\x7f") and "ü" in printed


def test_xml__text_with_control_characters__has_references(capsys: pytest.CaptureFixture[str]) -> None:
    xml(f"<whiteboard>{CONTROL_CHARACTERS}</whiteboard>")
    printed = capsys.readouterr().out
    assert printed == "<whiteboard>&#x9B;2J&#x202E;gpj.exe&#x2066;&#x2028;&#x7F;</whiteboard>\n"


def test_workflow__whiteboard_with_control_characters__is_refused(run: Callable[..., Result]) -> None:
    result = run(
        "workflow", "--distro", "F", "--arch", "x86_64", "--task", "/t", "--whiteboard", CONTROL_CHARACTERS
    )
    assert result.exit_code == 2 and "U+009B" in result.stderr
