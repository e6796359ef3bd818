"""Systems as a table: written tables read back equal, and faults have row and column."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.intake import systems_csv
from api.intake.systems_csv import COLUMNS, FORMULA, MAX_COLUMNS, read_systems, write_systems
from api.rest.contract.inputs.systems import Cpu, Device, Disk, Exclusion, Properties
from domain.errors import FaultyInput
from tests.rest.whole_system import WHOLE

BESIDE = ("fqdn", "lab_controller", "owner", "condition", "pools")
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,8}", fullmatch=True)
# Texts with quotation marks, brackets, line ends and outer blanks, and empty ones.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
TEXT = st.one_of(
    TEXTS,
    st.sampled_from(
        ["", '"', '""', "[", "[]", "a,b", " a ", "1", "true", "null", "a\r\nb", "=1+1", "@a", "-", "+1"]
    ),
)
COUNT = st.integers(0, 2**31 - 1)
REAL = st.floats(0, 2**31, exclude_max=True)


def record(names: Any, **otherwise: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for an object, which omits unknown parts."""
    return st.fixed_dictionaries({}, optional={name: otherwise.get(name, TEXT) for name in names})


CPU: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(Cpu.model_fields, COUNT),
    **dict.fromkeys(("vendor", "model_name"), TEXT),
    "speed_mhz": REAL,
    "hyper": st.booleans(),
    "flags": st.lists(TEXT),
}
SIZES = dict.fromkeys(("size_bytes", "sector_size", "phys_sector_size"), st.integers(0, 2**63 - 1))
PROPERTIES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(Properties.model_fields, TEXT),
    **dict.fromkeys(("memory_mb", "numa_nodes"), COUNT),
    "arches": st.lists(NAMES),
    # An object without parts is null.
    "cpu": st.fixed_dictionaries({name: st.none() | value for name, value in CPU.items()}).filter(
        lambda cpu: any(value is not None for value in cpu.values())
    ),
    "devices": st.lists(record(Device.model_fields), max_size=3),
    "disks": st.lists(record(Disk.model_fields, **SIZES), max_size=3),
    "key_values": st.dictionaries(NAMES, st.lists(TEXT), max_size=3),
    "excluded_families": st.lists(record(Exclusion.model_fields), max_size=2),
}
NEVER_UNKNOWN = {
    **dict.fromkeys(("fqdn", "lab_controller", "owner", "condition", "added_at"), NAMES),
    "pools": st.lists(NAMES),
}
SYSTEMS = st.fixed_dictionaries(
    {**{name: st.none() | value for name, value in PROPERTIES.items()}, **NEVER_UNKNOWN}
)


def test_columns__besides_the_properties__are_complete() -> None:
    cpu = [f"cpu.{name}" for name in Cpu.model_fields]
    flat = [name for name in Properties.model_fields if name != "cpu"]
    assert sorted(COLUMNS) == sorted([*BESIDE, *flat, *cpu])


@given(st.lists(SYSTEMS, max_size=4))
def test_systems__written_and_read__are_the_same(systems: list[dict[str, Any]]) -> None:
    written = write_systems(systems)
    table = read_systems(written.encode())
    assert (table.systems, table.faults) == (systems, [])
    cells = [cell for row in csv.reader(io.StringIO(written, newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(FORMULA)]
    assert table.rows == list(range(2, len(systems) + 2))


def test_cells__as_people_write_them__are_parsed() -> None:
    head = "fqdn,arches,cpu.flags,cpu.hyper,memory_mb,hypervisor,vendor,pools,owner,added_at"
    rows = [
        'a.b,x86_64  aarch64,vmx sse,TRUE,16,"""""",,,,',
        "",
        ',"[]","[""a b""]",false,1.5,KVM,x,big small,bob,',
        ",,,,,,,,,",
    ]
    table = read_systems("﻿".encode() + "\n".join([head, *rows]).encode())
    assert table.systems == [
        {
            "fqdn": "a.b",
            "arches": ["x86_64", "aarch64"],
            "memory_mb": 16,
            "hypervisor": "",
            "vendor": None,
            "pools": [],
            "cpu": {"flags": ["vmx", "sse"], "hyper": True},
        },
        {
            "fqdn": None,
            "arches": [],
            "memory_mb": 1.5,
            "hypervisor": "KVM",
            "vendor": "x",
            "pools": ["big", "small"],
            "cpu": {"flags": ["a b"], "hyper": False},
            "owner": "bob",
        },
    ]
    assert table.rows == [2, 4]


def test_cells__invalid__are_reported_with_row_and_column() -> None:
    body = 'fqdn,devices,vendor,arches\na.b,{,"""x",[\nb.c,[]\n\nc.d,[],x,y,z\n'
    assert [fault.where for fault in read_systems(body.encode()).faults] == [
        *("row 2, column devices", "row 2, column vendor", "row 2, column arches"),
        *("row 3", "row 5"),
    ]


def test_table__longer_than_is_taken__is_refused_where_that_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    add = systems_csv._add
    monkeypatch.setattr(systems_csv, "_add", lambda table, number, *row: looked_at.append(number))
    with pytest.raises(FaultyInput, match="more than 2 systems"):
        read_systems(b"fqdn\n\na.a\n,\na.b\n\na.c\na.d\n", 2)
    assert looked_at == [3, 5]
    monkeypatch.setattr(systems_csv, "_add", add)
    assert len(read_systems(b"fqdn\na.a\n\na.b\n", 2).rows) == 2


def test_table__thousands_of_columns__are_one_fault() -> None:
    with pytest.raises(FaultyInput) as refused:
        read_systems(b"fqdn" + b",x" * 100_000)
    too_many, unknown = refused.value.faults
    assert str(MAX_COLUMNS) in too_many.message
    assert unknown.message.count("x") == MAX_COLUMNS - 1


NO_TABLES = [
    # An empty table, and one without a column fqdn.
    (b"", ["row 1"]),
    (b"owner\nbob\n", ["row 1"]),
    # Unknown headings, and repeated ones.
    (b"fqdn,colour,memory,fqdn\n", ["row 1", "row 1, column fqdn"]),
    # Not a table, not text.
    (b'fqdn,owner\na,"b\n', ["line 2"]),
    (b"fqdn\n\xff\n", ["body"]),
]


def test_columns__unknown__are_one_fault_with_suggestions() -> None:
    with pytest.raises(FaultyInput) as refused:
        read_systems(b"fqdn,colour,memory_bm\n")
    (fault,) = refused.value.faults
    assert fault.message == "unknown columns: colour, memory_bm (did you mean memory_mb?)"


def test_cell__of_json_with_equal_keys__is_a_fault() -> None:
    (fault,) = read_systems(b'fqdn,key_values\na.b,"{""A"":[],""A"":[1]}"\n').faults
    assert (fault.where, fault.message) == ("row 2, column key_values", '"A" occurs twice in one object')


# A spreadsheet evaluates each of them; a leading quotation mark makes it text.
@pytest.mark.parametrize("begin", ["=", "\n=", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_cell__that_begins_like_a_formula__is_quoted(begin: str) -> None:
    written = write_systems([{"fqdn": "a.b", "vendor": f"{begin}1+1", "arches": [f"{begin}1"]}])
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert not [cell for row in rows for cell in row if cell.startswith(begin)]
    assert read_systems(written.encode()).systems[0]["vendor"] == f"{begin}1+1"


@pytest.mark.parametrize(("body", "places"), NO_TABLES)
def test_table__malformed__is_refused_as_a_whole(body: bytes, places: list[str]) -> None:
    with pytest.raises(FaultyInput) as refused:
        read_systems(body)
    assert [fault.where for fault in refused.value.faults] == places


def test_whole_system__in_a_table__has_a_cell_for_everything() -> None:
    written = write_systems([{"fqdn": "a.b", **WHOLE}])
    (found,) = read_systems(written.encode()).systems
    assert found == {"fqdn": "a.b", **WHOLE}
    assert ",vmx sse4_2," in written and ",big," in written
