"""Requirements for devices: all attributes must hold for a single device."""

from __future__ import annotations

from typing import Any

import pytest

from domain.requirements import vocabulary
from tests.domain.requirements.evaluation import answer

NICS = {
    "devices": [
        {"type": "NETWORK", "driver": "ixgbe", "vendor_id": "14e4"},
        {"type": "SCSI", "driver": "e1000", "vendor_id": None},
    ]
}


@pytest.mark.parametrize(
    ("attributes", "inventory", "expected"),
    [
        ({"type": "network", "driver": "IXGBE"}, NICS, True),
        # one device has the type and another the driver
        ({"type": "NETWORK", "driver": "e1000"}, NICS, False),
        ({"op": "!=", "type": "NETWORK", "driver": "e1000"}, NICS, True),
        ({"op": "!=", "vendor_id": "14E4"}, NICS, False),
        ({"op": "!=", "vendor_id": "14E4"}, {}, True),
        ({"op": "!=", "vendor_id": "14E4"}, {"devices": []}, True),
        ({"op": "like", "driver": "e1%"}, NICS, True),
        # a type is never a pattern
        ({"op": "like", "type": "NET%"}, NICS, False),
        ({"op": "like", "driver": "%"}, {}, False),
        ({"driver": "ixgbe"}, {"devices": None}, False),
        ({"bus": "pci"}, NICS, False),
    ],
)
def test_device__one_system__answer_of_table(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    asked = {"element": "device", **attributes}
    assert answer(asked, inventory) is expected
    assert answer({"not": [asked]}, inventory) is not expected


OF_DEVICES = ("type", "bus", "driver", "vendor_id", "device_id", "subsys_vendor_id", "subsys_device_id")
OF_ONE_DEVICE = [
    # op, value, and the answers if a device has "14E4", and if no device has the attribute
    ("=", "14e4", True, False),
    ("==", "14E4", True, False),
    ("=", "8086", False, False),
    ("=", "14%", False, False),
    ("!=", "14E4", False, True),
    ("!=", "8086", True, True),
    ("like", "14E4", True, False),
    ("like", "1_e%", True, False),
    ("like", "8%", False, False),
]
WITHOUT: list[dict[str, Any]] = [{}, {"devices": None}, {"devices": []}, {"devices": [{}]}]


@pytest.mark.parametrize("attribute", (*OF_DEVICES, "description"))
@pytest.mark.parametrize(("op", "value", "held", "lacking"), OF_ONE_DEVICE)
def test_device__each_attribute__answer_of_table(
    attribute: str, op: str, value: str, held: bool, lacking: bool
) -> None:
    asked = {"element": "device", "op": op, attribute: value}
    if attribute == "type" and "_" in value:
        held = False  # A type is never a pattern.
    answers = [(having, held) for having in ({attribute: "14E4"}, {attribute: "14e4", "bus": "14e4"})]
    answers += [({attribute: None}, lacking)]
    for device, said in answers:
        assert answer(asked, {"devices": [{}, device]}) is said, device
    for inventory in WITHOUT:
        assert answer(asked, inventory) is lacking, inventory


def test_table__of_devices__has_each_attribute() -> None:
    assert {*vocabulary.SYSTEM.elements["device"].attributes} == {*OF_DEVICES, "description"}
