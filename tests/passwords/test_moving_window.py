"""The moving window: bounded counts for a bounded number of keys."""

from __future__ import annotations

from api.moving_window import MovingWindow


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_window__as_often_as_allowed__more_only_when_the_first_is_over() -> None:
    clock = Clock()
    window = MovingWindow(2, 60, clock=clock)
    assert window.take("ada") == 0
    clock.now = 20
    assert window.take("ada") == 0
    clock.now = 30
    assert window.take("ada") == 30
    # A refused call does not count.
    assert window.take("ada") == 30
    clock.now = 60
    assert window.take("ada") == 0
    assert window.take("ada") == 20


def test_window__given_back_or_cleared__counts_no_more() -> None:
    window = MovingWindow(1, 60, clock=Clock())
    for remove in (window.give_back, window.clear):
        assert window.take("ada") == 0
        remove("ada")
    assert len(window) == 0
    window.give_back("ada")


def test_window__many_keys_once_each__expired_keys_are_dropped() -> None:
    clock = Clock()
    window = MovingWindow(5, 60, clock=clock)
    for number in range(1000):
        clock.now = number
        window.take(f"user-{number}")
    assert len(window) == 60


def test_window__more_keys_than_the_maximum__drops_the_least_recent() -> None:
    window = MovingWindow(1, 60, max_keys=3, clock=Clock())
    for key in ("ada", "bob", "eve"):
        window.take(key)
    window.take("mallory")
    assert len(window) == 3
    assert window.take("bob") > 0
    assert window.take("ada") == 0
