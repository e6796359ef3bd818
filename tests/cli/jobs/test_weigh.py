"""`labledger weigh`: files, standard input and options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

CELLS = {"pool": 0.0, "guest": 0.0, "system": 3.0, "system_resource": 0.0, "network": 0.3}
ANSWER = {"position": 7, "weight": 4.156666666666667, "static_weight": 4.3, "cells": CELLS}
CONFIGURATION = {"weights": {"values": {"none": 0.0, "degrade": 0.3, "maybe": 3, "sure": 3.0}}}
QUESTION = {"locks": {"system": {"Exclusive": ["a"]}}, "age_ticks": 1}


@pytest.fixture
def asked(server: LoopbackServer) -> Callable[[], Any]:
    server.on("POST", "/weights", Answer(ANSWER))
    server.on("GET", "/partitions/default/configuration", Answer(CONFIGURATION))

    def last() -> Any:
        return server.asked_for("POST", "/weights")[-1].json()

    return last


def test_weigh__standard_input__prints_weight_and_levels(asked: Callable[[], Any], run: Run) -> None:
    result = run("weigh", "-", input=json.dumps(QUESTION))
    assert asked() == QUESTION
    lines = [line.split() for line in result.stdout.splitlines()]
    assert result.stdout.startswith("weight 4.15667, before ageing 4.3\n")
    assert ["system", "system=Exclusive:a", "3", "maybe", "or", "sure"] in lines
    assert ["network", "0.3", "degrade"] in lines


def test_weigh__options__are_the_question(asked: Callable[[], Any], run: Run) -> None:
    options = ("--lock", "system=Exclusive:a, b", "--lock", "system=AllShared", "--lock", "whole_lab")
    more = ("--running", "Node=Shared:a", "--running", "whole_lab", "--base", "0.5", "--age", "3")
    assert run("weigh", *options, *more, "--coefficient", "9", "--json").exit_code == 0
    assert asked() == {
        "locks": {"system": ["AllShared", {"Exclusive": ["a", "b"]}], "whole_lab": True},
        "running": [{"system": {"Shared": ["a"]}}, {"whole_lab": True}],
        "base_value": 0.5,
        "age_ticks": 3,
        "coefficient": 9,
    }


def test_weigh__file_and_options__options_replace_its_fields(asked: Callable[[], Any], run: Run) -> None:
    assert json.loads(run("weigh", "-", "--age", "0", "--json", input=json.dumps(QUESTION)).stdout) == ANSWER
    assert asked() == {**QUESTION, "age_ticks": 0}


@pytest.mark.parametrize("options", [(), ("--age", "0")])
def test_weigh__file_without_an_object__is_named(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "question.json"
    file.write_text("[]")
    result = run("weigh", str(file), *options)
    assert (result.exit_code, f"{file}: must be an object" in result.stderr) == (1, True)


def test_weigh__whole_lab__is_declared_at_every_level(asked: Callable[[], Any], run: Run) -> None:
    lines = run("weigh", "--lock", "whole_lab", "--lock", "network=AllShared").stdout.splitlines()
    words_of = {words[0]: words[1:] for words in map(str.split, lines) if words}
    declared = {level: words_of[level][: 2 if level == "network" else 1] for level in CELLS}
    assert declared == {level: ["whole_lab"] for level in CELLS} | {
        "network": ["network=AllShared", "whole_lab"]
    }


@pytest.mark.parametrize("base", ["nan", "1e400", "-1", "one"])
def test_weigh__base_that_is_no_number__is_wrong_usage(run: Run, base: str) -> None:
    result = run("weigh", "--base", base)
    assert result.exit_code == 2
    assert "must be a number of at least 0" in " ".join(result.stderr.split())


@pytest.mark.parametrize("options", [("--lock", "system"), ("--lock", "=AllShared"), ("--running", "pool=")])
def test_weigh__lock_of_another_form__is_wrong_usage(run: Run, options: tuple[str, ...]) -> None:
    result = run("weigh", *options)
    assert result.exit_code == 2
    assert "must be LEVEL=KIND[:NAME,…], as in network=Exclusive:vlan-12, or whole_lab" in result.stderr
