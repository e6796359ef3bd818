"""What a password must be."""

from __future__ import annotations

import pytest

from domain.directory.passwords import faults_of

PASSWORDS = [
    ("correct horse", 0),
    ("ten chars!", 0),
    ("nine char", 1),
    ("", 1),
    # Any character counts as one, whatever it takes to write it.
    ("ääääääääää", 0),
    ("x" * 1024, 0),
    ("x" * 1025, 1),
    ("Ada.Lovelace", 1),
]


@pytest.mark.parametrize(("password", "faults"), PASSWORDS)
def test_password__long_enough_and_not_the_name__is_taken(password: str, faults: int) -> None:
    found = faults_of(password, "ada.lovelace", "password")
    assert len(found) == faults
    assert {fault.where for fault in found} <= {"password"}


def test_password__short_and_the_name__both_are_told() -> None:
    assert len(faults_of("ada", "ada", "password")) == 2
