from __future__ import annotations

import pytest

from domain.lifecycle import Lifecycle
from tests.docs.states import MACHINES, PAGE, REGENERATE, mermaid, page


def test_states_page__tables_as_they_are__says_the_same() -> None:
    assert PAGE.read_text() == page(), f"docs/states.md is out of date; run `{REGENERATE}`"


@pytest.mark.parametrize("lifecycle", [machine[-1] for machine in MACHINES], ids=lambda made: made.name)
def test_picture__any_table__has_every_row_start_and_end(lifecycle: Lifecycle) -> None:
    drawn = [line.strip() for line in mermaid(lifecycle).splitlines()]
    rows = [f"{before} --> {after}: {when}" for before, after, when in lifecycle.rows]
    begins = [f"[*] --> {state}" for state in lifecycle.start]
    left = {before for before, _, _ in lifecycle.rows}
    ends = [f"{state} --> [*]" for state in lifecycle.states if state not in left]
    assert drawn == ["stateDiagram-v2", *begins, *rows, *ends]
