"""The pages that are generated from the code: each is up to date, and shows everything."""

from __future__ import annotations

import re
from dataclasses import fields
from types import ModuleType

import pytest

from api.rest.contract.openapi import plain
from domain.directory.roles import SUBMITTER
from domain.lifecycle import Lifecycle
from runtime.settings import MIGRATE, PROJECTOR, SCHEDULER, SERVE, UP, Settings, flag
from tests.docs import (
    access,
    api_reference,
    beaker_columns,
    beaker_commands,
    locks,
    metrics,
    settings,
    states,
)

# Any submitter may do these, for their own session.
UNCONDITIONAL = {("POST", "/login"), ("POST", "/weights")}


@pytest.mark.parametrize(
    "generator", [access, api_reference, beaker_columns, beaker_commands, locks, metrics, settings, states]
)
def test_page__generated_again__is_equal(generator: ModuleType) -> None:
    assert generator.PAGE.read_text("utf-8") == generator.page(), (
        f"{generator.PAGE.name} is out of date; run `{generator.REGENERATE}`"
    )


def test_access__each_condition__is_of_an_operation() -> None:
    assert access.CONDITIONS.keys() <= {(method, plain(path)) for path, method, _ in access.operations()}


def test_access__changes_open_to_submitters__have_a_condition() -> None:
    unbound = {
        (method, plain(path))
        for path, method, route in access.operations()
        if method != "GET"
        and SUBMITTER in route.roles[method]
        and not access.conditions(plain(path), method, route)
    }
    assert unbound <= UNCONDITIONAL


def test_api_reference__every_operation_and_shape__is_there_and_linked() -> None:
    api, text = api_reference.document(), api_reference.PAGE.read_text("utf-8")
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    # Links to two equal anchors would lead to the first.
    anchors = [_anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    assert len(set(anchors)) == len(anchors)
    operations = [f"{method.upper()} {path}" for path, methods in api["paths"].items() for method in methods]
    assert sorted(headings) == sorted([*operations, *api["components"]["schemas"]])
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)


@pytest.mark.parametrize("process", [UP, MIGRATE, SERVE, SCHEDULER, PROJECTOR])
def test_flags__any_process__are_the_settings_that_it_reads_less_the_secrets(process: str) -> None:
    read = {setting for setting in fields(Settings) if process in setting.metadata["readers"]}
    named = {flag(setting.name) for setting in read if not setting.metadata["secret"]}
    others = {"--help", "--demo", "--partition", "--speed"}
    assert {option for option in settings.options(process) if option not in others} == named


@pytest.mark.parametrize(
    "lifecycle", [machine[-1] for machine in states.MACHINES], ids=lambda made: made.name
)
def test_picture__any_table__has_every_row_start_and_end(lifecycle: Lifecycle) -> None:
    drawn = [line.strip() for line in states.mermaid(lifecycle).splitlines()]
    rows = [f"{before} --> {after}: {when}" for before, after, when in lifecycle.rows]
    begins = [f"[*] --> {state}" for state in lifecycle.start]
    left = {before for before, _, _ in lifecycle.rows}
    ends = [f"{state} --> [*]" for state in lifecycle.states if state not in left]
    assert drawn == ["stateDiagram-v2", *begins, *rows, *ends]


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
