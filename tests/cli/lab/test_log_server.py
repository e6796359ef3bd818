"""The log files of a simulated lab, over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from click import ClickException

from cli.jobs.log_files import fetch, files_of
from cli.lab.log_server import log_server
from replay.simulated_lab.log_text import log_of
from tests.harness.http_options import LOCAL_HTTP


def test_log_server__reported_log__is_fetched_and_others_are_404(tmp_path: Path) -> None:
    with log_server(0) as url:
        assert url is not None
        log = log_of(url, 1, 2, 3, "Fail")
        result = {"position": 9, "result": "Fail", "path": "", "logs": [log], "log_urls": []}
        (file,) = files_of([{"task_id": 2, "results": [result]}], None)
        assert "result: Fail" in fetch(file, tmp_path).read_text("utf-8")
        assert httpx.get(f"{url}/recipe-1", **LOCAL_HTTP).status_code == 404
        with (
            pytest.raises(ClickException, match="choose another --logs-port"),
            log_server(httpx.URL(url).port),
        ):
            pass
    with log_server(None) as url:
        assert url is None
