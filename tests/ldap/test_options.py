"""The settings of LDAP, checked together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from api.ldap.options import LdapServer, ldap_options
from runtime.settings import BadSettings, Settings

COMPLETE = {
    "LABLEDGER_LDAP_URLS": "ldap://one.example.com, ldaps://two.example.com:7636,ldap-plain://127.0.0.1:389",
    "LABLEDGER_LDAP_USER_BASE": "ou=people,dc=example,dc=com",
    "LABLEDGER_LDAP_GROUP_BASE": "ou=groups,dc=example,dc=com",
}


def test_options__complete__have_servers_and_the_section_of_the_table(tmp_path: Path) -> None:
    table = tmp_path / "groups.toml"
    table.write_text('[ldap]\nkernel = "qa"\n')
    settings = Settings.read({**COMPLETE, "LABLEDGER_GROUP_TABLE": str(table)})
    # As another process reads them.
    assert Settings.read(settings.environment()) == settings
    options = ldap_options(settings)
    assert options.servers == (
        LdapServer("one.example.com", None, False, True),
        LdapServer("two.example.com", 7636, True, False),
        LdapServer("127.0.0.1", 389, False, False),
    )
    assert options.group_map == {"kernel": ("qa",)}
    assert "secret" not in repr(replace(options, bind_dn="cn=x", password="secret"))


def test_options__several_faults__are_all_named_without_the_password() -> None:
    environment = {
        "LABLEDGER_LDAP_URLS": "ldap://one.example.com",
        "LABLEDGER_LDAP_PASSWORD": "secret",
        "LABLEDGER_LDAP_USER_BASE": "people",
        "LABLEDGER_LDAP_USER_FILTER": "(uid=*",
    }
    with pytest.raises(BadSettings) as refused:
        ldap_options(Settings.read(environment))
    assert sorted(fault.where for fault in refused.value.faults) == [
        "LABLEDGER_GROUP_TABLE",
        "LABLEDGER_LDAP_BIND_DN",
        "LABLEDGER_LDAP_GROUP_BASE",
        "LABLEDGER_LDAP_USER_BASE",
        "LABLEDGER_LDAP_USER_FILTER",
    ]
    assert "secret" not in str(refused.value)


def test_settings__malformed_values__are_refused_together(tmp_path: Path) -> None:
    no_certificates = tmp_path / "ca.pem"
    no_certificates.write_text("no certificate")
    environment = {
        "LABLEDGER_CA_FILE": str(no_certificates),
        "LABLEDGER_LDAP_URLS": "http://one.example.com",
        "LABLEDGER_LDAP_USER_NAME": "user name",
        "LABLEDGER_LDAP_TIMEOUT_SECONDS": "0",
        "LABLEDGER_LDAP_MAX_REMOVED_PERCENT": "101",
        "LABLEDGER_LDAP_SYNC_SECONDS": "1",
    }
    with pytest.raises(BadSettings) as refused:
        Settings.read(environment)
    assert sorted(fault.where for fault in refused.value.faults) == sorted(environment)
    for url in ("ldap://", "ldap://u:p@host", "ldap://host:x", "ldap://host/dc=x"):
        with pytest.raises(BadSettings):
            Settings.read({"LABLEDGER_LDAP_URLS": url})
