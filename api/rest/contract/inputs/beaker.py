"""Inputs of the import from Beaker: the files, and the values of their rows by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from api.intake import beaker_columns as kinds
from api.rest.contract.inputs.systems import PowerType, PowerWord
from api.rest.contract.values import Condition, Flag, Fqdn, Input, Name, Text

# More are a mistake: Beaker has nine kinds of files.
MAX_FILES = 100


class BeakerFile(Input):
    """A CSV file of Beaker; `name` is that in the locations of errors."""

    name: Annotated[Text, Field(min_length=1, max_length=255)]
    text: str


class BeakerFiles(Input):
    """Files of any kinds, which may refer to each other."""

    files: Annotated[list[BeakerFile], Field(min_length=1, max_length=MAX_FILES)]


class OfSystem(Input):
    fqdn: Fqdn


class BeakerSystemRow(OfSystem):
    lender: Text | None = None
    location: Text | None = None
    mac_address: Text | None = None
    memory: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    model: Text | None = None
    serial: Text | None = None
    vendor: Text | None = None
    arch: list[Name] | None = None
    lab_controller: Fqdn | None = None
    owner: Name | None = None
    status: Condition | None = None
    type: Literal["Machine", "Prototype", "Laptop", "Resource"] | None = None
    status_reason: Text | None = None
    secret: Flag | None = None
    deleted: Flag | None = None


class LabInfoRow(OfSystem):
    orig_cost: Text | None = None
    curr_cost: Text | None = None
    dimensions: Text | None = None
    weight: Text | None = None
    wattage: Text | None = None
    cooling: Text | None = None


class KeyValueRow(OfSystem):
    key: Name
    key_value: Text
    deleted: Flag | None = None


class ExcludeRow(OfSystem):
    arch: Name
    family: Name
    update: Text | None = None
    excluded: Flag


class SystemPoolRow(OfSystem):
    pool: Name
    deleted: Flag | None = None


class UserGroupRow(Input):
    user: Name
    group: Name
    deleted: Flag | None = None


class PowerRow(OfSystem):
    power_address: PowerWord
    power_user: PowerWord | None = None
    power_passwd: PowerWord | None = None
    power_id: PowerWord | None = None
    power_type: PowerType


class InstallRow(OfSystem):
    arch: Name
    family: Name | None = None
    update: Text | None = None
    ks_meta: Text | None = None
    kernel_options: Text | None = None
    kernel_options_post: Text | None = None


ROWS: Final[Mapping[str, type[Input]]] = {
    kinds.SYSTEM: BeakerSystemRow,
    kinds.LABINFO: LabInfoRow,
    kinds.KEY_VALUE: KeyValueRow,
    kinds.EXCLUDE: ExcludeRow,
    kinds.SYSTEM_POOL: SystemPoolRow,
    kinds.USER_GROUP: UserGroupRow,
    kinds.POWER: PowerRow,
    kinds.INSTALL: InstallRow,
}
