"""`labledger rerun`: what it asks for, edited copies, and its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import HANG_UP, Answer, LoopbackServer, ReceivedRequest
from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]

PATH = "/jobs/20/rerun"
NO_GROUP = {"where": "group", "message": "the copy is for no group, because bob is not in qa"}
PARTS: dict[str, Any] = {"partition": "default", "queue": "root.default", "recipe_set_ids": [5]}
COPY = {"position": 9, "job_id": 21, "recipe_ids": [7], **PARTS, "warnings": []}
DRAFT = {"position": 8, "job_id": 20, "media_type": "application/xml", "job": "<job/>\n", "warnings": []}
LINE = "job 21 submitted: recipe set 5, recipe 7 (labledger watch 21), a copy of job 20\n"
REFUSED = Answer({"title": "Wrong", "errors": [{"where": "line 2", "message": "is wrong"}]}, 422)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, str]]:
    """Return a function that returns the environment of an editor, which runs a line of shell on the file."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def make(line: str) -> dict[str, str]:
        script = tmp_path / "editor"
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
        return {"VISUAL": str(script)}

    return make


@pytest.mark.parametrize(
    ("options", "body"),
    [((), {}), (("--failed",), {"failed": True}), (("--sets", "5,7"), {"sets": [5, 7]})],
)
def test_rerun__with_options__asks_for_the_sets(
    server: LoopbackServer, run: Run, options: tuple[str, ...], body: dict[str, Any]
) -> None:
    server.on("POST", PATH, Answer({**COPY, "warnings": [NO_GROUP]}, 201))
    result = run("rerun", "20", *options)
    assert (result.exit_code, result.stdout) == (0, LINE), result.stderr
    assert result.stderr == f"job 20: warnings:\n  group: {NO_GROUP['message']}\n"
    assert server.asked_for("POST", PATH)[0].json() == body
    as_json = run("rerun", "20", *options, "--json")
    assert json.loads(as_json.stdout) == {"origin": 20, **COPY, "warnings": [NO_GROUP]}
    assert as_json.stderr == ""


def test_rerun__answer_lost__is_repeated_under_the_same_key(server: LoopbackServer, run: Run) -> None:
    server.on("POST", PATH, Answer(status=HANG_UP), Answer(COPY, 201))
    assert run("rerun", "20").exit_code == 0
    keys = [asked.headers["Idempotency-Key"] for asked in server.asked_for("POST", PATH)]
    assert len(keys) == 2 and len(set(keys)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sets", "5,x"), "'5,x': must be numbers of recipe sets with commas between them, such as 7,9"),
        (("--sets", "5", "--failed"), "--failed and --sets exclude each other."),
    ],
)
def test_rerun__wrong_options__is_wrong_usage(run: Run, options: tuple[str, ...], message: str) -> None:
    result = run("rerun", "20", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_edit__valid_job__is_submitted_as_edited(
    server: LoopbackServer, run: Run, editor: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    server.on("GET", PATH, Answer({**DRAFT, "warnings": [NO_GROUP]}))
    server.on("POST", PATH, Answer(COPY, 201))
    result = run("rerun", "20", "--sets", "5,7", "--edit", env=editor('echo "<!-- $1 -->" >> "$1"'))
    assert (result.exit_code, result.stdout) == (0, LINE), result.stderr
    assert NO_GROUP["message"] in result.stderr
    assert server.asked_for("GET", PATH)[0].query == {"sets": ["5", "7"]}
    sent = server.asked_for("POST", PATH)[0].json()["job"]
    assert sent.startswith("<job/>\n<!-- ") and sent.endswith(".xml -->\n")
    assert not list(tmp_path.glob("*.xml"))


def test_edit__refused_job__shows_each_fault_and_keeps_the_file(
    server: LoopbackServer, run: Run, editor: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    server.on("GET", PATH, Answer({**DRAFT, "media_type": "application/json", "job": "{}"}))
    server.on("POST", PATH, REFUSED)
    result = run("rerun", "20", "--edit", env=editor('echo edited > "$1"'))
    (kept,) = tmp_path.glob("*.json")
    assert (result.exit_code, kept.read_text()) == (1, "edited\n")
    assert f"{kept}:\nError: Wrong\n  line 2: is wrong\n" in result.stderr
    assert result.stderr.endswith(f"The edited job is in {kept}.\n")


def test_edit__again_after_a_refusal__goes_on_with_the_edited_file(
    server: LoopbackServer,
    run: Run,
    editor: Callable[[str], dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cli.jobs.rerun.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    server.on("GET", PATH, Answer(DRAFT))

    def answer(asked: ReceivedRequest) -> Answer:
        return Answer(COPY, 201) if asked.json()["job"] == "<job/>\nmore\nmore\n" else REFUSED

    server.on("POST", PATH, answer)
    result = run("rerun", "20", "--edit", env=editor('echo more >> "$1"'), input="y\n")
    assert (result.exit_code, result.stdout) == (0, LINE), result.stderr


@pytest.mark.parametrize(("line", "how"), [(': > "$1"', "empty"), ("true", "unchanged")])
def test_edit__file_emptied_or_unchanged__submits_nothing(
    server: LoopbackServer,
    run: Run,
    editor: Callable[[str], dict[str, str]],
    tmp_path: Path,
    line: str,
    how: str,
) -> None:
    server.on("GET", PATH, Answer(DRAFT))
    result = run("rerun", "20", "--edit", env=editor(line))
    assert (result.exit_code, f"is {how}, so nothing was submitted" in result.stderr) == (1, True)
    assert not server.asked_for("POST", PATH) and not list(tmp_path.glob("*.xml"))


def test_edit__no_terminal_and_no_editor__is_wrong_usage(server: LoopbackServer, run: Run) -> None:
    result = run("rerun", "20", "--edit", env={"VISUAL": None, "EDITOR": None})
    assert result.exit_code == 2 and "There is no terminal to edit on" in result.stderr
    assert not server.asked


def test_rerun__at_a_service__job_and_copy_name_each_other(service: Running) -> None:
    job_id = service.json("submit", str(SAMPLES / "kernel-smoke.xml"))["job_id"]
    assert f"no recipe set of job {job_id} has failed" in service.labledger(
        "rerun", str(job_id), "--failed", status=1
    )
    copy = service.json("rerun", str(job_id))["job_id"]
    for number in (job_id, copy):
        service.labledger("cancel", str(number))
    assert f"\n  copies: {copy}\n" in service.labledger("job", str(job_id))
    shown = service.labledger("job", str(copy))
    assert f"\n  origin: {job_id}\n" in shown and "copies" not in shown
