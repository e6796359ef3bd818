"""The group table: a TOML file, checked whole, with the place of each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.group_table import BadGroupTable, GroupTable, read_group_table

GOOD = """
[oidc]
"/lab/kernel" = "kernel"
staff = ["kernel", "readers", "readers"]
[ldap]
"cn=ops,dc=example" = ["ops"]
"""

FAULTY = """
stray = "qa"
[okta]
a = "b"
[oidc]
dotted.name = "kernel"
empty = []
" " = "kernel"
numbers = ["kernel", 7, ""]
twice = "ops"
[ldap]
"cn=ops" = "ops"
QA = "qa"
qa = "quality"
"""


def test_group_table__one_group_or_a_list__has_the_groups_of_each_section(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(GOOD)
    assert read_group_table(file) == GroupTable(
        {"/lab/kernel": ("kernel",), "staff": ("kernel", "readers")}, {"cn=ops,dc=example": ("ops",)}
    )
    assert read_group_table(None) == GroupTable()


def test_group_table__faulty__names_all_faults_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(FAULTY)
    with pytest.raises(BadGroupTable) as refused:
        read_group_table(file)
    found = {fault.where.removeprefix(f"{file}: "): fault.message for fault in refused.value.faults}
    assert list(found) == [
        *("stray", "okta", 'oidc."dotted"', 'oidc."empty"', 'oidc." "'),
        *('oidc."numbers"[1]', 'oidc."numbers"[2]', 'ldap."qa"', 'ldap."cn=ops"'),
    ]
    assert 'group "ops" is in [oidc], too' in found['ldap."cn=ops"']


@pytest.mark.parametrize("content", [b"[oidc", b"\xff", None])
def test_group_table__not_readable__names_the_file(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadGroupTable, match=r"groups\.toml: "):
        read_group_table(file)
