from __future__ import annotations

from dataclasses import fields

import pytest

from runtime.settings import MIGRATE, PROJECTOR, SCHEDULER, SERVE, UP, Settings, flag
from tests.docs.settings import PAGE, REGENERATE, options, page


def test_settings_page__settings_as_they_are__says_the_same() -> None:
    assert PAGE.read_text() == page(), f"docs/configuration.md is out of date; run `{REGENERATE}`"


@pytest.mark.parametrize("process", [UP, MIGRATE, SERVE, SCHEDULER, PROJECTOR])
def test_flags__any_process__are_the_settings_that_it_reads_less_the_secrets(process: str) -> None:
    read = {setting for setting in fields(Settings) if process in setting.metadata["readers"]}
    named = {flag(setting.name) for setting in read if not setting.metadata["secret"]}
    assert {option for option in options(process) if option not in ("--help", "--demo")} == named
