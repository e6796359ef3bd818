"""The alert rules: they are valid, use existing metrics, and fire when they must and only then."""

from __future__ import annotations

import re

from tests.prometheus.exposed import Exposed
from tests.prometheus.tools import RULES, TOP, promtool

ALERTS = (RULES / "alerts.yml").read_text()
UNIT_TESTS = TOP / "tests" / "prometheus" / "alerts_test.yml"


def test_alert_rules__checked_by_promtool__are_valid() -> None:
    status, said = promtool("check", "rules", "--lint-fatal", str(RULES / "alerts.yml"))
    assert status == 0, said


def test_alert_rules__on_made_up_series__fire_where_they_must() -> None:
    status, said = promtool("test", "rules", str(UNIT_TESTS))
    assert status == 0, said


def test_alert_rules__each_rule__has_a_test_in_which_it_fires() -> None:
    fires = re.findall(r"alertname: (\w+)\n +exp_alerts:\n", UNIT_TESTS.read_text())
    assert sorted(fires) == sorted(re.findall(r"- alert: (\w+)", ALERTS))


def test_alert_rules__metrics_in_them__exist(exposed: Exposed) -> None:
    named = set(re.findall(r"\blabledger_\w+", ALERTS))
    assert named and named <= {sample.name for sample in exposed.samples()}
