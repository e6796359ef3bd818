"""Titles and details of errors."""

from __future__ import annotations

import pytest

from domain.directory.passwords import faults_of
from domain.errors import Unknown


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (Unknown("job 7"), ("Job 7 not found", "job 7", "there is no job 7")),
        (
            Unknown("identity provider", "passwords only"),
            (
                "Identity provider not found",
                "passwords only",
                "there is no identity provider: passwords only",
            ),
        ),
    ],
)
def test_unknown__with_and_without_a_reason__detail_does_not_repeat_the_title(
    error: Unknown, shown: tuple[str, str, str]
) -> None:
    assert (error.title, error.detail, error.sentence) == shown


def test_password__of_one_character__fault_is_in_the_singular() -> None:
    (fault,) = faults_of("x", "ada", "password")
    assert fault.message == "has 1 character, at least 10 are required"
