"""The rules for passwords."""

from __future__ import annotations

import pytest

from domain.directory.passwords import faults_of

PASSWORDS = [
    ("correct horse", 0),
    ("ten chars!", 0),
    ("nine char", 1),
    ("", 1),
    # Each character counts as one, whatever its encoded length.
    ("ääääääääää", 0),
    ("x" * 1024, 0),
    ("x" * 1025, 1),
    ("Ada.Lovelace", 1),
]


@pytest.mark.parametrize(("password", "faults"), PASSWORDS)
def test_password__long_enough_and_not_the_name__valid(password: str, faults: int) -> None:
    found = faults_of(password, "ada.lovelace", "password")
    assert len(found) == faults
    assert {fault.where for fault in found} <= {"password"}


def test_password__short_and_equal_to_name__two_faults() -> None:
    assert len(faults_of("ada", "ada", "password")) == 2
