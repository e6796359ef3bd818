"""A real Prometheus that scrapes a running service."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import Running, free_port
from tests.harness.waiting import wait_until
from tests.prometheus.tools import RULES, tool

EXAMPLE_TARGET = "labledger.example.com:8080"
EXAMPLE_INTERVAL = "_interval: 15s"

Labels = frozenset[tuple[str, str]]
# Labels that Prometheus adds to every series.
ADDED = ("__name__", "instance", "job")


@dataclass
class Prometheus:
    url: str

    def ask(self, path: str, **params: str) -> Any:
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=params, timeout=10, **LOCAL_HTTP)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def values(self, expression: str) -> Mapping[Labels, float]:
        """Return the value of each series by its own labels."""
        return {
            frozenset((name, value) for name, value in one["metric"].items() if name not in ADDED): float(
                one["value"][1]
            )
            for one in self.ask("query", query=expression)["result"]
        }

    def has_scraped(self) -> bool:
        """Return whether a scrape succeeded; Prometheus refuses requests while it starts."""
        try:
            is_ready = httpx.get(f"{self.url}/-/ready", timeout=10, **LOCAL_HTTP).status_code == 200
            return is_ready and set(self.values("up").values()) == {1.0}
        except httpx.TransportError:
            return False


@contextmanager
def prometheus(service: Running, token: str, folder: Path, further_rules: str = "") -> Iterator[Prometheus]:
    """Start a Prometheus; yield it when it has scraped at least once."""
    listens = f"127.0.0.1:{free_port()}"
    arguments = (
        f"--config.file={_configured(service, token, folder, further_rules)}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={listens}",
        "--log.level=warn",
    )
    process = subprocess.Popen([tool("prometheus"), *arguments], cwd=folder, stdin=subprocess.DEVNULL)
    try:
        started = Prometheus(f"http://{listens}")
        wait_until(started.has_scraped, "Prometheus to have scraped")
        yield started
    finally:
        process.terminate()
        process.wait(30)


def _configured(service: Running, token: str, folder: Path, further_rules: str) -> Path:
    """Write the example configuration with this target and token, and a short interval."""
    for name in ("prometheus.yml", "alerts.yml"):
        shutil.copy(RULES / name, folder / name)
    with (folder / "alerts.yml").open("a") as rules:
        rules.write(further_rules)
    (folder / "token").write_text(token)
    config = folder / "prometheus.yml"
    example = config.read_text()
    assert EXAMPLE_TARGET in example and EXAMPLE_INTERVAL in example
    config.write_text(
        example.replace(EXAMPLE_TARGET, f"127.0.0.1:{service.port}").replace(
            EXAMPLE_INTERVAL, "_interval: 1s"
        )
    )
    return config
