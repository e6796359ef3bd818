"""The documents of `labledger workflow`, compared with those of `bkr workflow-simple` for the same options.

The expected documents follow from the options as bkr 28 reads them. Texts of kickstarts are in
`test_bkr_options.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer
from tests.intake.jobs import read_json, read_xml

Run = Callable[..., Result]

CHECK = '<task name="/distribution/check-install" role="STANDALONE"/>'
PLAIN = '<task name="/t" role="STANDALONE"/>'
MINIMAL = ("--distro", "RHEL-9.6", "--task", "/t")


def name(name: str = "RHEL-9.6") -> str:
    return f'<distro_name op="=" value="{name}"/>'


def recipe(distro: str, *, arch: str = "x86_64", tasks: str = CHECK + PLAIN, attributes: str = "",
           host: str = "", rest: str = "") -> str:  # fmt: skip
    return (
        f"<recipe {attributes}><distroRequires><and>{distro}"
        f'<distro_arch op="=" value="{arch}"/></and></distroRequires>'
        f"{host or '<hostRequires/>'}{tasks}{rest}</recipe>"
    )


def job(*sets: str, whiteboard: str = "", attributes: str = "") -> str:
    together = "".join(f'<recipeSet priority="Normal">{each}</recipeSet>' for each in sets)
    return f'<job retention_tag="Scratch" {attributes}><whiteboard>{whiteboard}</whiteboard>{together}</job>'


def of_role(role: str) -> str:
    return recipe(name(), tasks=f'{CHECK}<task name="/t" role="{role}"/>')


FORCED = recipe(name(), host='<hostRequires force="arm-04.east.example.com"/>')
DOCUMENTS = [
    # A name overrides family and tags.
    (("--family", "F", "--tag", "A", "--variant", "Server"),
     job(recipe(name() + '<distro_variant op="=" value="Server"/>'))),
    # Parameters apply to the requested tasks; the last of equal ones wins.
    (("--taskparam", "A=b=c", "--taskparam", "A=d", "--install", "vim"),
     job(recipe(name(), tasks=CHECK
         + '<task name="/distribution/pkginstall" role="STANDALONE">'
         '<params><param name="PKGARGNAME" value="vim"/></params></task>'
         '<task name="/t" role="STANDALONE"><params><param name="A" value="d"/></params></task>'))),
    # A requested check of the installation is a task like any other.
    (("--task", "/distribution/check-install", "--taskparam", "A=b"),
     job(recipe(name(), tasks="".join(
         f'<task name="{each}" role="STANDALONE"><params><param name="A" value="b"/></params></task>'
         for each in ("/t", "/distribution/check-install"))))),
    (("--suppress-install-task",), job(recipe(name(), tasks=PLAIN))),
    (("--whiteboard", "w"), job(recipe(name(), attributes='whiteboard="w"'), whiteboard="w")),
    # Tasks have roles, recipes have none.
    (("--servers", "1", "--clients", "2"), job(of_role("SERVERS") + of_role("CLIENTS") * 2)),
    (("--arch", "aarch64"), job(recipe(name()), recipe(name(), arch="aarch64"))),
    (("--repo", "http://a/", "--repo", "http://b/"),
     job(recipe(name(), rest='<repos><repo name="myrepo_0" url="http://a/"/>'
                             '<repo name="myrepo_1" url="http://b/"/></repos>'))),
    # A forced system overrides any other selection.
    (("--machine", "arm-04.east.example.com", "--ignore-system-status", "--systype", "Laptop", "--random",
      "--keyvalue", "HVM=1", "--hostrequire", "memory>1", "--host-filter", "NONE"), job(FORCED)),
    (("--ignore-system-status",), job(recipe(name()))),
    (("--reserve-duration", "60"), job(recipe(name()))),
    (("--reserve", "--ignore-panic"),
     job(recipe(name(), rest='<reservesys/><watchdog panic="ignore"/>'))),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), DOCUMENTS)
def test_options__read_as_bkr_reads_them__make_its_document(
    run: Run, options: tuple[str, ...], expected: str
) -> None:
    made = document(run("workflow", *MINIMAL, "--arch", "x86_64", *options))
    assert made == read_xml(expected.encode()).document


def test_family_and_tags__without_a_name__select_the_distro(run: Run) -> None:
    family = "".join(
        f'<distro_{element} op="=" value="{value}"/>'
        for element, value in (("family", "F"), ("tag", "A"), ("tag", "B"))
    )
    options = ("--family", "F", "--tag", "A", "--tag", "B", "--arch", "x86_64", "--task", "/t")
    assert document(run("workflow", *options)) == read_xml(job(recipe(family)).encode()).document


def test_name__with_a_percent_sign__is_a_pattern(run: Run) -> None:
    xml = run("workflow", "--distro", "RHEL-9%", "--arch", "x86_64", "--task", "/t").stdout
    assert '<distro_name op="like" value="RHEL-9%"/>' in xml


@pytest.mark.parametrize(
    "options",
    [
        ("--family", "F"),
        ("--tag", "A"),
        ("--ignore-system-status",),
        ("--reserve-duration", "60"),
        ("--machine", "a", "--ignore-system-status", "--random"),
    ],
)
def test_option__without_effect__is_warned_of_unless_quiet(run: Run, options: tuple[str, ...]) -> None:
    arguments = ("workflow", *MINIMAL, "--arch", "x86_64", *options)
    assert "has no effect" in run(*arguments).stderr
    assert run(*arguments, "--quiet").stderr == ""


def tree(number: int, arch: str, distro: str = "RHEL-9.6") -> dict[str, Any]:
    return {
        "id": number, "name": distro, "family": "F", "version": "6", "arch": arch, "variant": "Server",
        "tags": [], "urls": {}, "added_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def test_arches__not_named__are_those_of_the_distro_on_the_server(run: Run, server: LoopbackServer) -> None:
    trees = [tree(1, "x86_64"), tree(2, "aarch64"), tree(3, "s390x", "Fedora-44"), tree(4, "x86_64")]
    server.on("GET", "/distro-trees", Answer({"distro_trees": trees, "next": None}))
    expected = job(recipe(name(), arch="aarch64"), recipe(name()))
    assert document(run("workflow", *MINIMAL)) == read_xml(expected.encode()).document


def test_arches__of_a_distro_without_trees__are_to_be_named(run: Run, server: LoopbackServer) -> None:
    server.on("GET", "/distro-trees", Answer({"distro_trees": [], "next": None}))
    result = run("workflow", *MINIMAL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no distro tree of the server matches: name the architectures with --arch" in result.stderr


def test_json__asked_for__is_the_document_of_the_xml(run: Run) -> None:
    arguments = ("workflow", *MINIMAL, "--arch", "x86_64", "--whiteboard", "w")
    as_json = json.loads(run(*arguments, "--json").stdout)
    assert read_json(as_json).document == document(run(*arguments))


def document(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return read_xml(result.stdout.encode()).document
