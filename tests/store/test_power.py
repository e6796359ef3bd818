"""Power settings in the statement that appends: many changes, several requests, refused ones."""

from __future__ import annotations

from dataclasses import replace

from domain.system_admin.power import PowerSettings
from store.event_log import EventLog
from store.power import power_settings, power_settings_after
from store.requests import AppendRequest, Committed, Conflict, PowerChange
from tests.harness.appends import append_to

ILO = PowerSettings("ilo", "bmc-1", "3", "root", "secret")
WTI = PowerSettings("wti", "bmc-2")


def setting(request: AppendRequest, **settings: PowerSettings | None) -> AppendRequest:
    return replace(request, power=tuple(PowerChange(name, value) for name, value in settings.items()))


def test_power__of_many_systems_and_requests__is_that_of_the_accepted_ones(log: EventLog) -> None:
    log.append([setting(append_to("a", "b", "c"), a=ILO, b=WTI, c=ILO)])
    assert power_settings(log, "abcd") == {"a": ILO, "b": WTI, "c": ILO}
    outcomes = log.append(
        [
            setting(append_to("d"), d=WTI),
            append_to("e"),
            # At a version that is no longer the present one.
            setting(append_to("a", command_id="stale"), a=WTI, x=WTI),
            setting(append_to("f"), b=ILO, a=None, never=None),
        ]
    )
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Conflict, Committed]
    assert power_settings(log, "abcdx") == {"b": ILO, "c": ILO, "d": WTI}
    # A repetition changes nothing.
    (repeated,) = log.append([setting(append_to("d"), d=ILO)])
    assert isinstance(repeated, Committed) and repeated.repeated
    assert power_settings_after(log, "b", ["c"], 1) == [("d", WTI)]
    assert power_settings(log, []) == {}
