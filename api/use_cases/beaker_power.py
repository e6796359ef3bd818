"""Power settings of an import from Beaker: new ones from a row, and differences that show no value."""

from __future__ import annotations

from dataclasses import fields
from typing import Final, NamedTuple

from api.intake.beaker_csv import BeakerRow
from domain.errors import FaultyInput
from domain.system.differences import PropertyDifference
from domain.system_admin.power import PowerSettings, secret_after

# Stands for any value. Answers of imports are stored in the log, which must not have power settings.
NOT_SHOWN: Final = "(not shown)"


class NewPower(NamedTuple):
    """The power settings before and after a row; `gives_secret`: whether the row has a secret."""

    before: PowerSettings | None
    after: PowerSettings
    gives_secret: bool


def power_after(row: BeakerRow, before: PowerSettings | None) -> NewPower:
    """Return the settings after a valid row: columns that the file does not have, and the secret, stay.

    Raises FaultyInput as `secret_after` does.
    """
    type_, address = row.values["power_type"], row.values["power_address"]
    given = row.values.get("power_passwd")
    secret = secret_after(before, type_, address, given, keeps_secret=given is None)
    port = row.values.get("power_id", before and before.port)
    user = row.values.get("power_user", before and before.user)
    return NewPower(before, PowerSettings(type_, address, port, user, secret), given is not None)


def requires_secret(row: BeakerRow, before: PowerSettings | None) -> bool:
    """Return whether a row would keep a secret for another type or address."""
    try:
        power_after(row, before)
    except FaultyInput:
        return True
    return False


def power_differences(power: NewPower) -> list[PropertyDifference]:
    """Return the changed settings as `power.user` and so on; a value is NOT_SHOWN, None if there is none."""
    names = [field.name for field in fields(power.after)]
    values = [(name, getattr(power.before, name, None), getattr(power.after, name)) for name in names]
    return [
        PropertyDifference(f"power.{name}", was and NOT_SHOWN, becomes and NOT_SHOWN)
        for name, was, becomes in values
        if was != becomes
    ]
