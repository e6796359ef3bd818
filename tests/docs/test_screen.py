from __future__ import annotations

from tests.docs.screen import Screen


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
