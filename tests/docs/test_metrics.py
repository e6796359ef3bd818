from __future__ import annotations

from tests.docs.metrics import PAGE, REGENERATE, page


def test_metrics_page__metrics_as_they_are__says_the_same() -> None:
    assert PAGE.read_text() == page(), f"docs/metrics.md is out of date; run `{REGENERATE}`"
