"""The table of reasons in docs/http.md."""

from __future__ import annotations

from domain.scheduling.supply.waiting_reasons import SENTENCES
from tests.docs.page import TOP


def test_table_of_reasons__in_the_docs__has_each_code_in_order() -> None:
    rows = "".join(f"| `{code}` | {sentence} |\n" for code, sentence in SENTENCES.items())
    assert f"| code | reason |\n|---|---|\n{rows}\n" in (TOP / "docs" / "http.md").read_text()
