"""Power settings of systems: beside the log, in the commit of their event, for their lab controller alone."""

from __future__ import annotations

from typing import Any

import pytest

from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.power import power_of_own_system, set_power, unset_power
from domain.errors import FaultyInput, NotPermitted, Stale, Unknown
from domain.system_admin.power import PowerSettings
from postgres.errors import DatabaseAway
from store.power import power_settings_of
from store.requests import PowerChange
from tests.in_process.environment import Environment
from tests.use_cases.stored_texts import stored_texts
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by

SECRET = "swordfish-4711"
FQDN = "a"
ILO = PowerSettings("ilo", "bmc-7.example.com", "3", "root", SECRET)


def put(town: Town, fqdn: str, settings: PowerSettings = ILO, *, keeps: bool = False, who: Any = None) -> Any:
    return town.ask(set_power, who or as_admin(), fqdn, settings, keeps_secret=keeps)


def of_lab(town: Town, lab: str, fqdn: str) -> PowerSettings:
    return power_of_own_system(town.services(), lab, fqdn)


def test_power__set_and_changed__is_beside_the_log_alone(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    before = town.log.end()
    put(town, FQDN)
    assert put(town, FQDN) is None
    assert town.since(before) == [(f"system/{FQDN}", "system.power-changed")]
    texts = stored_texts(town)
    assert any("system.power-changed" in text for text in texts)
    for hidden in (SECRET, ILO.address, SECRET.encode().hex(), ILO.address.encode().hex()):
        assert not [text for text in texts if hidden in text]
    assert SECRET not in repr(PowerChange(FQDN, ILO)) + caplog.text
    town.ask(unset_power, as_admin(), FQDN, "a new one")
    assert town.ask(unset_power, as_admin(), FQDN, None) is None
    assert power_settings_of(town.log, FQDN) is None


def test_power__of_a_system_that_moves__is_for_its_present_lab_controller(town: Town) -> None:
    put(town, FQDN)
    assert of_lab(town, LAB, FQDN) == ILO
    for lab, fqdn in ((OTHER_LAB, FQDN), (LAB, "no.such")):
        with pytest.raises(Unknown, match=f"system {fqdn}"):
            of_lab(town, lab, fqdn)
    change = NewSystemValues(lab_controller=OTHER_LAB)
    town.ask(change_system, as_admin(), FQDN, change, lambda _: None)
    assert of_lab(town, OTHER_LAB, FQDN) == ILO
    with pytest.raises(Unknown, match=f"system {FQDN}"):
        of_lab(town, LAB, FQDN)
    town.ask(unset_power, as_admin(), FQDN, None)
    with pytest.raises(Unknown, match="power settings"):
        of_lab(town, OTHER_LAB, FQDN)


def test_secret__kept__is_not_sent_to_another_host(town: Town) -> None:
    bare = PowerSettings("ilo", ILO.address)
    put(town, FQDN)
    put(town, FQDN, bare, keeps=True)
    assert of_lab(town, LAB, FQDN) == PowerSettings("ilo", ILO.address, secret=SECRET)
    for other in (PowerSettings("ilo", "elsewhere"), PowerSettings("drac", ILO.address)):
        with pytest.raises(FaultyInput) as raised:
            put(town, FQDN, other, keeps=True)
        assert SECRET not in str(raised.value) and "secret" in str(raised.value)
    put(town, FQDN, bare)
    assert of_lab(town, LAB, FQDN) == bare


def test_power__by_others_or_for_another_version__is_not_changed(town: Town) -> None:
    end = town.log.end()
    with pytest.raises(NotPermitted):
        put(town, FQDN, who=by("eve"))
    with pytest.raises(Stale):
        put(town, FQDN, who=as_admin(expected=frozenset({99})))
    with pytest.raises(Unknown):
        put(town, "no.such")
    assert (town.log.end(), power_settings_of(town.log, FQDN)) == (end, None)


def test_power__row_cannot_be_stored__nor_is_its_event(town: Town, environment: Environment) -> None:
    table = "ALTER TABLE secret.power_settings"
    environment._owner.execute(f"{table} ADD CONSTRAINT nothing CHECK (false) NOT VALID".encode())
    end = town.log.end()
    with pytest.raises(Exception) as raised:
        put(town, FQDN)
    assert not isinstance(raised.value, DatabaseAway)
    environment._owner.execute(f"{table} DROP CONSTRAINT nothing".encode())
    assert (town.log.end(), power_settings_of(town.log, FQDN)) == (end, None)
