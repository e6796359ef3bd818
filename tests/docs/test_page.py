from __future__ import annotations

import pytest

from tests.docs.page import BadPage, commands, with_recorded

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
