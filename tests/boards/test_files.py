"""The shipped files: equal to the generated ones, consistent in themselves, and written by the command."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock
from urllib.parse import parse_qsl

import pytest
import yaml
from pydantic import ValidationError

from api.application import operations_of, resources
from api.rest.contract.queries import Query
from api.rest.routes import ROUTES
from projections.boards.files import BOARDS, DEFAULT_URL, SHIPPED, shipped_files
from projections.boards.machines import STATES
from projections.boards.queries import SQL
from tests.boards.shipped import boards, variables
from tests.harness.packaging import TOP

PROVISIONING = SHIPPED / "provisioning"
BUILT_IN = re.compile(r"__\w+")
VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)")
# Runs as in an installation without the extra.
WITHOUT_SDK = """
import sys
sys.modules["grafana_foundation_sdk"] = None
from cli import main
main()
"""
EACH_BOARD = pytest.mark.parametrize("board", boards().values(), ids=boards())
Board = dict[str, Any]


def test_shipped_boards__generated_again__are_equal() -> None:
    # Imported here, because only the extra has the SDK.
    from projections.boards.generated import texts

    shipped = {file.name: file.read_text("utf-8") for file in (SHIPPED / BOARDS).iterdir()}
    assert shipped == texts(), "run `python -m projections.boards`"


def test_deploy__grafana__is_the_folder_of_the_package() -> None:
    assert (TOP / "deploy" / "grafana").resolve() == Path(str(SHIPPED)).resolve()


def test_boards__together__are_the_five_with_uids_of_their_own() -> None:
    titles = {board["title"]: board["uid"] for board in boards().values()}
    names = ("Wall", "Queue", "Machines", "Provisioning", "Scheduler")
    assert titles == {f"Labledger: {name}": f"labledger-{name.lower()}" for name in names}


@EACH_BOARD
def test_board__panels__have_ids_of_their_own_and_titles(board: Board) -> None:
    for key in ("id", "title"):
        counts = Counter(panel[key] for panel in board["panels"])
        assert set(counts.values()) == {1} and all(counts)


@EACH_BOARD
def test_board__panels__are_on_the_grid_and_do_not_overlap(board: Board) -> None:
    cells = Counter(
        cell
        for panel in board["panels"]
        for place in [panel["gridPos"]]
        for cell in itertools.product(
            range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
        )
    )
    assert set(cells.values()) == {1}
    assert max(x for x, _ in cells) < 24


@EACH_BOARD
def test_board__variables__are_declared_and_used(board: Board) -> None:
    text = json.dumps({**board, "templating": {}})
    used = {first or second for first, second in VARIABLE.findall(text)}
    named = {name for name in used if not BUILT_IN.fullmatch(name)}
    assert named == set(variables(board))


@EACH_BOARD
def test_board__data_sources__are_provisioned(board: Board) -> None:
    text = (PROVISIONING / "datasources" / "labledger.yaml").read_text("utf-8")
    provisioned = {(source["type"], source["uid"]) for source in yaml.safe_load(text)["datasources"]}
    found = set(_data_sources(board))
    assert found and found <= provisioned


def _data_sources(part: Any) -> Any:
    if isinstance(part, list):
        for each in part:
            yield from _data_sources(each)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "datasource":
                yield value["type"], value["uid"]
            else:
                yield from _data_sources(value)


@EACH_BOARD
def test_board__alerts__are_annotations_and_no_rules(board: Board) -> None:
    (annotation,) = board["annotations"]["list"]
    assert annotation["expr"].startswith("ALERTS{") and annotation["enable"]
    assert not any("alert" in panel for panel in board["panels"])


@EACH_BOARD
def test_panel__each__has_a_link_to_a_page_with_the_time_span(board: Board) -> None:
    for panel in board["panels"]:
        (link,) = panel["links"]
        assert link["url"].startswith("${labledger}/ui/") and "${__to:date:iso}" in link["url"], panel[
            "title"
        ]


@pytest.fixture(scope="module")
def page_queries() -> dict[str, type[Query]]:
    """Return the query of each page, by its path with `{}` for each parameter."""
    operations = operations_of(resources(MagicMock()))
    return {
        re.sub(r"\{[^}]*\}", "{}", path): operations[path, "GET"].query
        for path, route in ROUTES.items()
        if route.is_page and "GET" in route.roles
    }


def _faults(url: str, page_queries: dict[str, type[Query]]) -> str | None:
    """Return what is wrong with a link of a board, None if the page accepts it."""
    path, _, params = url.replace("${__value.raw}", "{}").partition("?")
    if path not in page_queries:
        return f"no page {path}"
    for variable in ("${__from:date:iso}", "${__to:date:iso}"):
        params = params.replace(variable, "2026-11-20T08:00:00.000Z")
    try:
        page_queries[path].model_validate(dict(parse_qsl(params, keep_blank_values=True)))
    except ValidationError as error:
        return str(error)
    return None


@EACH_BOARD
def test_link__each__leads_to_a_page_that_accepts_its_parameters(
    board: Board, page_queries: dict[str, type[Query]]
) -> None:
    urls = set(re.findall(r'"\$\{labledger\}([^"]*)', json.dumps(board)))
    assert urls
    assert not {url: fault for url in urls if (fault := _faults(url, page_queries))}


WRONG_LINKS = {
    "/ui/audit?since=${__from:date:iso}": "no page",
    # Pages of a moment have no time span, and pages of a time span no state.
    "/ui/queue?since=${__from:date:iso}": "since",
    "/ui/systems?condition=Damaged": "condition",
    "/ui/lab?until=${__to:date:seconds}x": "until",
    "/ui/recipes/${__value.raw}/why?until=${__to:date:iso}": "until",
}


@pytest.mark.parametrize(("url", "fault"), WRONG_LINKS.items(), ids=WRONG_LINKS)
def test_link__planted_wrong_one__is_found(
    url: str, fault: str, page_queries: dict[str, type[Query]]
) -> None:
    assert fault in (_faults(url, page_queries) or "")


def test_time_line__numbers__are_those_of_its_query() -> None:
    (words,) = re.findall(r"'\{([\w,]+)\}'", SQL["time_line"])
    assert words.split(",") == list(STATES)


def test_provisioning__secrets__are_variables_of_the_environment() -> None:
    text = (PROVISIONING / "datasources" / "labledger.yaml").read_text("utf-8")
    for source in yaml.safe_load(text)["datasources"]:
        assert source["url"].startswith("$LABLEDGER_")
        assert all(secret.startswith("$") for secret in source.get("secureJsonData", {}).values())


def test_boards_command__without_the_sdk__writes_the_files_with_the_address(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        WITHOUT_SDK,
        "boards",
        str(tmp_path),
        "--address",
        "https://lab.example/",
    ]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = {str(tmp_path / path): text for path, text in shipped_files()}
    assert sorted(done.stdout.split()) == sorted(expected)
    for path, text in expected.items():
        assert Path(path).read_text("utf-8") == text.replace(DEFAULT_URL, "https://lab.example")


def test_boards_command__folder_is_a_file__refused(tmp_path: Path) -> None:
    (tmp_path / "boards").write_text("")
    command = [sys.executable, "-m", "cli", "boards", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write the boards:")
