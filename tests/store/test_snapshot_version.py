"""The version of the code that a snapshot belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.snapshots import digest_of


@pytest.mark.parametrize(
    ("changed", "is_another"), [("rules.py", True), ("cells.json", True), ("notes.txt", False)]
)
def test_digest__file_of_the_domain_changes__is_another_for_code_and_tables(
    tmp_path: Path, changed: str, is_another: bool
) -> None:
    for name in ("rules.py", "cells.json", "notes.txt"):
        (tmp_path / name).write_text("1")
    before = digest_of(tmp_path)
    (tmp_path / changed).write_text("2")
    assert (digest_of(tmp_path) != before) == is_another
