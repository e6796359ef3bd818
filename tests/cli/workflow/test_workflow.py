"""Jobs from options: the document, and messages about wrong options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.intake.jobs import read_xml
from tests.intake.schema import is_valid

Run = Callable[..., Result]

MINIMAL = ("--distro", "RHEL-9.6", "--arch", "x86_64", "--task", "/kernel/smoke")
MACHINE = '{"element":"system_type","op":"==","value":"Machine"}'


def made(run: Run, *options: str) -> Any:
    """Return the job that a server parses from the XML, with the names of `tests/intake/jobs.py`."""
    result = run("workflow", *MINIMAL, *options)
    assert result.exit_code == 0, result.output
    body = result.stdout.encode()
    assert is_valid(body)
    return read_xml(body)


def recipe_of(run: Run, *options: str) -> Any:
    ((recipe,),) = (recipe_set.recipes for recipe_set in made(run, *options).recipe_sets)
    return recipe


REQUIRES = [
    # options -> requirements besides the type
    (("--hostrequire", "memory>=8192"), '{"element":"memory","op":">=","value":8192}'),
    (("--hostrequire", "pool=big"), '{"element":"pool","op":"==","value":"big"}'),
    (("--hostrequire", "hypervisor="), '{"element":"hypervisor","op":"==","value":""}'),
    (("--hostrequire", " hypervisor != "), '{"element":"hypervisor","op":"!=","value":""}'),
    (("--hostrequire", "hostname like a%=b"), '{"element":"hostname","op":"like","value":"a%=b"}'),
    (("--hostrequire", "cpu/flag = vmx"), '{"element":"cpu/flag","op":"==","value":"vmx"}'),
    (("--hostrequire", "diskspace > 2 TB"), '{"element":"diskspace","op":">","value":2000000000000}'),
    (("--hostrequire", "disk/size>=4KiB"), '{"disk":[{"element":"size","op":">=","value":4096}]}'),
    (("--hostrequire", "device/driver != e1000"), '{"driver":"e1000","element":"device","op":"!="}'),
    (
        ("--hostrequire", "labcontroller=lab.east.example.com"),
        '{"element":"labcontroller","op":"==","value":"lab.east.example.com"}',
    ),
    (
        ("--hostrequire", '<cpu><flag op="!=" value="svm"/></cpu>'),
        '{"element":"cpu/flag","op":"!=","value":"svm"}',
    ),
    (("--keyvalue", "HVM=1"), '{"element":"key_value","key":"HVM","op":"==","value":"1"}'),
    (("--keyvalue", "NFS like a%"), '{"element":"key_value","key":"NFS","op":"like","value":"a%"}'),
    (("--machine", "a.lab"), '{"element":"hostname","op":"==","value":"a.lab"}'),
    (("--pool", "big"), '{"element":"pool","op":"==","value":"big"}'),
    (
        ("--pool", "big", "--pool", "arm"),
        '{"or":[{"element":"pool","op":"==","value":"arm"},{"element":"pool","op":"==","value":"big"}]}',
    ),
]


@pytest.mark.parametrize(("options", "required"), REQUIRES)
def test_requirement__by_an_option__is_in_the_job(run: Run, options: tuple[str, ...], required: str) -> None:
    both = ",".join(sorted((required, MACHINE)))
    assert recipe_of(run, *options).host_requires == f'{{"and":[{both}]}}'


def test_type__of_an_option__takes_the_place_of_machines(run: Run) -> None:
    assert recipe_of(run).host_requires == MACHINE
    assert recipe_of(run, "--systype", "laptop").host_requires == MACHINE.replace("Machine", "Laptop")


def test_machine__whatever_its_condition__is_forced(run: Run) -> None:
    recipe = recipe_of(run, "--machine", "arm-04.east.example.com", "--ignore-system-status")
    assert recipe.host_requires == '{"force":"arm-04.east.example.com"}'


def test_choice__by_pools_and_chance__is_in_the_recipe(run: Run) -> None:
    recipe = recipe_of(run, "--autopick", "storage", "--autopick", "big", "--random")
    assert (recipe.autopick_random, recipe.autopick_pools) == (True, ("storage", "big"))


def test_job__with_all_options_besides_scheduling__has_them(run: Run) -> None:
    job = made(
        run,
        *("--whiteboard", "w", "--priority", "high", "--job-group", "kernel-qe", "--job-owner", "alice"),
        *("--cc", "a@b.c", "--retention-tag", "active", "--product", "p", "--reserve", "--ignore-panic"),
        *("--reserve-duration", "60", "--method", "nfs", "--ks-meta", "a", "--kernel-options", "k"),
        *("--kernel-options-post", "p", "--repo", "http://r/", "--ks-append", "%post"),
    )
    kept = job.document
    recipe = kept["recipe_sets"][0]["recipes"][0]
    assert (job.whiteboard, job.group, job.owner, job.product) == ("w", "kernel-qe", "alice", "p")
    assert (job.retention_tag, kept["notify"]) == ("active", ["a@b.c"])
    assert kept["recipe_sets"][0]["priority"] == "High"
    assert recipe["reservesys"] == {"duration_seconds": 60, "when": "always"}
    assert recipe["watchdog"] == {"panic": "ignore"}
    assert (recipe["ks_meta"], recipe["kernel_options"], recipe["kernel_options_post"]) == (
        "method=nfs a",
        "k",
        "p",
    )
    assert recipe["repos"] == [{"name": "myrepo_0", "url": "http://r/"}]
    assert recipe["ks_appends"] == ["%post"]


WRONG = [
    ((), ["--distro or --family is required", "--task, --taskfile or --reserve is required"]),
    (
        (*MINIMAL, "--hostrequire", "memroy=1", "--hostrequire", "memory=much", "--keyvalue", "X"),
        ["'memroy=1': unknown element <memroy>", "'memory=much': must be a whole number", "'X': must be"],
    ),
    ((*MINIMAL, "--hostrequire", "<and>"), ["'<and>': is not XML"]),
    ((*MINIMAL, "--hostrequire", "<memory>1</memory>"), ["unexpected text"]),
    ((*MINIMAL, "--hostrequire", "memory"), ['must be "TAG OP VALUE"']),
    ((*MINIMAL, "--hostrequire", "disk/size = 4 GBit"), ["units must be one of"]),
    ((*MINIMAL, "--taskparam", "=b"), ["must be NAME=VALUE"]),
    (("--distro", "F", "--reserve", "--suppress-install-task"), ["leaves no task"]),
    ((*MINIMAL, "--cc", "nobody"), ["notify[0]: must be an email address"]),
]


@pytest.mark.parametrize(("options", "messages"), WRONG)
def test_options__several_wrong__are_all_reported(
    run: Run, options: tuple[str, ...], messages: list[str]
) -> None:
    result = run("workflow", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert all(fault in result.stderr for fault in messages), result.stderr


def test_workflow__piped_into_submit__is_a_job(real: Run) -> None:
    options = ("--distro", "RHEL-9.6", "--arch", "x86_64", "--task", "/kernel/smoke", "--pool", "small")
    result = real("submit", "-", input=real("workflow", *options).stdout)
    assert result.exit_code == 0 and " submitted: recipe set" in result.stdout
