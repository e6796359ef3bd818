"""`labledger partitions`, `partition` and `operations`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from domain.admission.configuration import Configuration, configuration_to_json
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

PATH = "/partitions/default/configuration"
CONFIGURATION = "configuration of partition default"
DEFAULTS = configuration_to_json(Configuration())
NO_QUEUES = {"replaced": {}, "queue_changes": {"added": [], "changed": [], "drained": []}}
QUEUE_CHANGES = {"queue_changes": {"added": ["root.a", "root.b"], "changed": [], "drained": ["root.c"]}}
QUEUES = {**QUEUE_CHANGES, "queues": {}, "replaced": {"queues": {}}}
CHANGED: dict[str, Any] = {**DEFAULTS, "operations": [{"operation": "move", "tasks": [], "locks": {}}]}


def test_configuration__for_people__is_a_table_of_settings(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({"position": 4, **CHANGED}))
    result = run("partition", "configuration")
    rows = dict(line.split() for line in result.stdout.splitlines()[2:])
    assert rows["order.assigned_first"] == "within_priority"
    assert (rows["weights.enabled"], rows["weights.values.degrade"]) == ("yes", "0.3")
    assert (rows["locks.most_overtaken"], rows["limits.placed_recipes"]) == ("8", "none")
    assert (rows["claims.after_ticks"], rows["claims.for_ticks"]) == ("none", "120")
    assert (rows["preemption.enabled"], rows["preemption.most_per_job"]) == ("no", "3")
    assert rows["lab_controllers"] == "none"
    assert rows["placement"] == "provided"
    assert "position" not in rows and len(rows) == 21
    assert "1 own row of the operation table (all rows: labledger operations)\nqueues: " in result.stderr


def test_user_deleted__configurations_still_name_it__a_note_names_their_partitions(
    server: LoopbackServer, run: Run
) -> None:
    gone = {"name": "dave", "removed": True}
    server.on(
        "DELETE",
        "/users/dave",
        Answer({**gone, "named_in": ["default", "gpu"]}),
        Answer({**gone, "named_in": []}),
    )
    deleted = run("user", "delete", "dave")
    assert deleted.stdout == "user dave deleted\n"
    assert "these partitions still name it: default, gpu; it cannot be added again" in deleted.stderr
    assert run("user", "delete", "dave").stderr == ""


@pytest.mark.parametrize("command", ["partition put", "partition show", "user put", "pool delete"])
def test_name__with_a_slash__is_refused_before_any_request(
    server: LoopbackServer, run: Run, command: str
) -> None:
    refused = run(*command.split(), "we/st")
    assert refused.exit_code != 0
    assert refused.stderr == "Error: Invalid input\n  path: 'we/st' must have no slash\n"
    assert server.asked == []


def test_removal__aborts_sets_and_frees_labs__shows_both_and_the_next_step(
    server: LoopbackServer, run: Run
) -> None:
    gone = {"name": "gpu", "removed": True}
    server.on(
        "DELETE",
        "/partitions/gpu",
        Answer({**gone, "aborted_recipe_sets": 2, "lab_controllers": ["a.lab", "b.lab"]}),
        Answer({**gone, "aborted_recipe_sets": 0, "lab_controllers": []}),
    )
    removed = run("partition", "remove", "gpu", "--force")
    assert (
        removed.stdout == "partition gpu removed, 2 recipe sets aborted\nin no partition now: a.lab, b.lab\n"
    )
    assert "labledger partition apply FILE --partition NAME" in removed.stderr
    removed = run("partition", "remove", "gpu")
    assert (removed.stdout, removed.stderr) == ("partition gpu removed\n", "")


def test_hints__of_another_partition__name_it(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", "/partitions/gpu", Answer({"added": True}), Answer({"added": False}))
    server.on("GET", "/partitions/gpu/configuration", Answer({"position": 4, **CHANGED}))
    created = run("partition", "put", "gpu")
    assert created.stdout == "partition gpu created\n"
    assert "labledger partition apply FILE --partition gpu" in created.stderr
    assert run("partition", "put", "gpu").stderr == ""
    shown = run("partition", "configuration", "--partition", "gpu")
    assert "all rows: labledger operations --partition gpu)" in shown.stderr
    assert "queues: labledger queues --partition gpu\n" in shown.stderr


def test_configuration__for_machines__is_what_put_takes(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    server.on("GET", PATH, Answer({"position": 4, "as_of": None, **CHANGED}))
    server.on("PUT", PATH, Answer({"changed": True, **NO_QUEUES}), Answer({"changed": False, **NO_QUEUES}))
    shown = run("partition", "configuration", "--json").stdout
    file = tmp_path / "configuration.json"
    file.write_text(shown)
    assert run("partition", "apply", str(file)).stdout == f"{CONFIGURATION} changed\n"
    assert run("partition", "apply", "-", input=shown).stdout == f"{CONFIGURATION} unchanged\n"
    for asked in server.asked_for("PUT", PATH):
        assert (asked.json(), asked.query) == (CHANGED, {})


@pytest.mark.parametrize(("changed", "outcome"), [(True, "changed"), (False, "unchanged")])
def test_configuration__dry_run__says_what_would_happen(
    server: LoopbackServer, run: Run, changed: bool, outcome: str
) -> None:
    waits = {"effect": "wait", "reason": "no room under a limit: placed recipes (1)"}
    row = {"job_id": 7, "owner": "ada", "priority": "High", "placed": False, "applies": None}
    effects = {"held_back": 1, "freed": 0}
    effects |= {"recipe_sets": [{**row, "recipe_set_id": 2, "before": None, "after": waits}]}
    answer = {"changed": changed, "dry_run": True, "effects": effects, **QUEUES}
    server.on("PUT", PATH, Answer(answer))
    result = run("partition", "apply", "-", "--dry-run", input="{}")
    first, *changes, _, _, row, counts = result.stdout.splitlines()
    assert first == f"{CONFIGURATION} would be {outcome}"
    assert changes == ["2 queues added: root.a, root.b", "1 queue drained: root.c"]
    assert row.split()[:5] == ["2", "7", "ada", "High", "held"]
    assert counts == "1 recipe set would newly be held back or end, 0 freed"
    assert result.stderr == ""
    assert server.asked[0].query == {"dry_run": ["true"]}


def test_apply__of_another_partition__names_it_and_each_changed_setting(
    server: LoopbackServer, run: Run
) -> None:
    path = "/partitions/gpu/configuration"
    sections = {
        "order": {**DEFAULTS["order"], "assigned_first": "always"},
        "limits": {"placed_recipes": 3},
        "lab_controllers": ["lab-2"],
        "placement": [{"rule": "user"}],
        "queues": {"queues": [{"name": "a"}, {"name": "b"}]},
    }
    replaced = {section: DEFAULTS[section] for section in DEFAULTS if section in sections}
    answer = {"changed": True, "replaced": replaced, **DEFAULTS, **sections, **QUEUE_CHANGES}
    server.on("PUT", path, Answer(answer))
    result = run("partition", "apply", "-", "--partition", "gpu", input=json.dumps(sections))
    first, _, _, *rows, added, drained = result.stdout.splitlines()
    assert first == "configuration of partition gpu changed"
    assert [row.split() for row in rows] == [
        ["order.assigned_first", "within_priority", "always"],
        ["limits.placed_recipes", "none", "3"],
        ["lab_controllers", "none", "lab-2"],
        ["placement", "provided", "user"],
    ]
    assert (added, drained) == ("2 queues added: root.a, root.b", "1 queue drained: root.c")
    assert result.stderr == ""


@pytest.mark.parametrize(("number", "has_rows"), [(2, True), (25, True), (26, False)])
def test_apply__of_changed_queues__has_their_settings_unless_they_are_many(
    server: LoopbackServer, run: Run, number: int, has_rows: bool
) -> None:
    def tree(max_systems: int | None, order: str, *others: str) -> dict[str, Any]:
        changed = [{"name": f"q{each}", "max": max_systems, "order": order} for each in range(number)]
        return {"queues": [*changed, *({"name": name, "max": 9} for name in others)]}

    paths = [f"root.q{each}" for each in range(number)]
    changes = {"added": ["root.new"], "changed": paths, "drained": ["root.old"]}
    replaced = {"queues": tree(6, "fifo", "old")}
    answer = {"changed": True, "replaced": replaced, "queues": tree(8, "fair", "new")}
    server.on("PUT", PATH, Answer({**answer, "queue_changes": changes}))
    result = run("partition", "apply", "-", input="{}")
    _, *rows, added, changed, drained = result.stdout.splitlines()
    shown = [row.split() for row in rows[2:]]
    wanted = [
        ["queue", f"{path}:", *setting]
        for path in paths
        for setting in (["max", "6", "8"], ["order", "fifo", "fair"])
    ]
    assert shown == (wanted if has_rows else [])
    assert changed.startswith(f"{number} queues changed: root.q0, root.q1")
    assert (added, drained) == ("1 queue added: root.new", "1 queue drained: root.old")


@pytest.mark.parametrize("applies", [None, "night"])
def test_dry_run__no_filter_applies__has_no_column_of_filters(
    server: LoopbackServer, run: Run, applies: str | None
) -> None:
    stopped = {"effect": "wait", "reason": "held back by the stopped queue: root.k"}
    row = {"job_id": 7, "owner": "ada", "priority": "High", "placed": False, "applies": applies}
    sets = [{**row, "recipe_set_id": 2, "before": None, "after": stopped}]
    effects = {"held_back": 1, "freed": 0, "recipe_sets": sets}
    server.on("PUT", PATH, Answer({"changed": True, "dry_run": True, "effects": effects, **QUEUES}))
    shown = run("partition", "apply", "-", "--dry-run", input="{}").stdout
    assert "held back by the stopped queue: root.k" in shown
    assert ("filter that applies" in shown) == (applies is not None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "configuration.yaml: must be an object"),
        ("", "configuration.yaml: is empty; {} resets a configuration to its defaults"),
        ("# limits: {}\n", "configuration.yaml: is empty; {} resets"),
        ("{", "configuration.yaml, line 1, column 2: is not JSON"),
        ("order: [", "configuration.yaml, line 1: is not YAML: expected the node content"),
        ("limits: {}\nqueues:\n  max: 1\n  max: 2\n", 'configuration.yaml, line 4: "max" occurs twice'),
        (
            "limits: {}\n# \u00fc\norder: \x01\n",
            "configuration.yaml, line 3: is not YAML: unacceptable character #x0001",
        ),
        (b"limits: {}\n# \xff\n", "configuration.yaml, line 2: is not YAML: unacceptable character #x00ff"),
        ("limits:\n  - 2026-01-01\n", "configuration.yaml, line 2: 2026-01-01 is a date: put it in quotes"),
        ('{"order": {},\n "order": {}}', 'configuration.yaml, line 2: "order" occurs twice in one object'),
    ],
)
def test_configuration__file_of_another_form__is_refused(
    server: LoopbackServer, run: Run, tmp_path: Path, text: str | bytes, message: str
) -> None:
    file = tmp_path / "configuration.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = run("partition", "apply", str(file))
    assert result.exit_code == 1 and message in result.stderr
    assert len(result.stderr.splitlines()) == 2
    assert not server.asked


def test_operations__for_people__say_their_locks_and_where_they_are_from(
    server: LoopbackServer, run: Run
) -> None:
    move = {"network": [{"Shared": ["core"]}, {"Exclusive": ["{NET}"]}], "whole_lab": True}
    rows = [
        {
            "operation": "reserve",
            "tasks": ["/r"],
            "locks": {},
            "source": "shipped",
            "replaces_shipped": False,
        },
        {
            "operation": "move",
            "tasks": [],
            "locks": move,
            "source": "configuration",
            "replaces_shipped": True,
        },
    ]
    server.on("GET", "/partitions/default/operations", Answer({"position": 4, "operations": rows}))
    _, _, reserve, moved = run("operations").stdout.splitlines()
    assert reserve.split() == ["reserve", "/r", "none", "shipped"]
    assert "network=Shared:core network=Exclusive:{NET} whole_lab" in moved
    assert moved.endswith("configuration, replaces the shipped row")
    assert json.loads(run("operations", "--json").stdout)["operations"] == rows


def test_partitions__for_people__is_a_table_of_states(server: LoopbackServer, run: Run) -> None:
    rows = [{"name": "default", "state": "draining"}]
    server.on("GET", "/partitions", Answer({"position": 4, "partitions": rows}))
    assert [line.split() for line in run("partitions").stdout.splitlines()[2:]] == [["default", "draining"]]


@pytest.mark.parametrize(
    ("move", "state", "changed", "printed"),
    [
        ("drain", "draining", True, "partition default drains: it takes no new jobs"),
        ("stop", "stopped", True, "partition default stopped: it takes no new jobs and grants nothing"),
        ("start", "active", True, "partition default started: it takes jobs"),
        ("start", "active", False, "partition default was active already"),
    ],
)
def test_partition__moved__prints_what_it_does_now(
    server: LoopbackServer, run: Run, move: str, state: str, changed: bool, printed: str
) -> None:
    path = f"/partitions/default/{move}"
    server.on("POST", path, Answer({"name": "default", "state": state, "changed": changed}))
    assert run("partition", move).stdout.startswith(printed)
    server.asked_for("POST", path)


YAML = """
queues:
  queues:
    - name: kernel
      max: 4   # systems
placement:
  - rule: provided
"""


def test_apply__of_yaml__puts_the_same_document(server: LoopbackServer, run: Run) -> None:
    server.on("PUT", PATH, Answer({"changed": True, **QUEUES}))
    assert run("partition", "apply", "-", input=YAML).stdout.startswith(f"{CONFIGURATION} changed\n")
    assert server.asked[0].json() == {
        "queues": {"queues": [{"name": "kernel", "max": 4}]},
        "placement": [{"rule": "provided"}],
    }


UNQUOTED = """
queues:
  queues:
    - name: 12
      submit: {users: [yes, ada]}
    - name: [a]
"""


def test_apply__of_yaml_with_values_that_are_no_texts__advises_quotes(real: Run) -> None:
    refused = real("partition", "apply", "-", input=UNQUOTED).stderr
    assert "  queues.queues[0].name: must be text: put it in quotes\n" in refused
    assert "  queues.queues[0].submit.users[0]: must be text: put it in quotes\n" in refused
    assert "  queues.queues[1].name: must be text\n" in refused


def test_configurations__for_people__have_their_times_and_authors(server: LoopbackServer, run: Run) -> None:
    rows = [
        {"version": version, "position": 9, "recorded_at": f"2026-11-27T00:00:0{version}.25Z", "actor": "ada"}
        for version in (3, 5)
    ]
    path = "/partitions/default/configurations"
    server.on("GET", path, Answer({"position": 9, "configurations": rows}))
    heading, _, *lines = run("partition", "configurations").stdout.splitlines()
    assert heading.split() == ["version", "time", "(UTC)", "author"]
    assert [line.split() for line in lines] == [
        ["3", "2026-11-27", "00:00:03", "ada"],
        ["5", "2026-11-27", "00:00:05", "ada"],
    ]


def test_diff__of_two_versions__has_each_setting_that_differs(server: LoopbackServer, run: Run) -> None:
    old = {**DEFAULTS, "limits": {"placed_recipes": 3}}
    new = {
        **DEFAULTS,
        "preemption": {**DEFAULTS["preemption"], "enabled": True, "after_seconds": 60},
        "queues": {
            "submit": {"users": ["*"]},
            "queues": [{"name": "a", "limits": [{"user": "*", "max": 2}]}, {"name": "default", "max": 5}],
        },
        "placement": [
            {"rule": "user", "create": True, "parent": {"rule": "fixed", "value": "root.a"}},
            {
                "rule": "tag",
                "value": "product",
                "filter": {"users": ["eve"], "groups": ["qa"], "allow": False},
            },
            {"rule": "provided", "filter": {"users": ["ada"]}},
        ],
    }
    after_rules = "user below root.a, may create; product, not for eve, group qa; provided, for ada"
    for version, document in ((3, old), (5, new)):
        answer = {"version": version, "actor": "ada", "recorded_at": "2026-11-27T00:00:00Z", **document}
        server.on("GET", f"/partitions/default/configurations/{version}", Answer({"position": 9, **answer}))
    shown = run("partition", "diff", "3", "5", "--json").stdout
    assert [tuple(row.values()) for row in json.loads(shown)["differences"]] == [
        ("limits.placed_recipes", "3", "none"),
        ("preemption.enabled", "no", "yes"),
        ("preemption.after_seconds", "30", "60"),
        ("placement", "provided", after_rules),
        ("queue root.a", "none", "there"),
        ("queue root.a: limits", "none", "user=* max=2"),
        ("queue root.default: max", "none", "5"),
    ]
