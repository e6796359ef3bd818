"""Settings: flags override variables, variables override defaults."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from api.rest.contract.operation import MAX_BATCH_BYTES
from domain.errors import Fault
from domain.job.retention_tags import RetentionTag
from runtime.settings import BadSettings, Settings, default_data


def test_read__nothing_given__has_defaults() -> None:
    settings = Settings.read({})
    assert (settings.host, settings.port, settings.database_url) == ("127.0.0.1", 8080, None)
    assert settings.data == default_data()


def test_read__flag_and_variable__flag_wins() -> None:
    assert Settings.read({"LABLEDGER_PORT": "9000"}, port=9001, data=None).port == 9001


def test_read__variable__wins_over_default() -> None:
    assert Settings.read({"LABLEDGER_PORT": "9000"}, port=None).port == 9000


def test_read__port_zero_as_flag__counts_as_given() -> None:
    assert Settings.read({"LABLEDGER_PORT": "9000"}, port=0).port == 0


def test_read__empty_variable__counts_as_not_set() -> None:
    assert Settings.read({"LABLEDGER_DATABASE_URL": ""}).database_url is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("LABLEDGER_PORT", "http", "must be a whole number from 0 to 65535, not 'http'"),
        ("LABLEDGER_PORT", "65536", "must be a whole number from 0 to 65535, not '65536'"),
        ("LABLEDGER_PORT", "-1", "must be a whole number from 0 to 65535, not '-1'"),
        ("LABLEDGER_MAX_BODY_BYTES", "1", f"must be a whole number from {MAX_BATCH_BYTES} to "),
        ("LABLEDGER_API_WORKERS", "0", "must be a whole number from 1 to 64, not '0'"),
        ("LABLEDGER_DATABASE_URL", "db.example.com", "must begin with postgresql:// or postgres://"),
        ("LABLEDGER_URL", "lab.example.com:80", "must begin with http:// or https://"),
        ("LABLEDGER_LOG_LEVEL", "loud", "must be one of debug, info, warning, error, not 'loud'"),
        ("LABLEDGER_STOP_SECONDS", "nan", "must be a number of seconds above 0, not 'nan'"),
        ("LABLEDGER_LOG_FORMAT", "xml", "must be one of people, json, not 'xml'"),
        ("LABLEDGER_ACCESS_LOG", "perhaps", "must be yes or no, not 'perhaps'"),
        ("LABLEDGER_LONG_POLL_SECONDS", "61", "must be a number of seconds above 0, 60 at most, not '61'"),
        ("LABLEDGER_LEASE_SECONDS", "2.9", "must be a number of seconds, 3 or more, not '2.9'"),
        ("LABLEDGER_CORS_ORIGINS", "lab.example.com", "must be origins such as https://lab.example.com"),
        ("LABLEDGER_PROXIES", "10.0.0.7, proxy", "must be addresses such as 10.0.0.7 or 10.0.0.0/24"),
        ("LABLEDGER_TOKEN", " ll_x", "must be a word without spaces around it"),
    ],
)
def test_read__bad_value__says_where_and_why(name: str, value: str, message: str) -> None:
    with pytest.raises(BadSettings) as bad:
        Settings.read({name: value})
    (fault,) = bad.value.faults
    assert fault.where == name
    assert fault.message.startswith(message)


def test_read__secret_that_is_bad__is_not_printed() -> None:
    with pytest.raises(BadSettings) as bad:
        Settings.read({"LABLEDGER_DATABASE_URL": "psql://me:hunter2@db", "LABLEDGER_TOKEN": "ll_x "})
    assert "hunter2" not in str(bad.value)
    assert "ll_x" not in str(bad.value)


def test_read__several_bad_values__reports_all_at_once() -> None:
    with pytest.raises(BadSettings) as bad:
        Settings.read({"LABLEDGER_LOG_LEVEL": "loud"}, port="x")
    assert [fault.where for fault in bad.value.faults] == ["--port", "LABLEDGER_LOG_LEVEL"]
    assert isinstance(bad.value.faults[0], Fault)


def test_environment__read_by_another_process__gives_the_same_settings(tmp_path: Path) -> None:
    given: dict[str, object] = {
        "data": tmp_path,
        "port": 9001,
        "token": "ll_x",
        "stop_seconds": 0.5,
        "access_log": "no",
    }
    given["proxies"] = "10.0.0.7, 10.1.0.0/24"
    settings = Settings.read({}, **given, cors_origins="https://a.example.com, https://b.example.com")
    assert settings.access_log is False
    assert settings.cors_origins == ("https://a.example.com", "https://b.example.com")
    assert Settings.read(settings.environment()) == settings


def test_retention_tags__as_a_text__have_days_and_products() -> None:
    tags = Settings.read({"LABLEDGER_RETENTION_TAGS": "week:7, kept:0:product"}).retention_tags
    assert tags == (RetentionTag("week", 7), RetentionTag("kept", 0, needs_product=True))
    for wrong in ("week", "week:x", "week:7,week:8", "week:7:products"):
        with pytest.raises(BadSettings, match="retention tag"):
            Settings.read({"LABLEDGER_RETENTION_TAGS": wrong})


def test_settings__every_field__has_purpose_and_readers() -> None:
    assert all(field.metadata["about"] and field.metadata["readers"] for field in fields(Settings))


def test_settings__every_field__has_a_described_default() -> None:
    unset = Settings.read({})
    assert all(getattr(unset, field.name) or field.metadata["unset"] for field in fields(Settings))


def test_issuer__without_what_it_needs__names_all_faults() -> None:
    with pytest.raises(BadSettings) as refused:
        Settings.read(
            {
                "LABLEDGER_OIDC_ISSUER": "https://idp.example.com",
                "LABLEDGER_OIDC_SCOPES": "profile",
                "LABLEDGER_OIDC_CREATES_USERS": "perhaps",
            }
        )
    named = {fault.where.removeprefix("LABLEDGER_") for fault in refused.value.faults}
    assert named == {"OIDC_SCOPES", "OIDC_CREATES_USERS", "OIDC_CLIENT_ID", "WEB_URL"}
    for issuer in ("http://idp.example.com", "https://idp.example.com:99999"):
        with pytest.raises(BadSettings, match="must begin with https://"):
            Settings.read({"LABLEDGER_OIDC_ISSUER": issuer})


@pytest.mark.parametrize(
    ("web_url", "is_safe"),
    [
        ("https://lab.example.com", True),
        ("http://localhost:8080", True),
        ("http://lab.example.com", False),
    ],
)
def test_issuer__address_of_the_service__needs_tls_for_its_cookies(web_url: str, is_safe: bool) -> None:
    environ = {
        "LABLEDGER_OIDC_ISSUER": "https://idp.example.com",
        "LABLEDGER_OIDC_CLIENT_ID": "labledger",
        "LABLEDGER_WEB_URL": web_url,
    }
    if is_safe:
        assert Settings.read(environ).web_url == web_url
    else:
        with pytest.raises(BadSettings, match="LABLEDGER_WEB_URL: must begin with https://"):
            Settings.read(environ)
