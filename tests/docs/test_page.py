"""Pages of the docs, their commands, and the comparison of output."""

from __future__ import annotations

import pytest

from tests.docs.output_match import match_output, refreshed, time_faults, with_values
from tests.docs.page import BadPage, commands, with_recorded
from tests.docs.screen import Screen

PAGE = """# Title

<!-- exits: 1 -->
```console
$ labledger job 9
Error: none
```

Said in between.

```json
$ is no command here
```

```console
$ first \\
    goes on
line one

line two

$ second
```
"""


def test_commands__several_blocks__each_with_its_line_output_and_marks() -> None:
    failing, first, second = commands(PAGE)
    assert (failing.text, failing.line, failing.recorded, failing.status) == (
        "labledger job 9",
        5,
        ("Error: none",),
        1,
    )
    assert (first.text, first.line) == ("first \\\n    goes on", 16)
    assert first.recorded == ("line one", "", "line two")
    assert first.status == 0
    assert (second.text, second.recorded) == ("second", ())


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("```console\noutput\n```\n", id="output without a command"),
        pytest.param("<!-- exits: 1 -->\n```console\n$ a\n$ b\n```\n", id="a status for two commands"),
        pytest.param("<!-- exit: 1 -->\n```console\n$ a\n```\n", id="an unknown mark"),
    ],
)
def test_commands__page_that_cannot_be_run__says_where(source: str) -> None:
    with pytest.raises(BadPage, match=r"line [23]"):
        commands(source)


def test_commands__here_document__is_typed_not_printed() -> None:
    (command,) = commands("```console\n$ cat >a <<'END'\none\n\ntwo\nEND\nprinted\n```\n")
    assert (command.text, command.recorded) == ("cat >a <<'END'\none\n\ntwo\nEND", ("printed",))


def test_commands__mark_apart_from_its_block__is_none_of_it() -> None:
    (command,) = commands("<!-- exits: 1 -->\n\nText.\n\n```console\n$ a\n```\n")
    assert command.status == 0


def test_with_recorded__another_output__replaces_only_that() -> None:
    _, first, second = commands(PAGE)
    said = with_recorded(PAGE, first, first.text, ["new"])
    assert said == PAGE.replace("line one\n\nline two", "new")
    assert with_recorded(PAGE, second, "other", []) == PAGE.replace("$ second", "$ other")


TABLE = [
    "      77  2026-11-21 10:15:47  recipe.queued  recipe/1",
    "recipe   in state   system",
    "──────────────────────────",
    "     1   1m 5s      a.example.com",
]


@pytest.mark.parametrize(
    ("recorded", "printed"),
    [
        pytest.param(TABLE, TABLE, id="the same"),
        pytest.param(["at 2026-11-21 10:15:47, 1m 5s"], ["at 2027-01-02 03:04:05, 59s"], id="another time"),
        pytest.param(["a     b", "────"], ["a b", "─"], id="other widths"),
        pytest.param(["token: ll_…"], [f"token: ll_{'x' * 43}"], id="a token, which no page shows"),
        pytest.param(["a", "…", "d"], ["a", "b", "c", "d"], id="lines that are not shown"),
        pytest.param(["a", "…", "d"], ["a", "d"], id="no lines that are not shown"),
        pytest.param(["job 1 …: recipe 1"], ["job 1 waiting: recipe 1"], id="a word that is not shown"),
        pytest.param(["1  …  a"], ["1        a"], id="an empty cell"),
    ],
)
def test_match__only_varying_values_differ__matches(recorded: list[str], printed: list[str]) -> None:
    assert match_output(recorded, printed) is not None


@pytest.mark.parametrize(
    ("recorded", "printed"),
    [
        pytest.param(["job 1"], ["job 2"], id="another number"),
        pytest.param(["running"], ["waiting"], id="another state"),
        pytest.param(["a"], ["a", "b"], id="a line more"),
        pytest.param(["a", "b"], ["a"], id="a line less"),
        pytest.param(["a"], [], id="nothing"),
        pytest.param(["token: ll_…"], ["token: none"], id="no token"),
        pytest.param(["job … 1"], ["job waiting", "1"], id="the rest in another line"),
        pytest.param(["for 5s"], ["for ever"], id="no span of time"),
        pytest.param(["a.b"], ["axb"], id="a dot is a dot"),
    ],
)
def test_match__other_text_differs__does_not_match(recorded: list[str], printed: list[str]) -> None:
    assert match_output(recorded, printed) is None


def test_match__positions_and_ids__are_those_of_this_run_in_later_commands() -> None:
    recorded = [TABLE[0], "…", "token 0123456789ab: new", '{"position": 80}', '{"position":81}', "id: 82"]
    printed = [TABLE[0].replace("77", "178"), "more", "token ba9876543210: new", '{"position": 181}']
    printed += ['{"position":182}', "id: 183"]
    values = match_output(recorded, printed)
    ids = {"0123456789ab": "ba9876543210"}
    assert values == {"77": "178", **ids, "80": "181", "81": "182", "82": "183"}
    command = (
        "labledger events --after 77; labledger recipe 77 --as-of 80; labledger token revoke 0123456789ab"
    )
    assert with_values(command, values) == (
        "labledger events --after 178; labledger recipe 77 --as-of 181; labledger token revoke ba9876543210"
    )


def test_refreshed__matching_lines__are_replaced_and_stay_cut() -> None:
    recorded = ["at position 5", "…", "for 5s", "another", "job 1 … here since 2026-11-21 10:15:47"]
    printed = ["at position 77", "more", "for 59s", "job 1 is running here since 2027-01-02 03:04:05"]
    expected = ["at position 77", "…", "for 59s", "another", "job 1 … here since 2027-01-02 03:04:05"]
    assert refreshed(recorded, printed) == expected


@pytest.mark.parametrize(
    ("recorded", "printed", "expected"),
    [
        (
            "at 2026-11-21 10:15:47  9s  5  …",
            "at 2027-01-02 03:04:05  1m 9s  77  a",
            "at 2027-01-02 03:04:05  1m 9s  77  …",
        ),
        ("1  …     5s  a", "1  wide column  59s  a", "1  …            59s  a"),
        ("1  …     5s  a", "1      59s  a", "1  …   59s  a"),
        ("a=… b=… 5s", "a=1 b=2 59s", "a=… b=… 59s"),
    ],
)
def test_refreshed__cut_line__has_the_times_and_columns_of_this_run(
    recorded: str, printed: str, expected: str
) -> None:
    assert refreshed([recorded], [printed]) == [expected]


QUEUED = "     270  2026-11-22 00:02:33  recipe.queued             recipe/17"


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("     266  2026-11-22 00:02:33  recipe.queued             recipe/16", False),
        ("     266  2026-11-22 00:02:34  recipe.queued             recipe/16", False),
        ("     266  2026-11-23 00:02:33  recipe.queued             recipe/16", True),
        ("scheduled  2026-11-22 00:02:53   0s       358  …", False),
        ("scheduled  2026-11-21 00:02:53   0s       358  …", True),
        ("completed  2026-11-21 00:02:53            358  …", True),
        ("2026-11-21 00:02:53   0s  Automated  idle                      358", True),
        ("as of position 358, 2026-11-21 23:59:51 (UTC)", True),
        ("http://127.0.0.1:8080, 2026-11-22 00:03:31 at position 136", True),
        ("   3  2026-11-24 00:00:04  carol  2a596da03475  GET /events", False),
    ],
)
def test_time_faults__times_against_the_order_of_positions__are_found(line: str, is_fault: bool) -> None:
    assert bool(time_faults([QUEUED, line])) == is_fault


def test_screen__picture_drawn_again__shows_the_last() -> None:
    screen = Screen()
    screen.feed("$ watch\r\n\x1b[?25lwaiting\r\nnow\x1b[1m!\x1b[0m")
    screen.feed("\r\x1b[2K\x1b[1A\x1b[2Krun")
    screen.feed("ning   \r\n\x1b")
    screen.feed("[?25hdone\n")
    assert screen.lines() == ["$ watch", "running", "done"]


def test_screen__bar_that_goes_when_all_is_done__leaves_nothing() -> None:
    screen = Screen()
    screen.feed("folding ━━ 1/2\r\x1b[2Kfolding ━━ 2/2\n\r\x1b[1A\x1b[2Kfolded\tall\n")
    assert screen.lines() == ["folded  all"]
