"""Options of `bkr workflow-simple`: each one works, or is refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.workflow import host_filters
from cli.workflow.command import workflow
from cli.workflow.options import DONE_ANYWAY, FLAGS, WITH_VALUE
from tests.intake.jobs import read_xml
from tests.intake.schema import is_valid

Run = Callable[..., Result]

DISTRO = ("--distro", "RHEL-9.6", "--arch", "x86_64")
MINIMAL = (*DISTRO, "--task", "/kernel/smoke")

# All options of its manual page, and the spellings for old scripts.
OF_BKR = """
    --hub --insecure --username --password --proxy-user
    --dry-run --dryrun --debug --pretty-xml --prettyxml --wait --no-wait --nowait --quiet
    --family --tag --distro --variant --arch
    --machine --ignore-system-status --systype --hostrequire --host-filter --keyvalue --random
    --task --taskfile --package --task-type --type --install --kdump --ndump --suppress-install-task
    --job-owner --job-group --whiteboard --taskparam --ignore-panic --reserve --reserve-duration --cc
    --priority --retention-tag --product
    --method --kernel-options --kernel-options-post --ks-append --ks-meta --repo --repo-post --kickstart
    --clients --servers
"""


def made(run: Run, *options: str, **more: Any) -> Any:
    result = run("workflow", *MINIMAL, *options, **more)
    assert result.exit_code == 0, result.output
    body = result.stdout.encode()
    assert is_valid(body)
    return read_xml(body)


def recipe_of(run: Run, *options: str, **more: Any) -> Any:
    ((recipe,),) = (recipe_set.recipes for recipe_set in made(run, *options, **more).recipe_sets)
    return recipe


def kept(run: Run, *options: str) -> Any:
    """Return the recipe of the document, with parts that scheduling ignores."""
    return made(run, *options).document["recipe_sets"][0]["recipes"][0]


def tasks(run: Run, *options: str) -> list[tuple[str, dict[str, str]]]:
    return [(task.name, dict(task.params)) for task in recipe_of(run, *options).tasks]


def test_options__all_of_bkr__exist() -> None:
    options = {name for param in workflow.params for name in param.opts}
    assert set(OF_BKR.split()) - options == set()


@pytest.mark.parametrize("option", [*WITH_VALUE, *FLAGS])
def test_option__unsupported__is_refused_with_the_reason(run: Run, option: str) -> None:
    result = run("workflow", *MINIMAL, option, *(["x"] if option in WITH_VALUE else []))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{option}: {({**WITH_VALUE, **FLAGS})[option]}" in result.stderr


def test_options__for_defaults__change_nothing(run: Run) -> None:
    named = [name for names in DONE_ANYWAY for name in names]
    assert run("workflow", *MINIMAL, *named).stdout == run("workflow", *MINIMAL).stdout


def test_options__with_underscores_as_in_old_scripts__are_the_same(run: Run) -> None:
    old = (
        "--retention_tag",
        "active",
        "--product",
        "p",
        "--kernel_options",
        "k",
        "--kernel_options_post",
        "p",
    )
    new = tuple(name.replace("_", "-") for name in old)
    assert run("workflow", *MINIMAL, *old).stdout == run("workflow", *MINIMAL, *new).stdout
    assert kept(run, *old)["kernel_options"] == "k"


def test_tasks__of_a_file_and_by_options__are_in_the_order_of_bkr(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "tasks"
    file.write_text("# all of them\n/one\n\n  /indented\n/two  \nthree\n")
    options = ("--taskfile", str(file), "--kdump", "--ndump", "--install", "vim", "--install", "gcc")
    assert tasks(run, *options, "--taskparam", "A=b") == [
        ("/distribution/check-install", {}),
        ("/distribution/pkginstall", {"PKGARGNAME": "vim gcc"}),
        ("/kernel/networking/ndnc", {}),
        ("/kernel/networking/kdump", {}),
        ("/kernel/smoke", {"A": "b"}),
        ("/one", {"A": "b"}),
        ("/two", {"A": "b"}),
    ]
    warned = run("workflow", *MINIMAL, "--taskfile", str(file)).stderr
    assert "tasks, line 4: not a task" in warned and "tasks, line 6: not a task" in warned


def test_tasks__of_a_file_alone__are_enough(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "tasks"
    file.write_text("/one\n")
    result = run("workflow", *DISTRO, "--taskfile", str(file))
    assert '<task name="/one"' in result.stdout


def test_packages_and_dumps__without_a_task__are_refused(run: Run) -> None:
    result = run("workflow", "--distro", "F", "--install", "vim", "--kdump")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--task, --taskfile or --reserve is required" in result.stderr


def test_kickstart__of_a_file__is_in_the_job_with_the_kernel_options_it_needs(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "my.ks"
    text = "## kernel_options: console=ttyS0 ks\n## kernel_options: not-these\ninstall\n<&>%end\n"
    file.write_text(text)
    recipe = kept(run, "--kickstart", str(file), "--kernel-options", "debug")
    assert (recipe["kickstart"], recipe["kernel_options"]) == (text, "debug console=ttyS0 ks")


def test_repositories__for_afterwards__are_written_when_it_is_installed(run: Run) -> None:
    urls = ("http://a/$basearch/", "http://b/?x=1&y=2")
    options = ("--ks-append", "mine", "--repo-post", urls[0], "--repo-post", urls[1], "--repo", "http://c/")
    recipe = kept(run, *options)
    mine, post = recipe["ks_appends"]
    assert (mine, recipe["repos"]) == ("mine", [{"name": "myrepo_0", "url": "http://c/"}])
    lines = post.splitlines()
    assert (lines[0], lines[-1]) == ("%post", "%end")
    assert [line for line in lines if line.startswith("baseurl")] == [f"baseurl={url}" for url in urls]
    # Each repository has its own file, and the shell expands nothing in it.
    assert [line for line in lines if "<<" in line] == [
        f"cat > /etc/yum.repos.d/beaker-postrepo{number}.repo <<'END'" for number in (0, 1)
    ]


@pytest.fixture
def lab_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "etc"
    folder.mkdir()
    monkeypatch.setattr(host_filters, "FOLDERS", (folder,))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


VMX = '{"element":"cpu/flag","op":"==","value":"vmx"}'
MACHINE = '{"element":"system_type","op":"==","value":"Machine"}'


def test_host_filter__by_its_name__is_in_the_job(run: Run, lab_filters: Path) -> None:
    (lab_filters / "cpus.conf").write_text(
        '# Of this lab.\n\nVIRT   <cpu><flag value="vmx"/></cpu>\nBIG <memory op=">" value="8192"/>\n'
    )
    (lab_filters / "not-read").write_text("nonsense")
    both = recipe_of(run, "--host-filter", "VIRT", "--host-filter", "BIG").host_requires
    assert both == f'{{"and":[{VMX},{{"element":"memory","op":">","value":8192}},{MACHINE}]}}'


def test_host_filter__in_several_files__is_that_of_the_last(
    run: Run, lab_filters: Path, tmp_path: Path
) -> None:
    files = [
        lab_filters / "b.conf",
        lab_filters / "c.conf",
        tmp_path / "home" / ".beaker_client" / "host-filter",
        tmp_path / "config" / "labledger" / "host-filters",
    ]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'MINE <memory value="{number}"/>\n')
        required = recipe_of(run, "--host-filter", "MINE").host_requires
        assert f'"memory","op":"==","value":{number}' in required, file


def wrong_files(folder: Path) -> dict[str, str]:
    (folder / "bytes").write_bytes(b"/one\n\xff")
    (folder / "empty").write_text("\n")
    return {name: str(folder / name) for name in ("bytes", "empty")}


def test_files_and_urls__several_wrong__are_all_reported(run: Run, tmp_path: Path, lab_filters: Path) -> None:
    files = wrong_files(tmp_path)
    result = run(
        *("workflow", *MINIMAL, "--kickstart", files["empty"]),
        *("--repo-post", "http://a/\nrm -rf", "--host-filter", "NONE"),
    )
    assert (result.exit_code, result.stdout) == (2, "")
    for message in (f"--kickstart {files['empty']}: is empty", "--host-filter 'NONE': no such host filter"):
        assert message in result.stderr
    result = run("workflow", *MINIMAL, "--taskfile", files["bytes"], "--repo-post", "http://a/\nrm -rf")
    assert "is not UTF-8, at byte 5" in result.stderr and "must be a URL" in result.stderr
    assert run("workflow", *MINIMAL, "--taskfile", str(tmp_path / "none")).exit_code == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ALONE", "host.conf, line 1: must be a name and XML"),
        ('SLIP <memroy value="1"/>', "'SLIP': unknown element <memroy>"),
        ("SLIP <and>", "'SLIP': is not XML"),
        ('SLIPS <memory value="1"/>', "did you mean SLIPS?"),
    ],
)
def test_host_filter__wrong__is_reported(run: Run, lab_filters: Path, line: str, message: str) -> None:
    (lab_filters / "host.conf").write_text(line)
    result = run("workflow", *MINIMAL, "--host-filter", "SLIP")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
