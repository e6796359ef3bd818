"""Pages of the web interface: while nothing happens, and beside `pending` with live viewers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from urllib.parse import quote, urlsplit

import orjson

from api.rest.session_cookie import SESSION
from bench.cases.pending import TooSmall
from bench.cluster_fixture import BenchCluster
from bench.completions import grant_times
from bench.measurements import SQL, in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.page_paint import paint
from bench.raw_http import BenchConnection
from bench.reported_job import reported_job
from bench.settling import IMPOSSIBLE
from domain.directory.partitions import DEFAULT

VIEWERS: int = 500
VIEWS_PER_SECOND: float = 5.0
# Minimum number of requests of each page, however long they take.
MIN_REQUESTS: int = 20
# The viewers have seen the first parts, and the explaining process has read the log, before recipes end.
LEAD_SECONDS: float = 3.0
WARM_UP_SECONDS: float = 2.0
POLL_SECONDS: float = 0.1
MAX_LINE_BYTES: int = 16 << 20


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure each page, then `pending` alone, and then `pending` beside viewers and page views."""
    pages = _pages(cluster)
    ending = [recipe_id for (recipe_id,) in cluster.log.rows(SQL["started_in_read_models"], ())]
    wanted = int(sizes.rate * sizes.seconds)
    if len(ending) < 2 * wanted:
        raise TooSmall(f"pages: only {len(ending)} recipes run, of {2 * wanted} that are to end")
    quiet = {}
    for number, (name, path) in enumerate(pages.items()):
        on_progress("pages", number, len(pages))
        quiet[name] = asyncio.run(_response_times(cluster, path, sizes.seconds / len(pages)))
    # No viewer follows it: the page of a job with 4,000 results has more than a megabyte.
    results = f"/ui/jobs/{reported_job(cluster)}/results"
    quiet["results"] = asyncio.run(_response_times(cluster, results, sizes.seconds / len(pages)))
    # The first decisions on a log that has just grown are slower. A small lab has no recipes to spare.
    warming = min(int(sizes.rate * WARM_UP_SECONDS), len(ending) - 2 * wanted)
    grant_times(cluster, ending[:warming], sizes.rate, on_progress)
    ending = ending[warming:]
    alone = grant_times(cluster, ending[:wanted], sizes.rate, on_progress)
    with _viewers(cluster, pages) as seen, _page_views(cluster, pages) as views:
        time.sleep(LEAD_SECONDS)
        before = cluster.log.end()
        beside = grant_times(cluster, ending[wanted : 2 * wanted], sizes.rate, on_progress)
    delays = seen.delays(cluster, before)
    return {
        **_p99s(quiet),
        **{f"alone_{name}": value for name, value in alone.items()},
        **{f"beside_{name}": value for name, value in beside.items()},
        "p50_times": round(beside["p50_ms"] / alone["p50_ms"], 2),
        "p99_times": round(beside["p99_ms"] / alone["p99_ms"], 2),
        "healthz_p99_ms": in_milliseconds(views["healthz"])["p99_ms"],
        "page_views_p99_ms": in_milliseconds(views["pages"])["p99_ms"],
        "seen_p99_ms": in_milliseconds(delays)["p99_ms"],
        "changes_seen": len(delays),
        **_paint(cluster, pages),
    }


def _p99s(quiet: Mapping[str, list[float]]) -> Figures:
    """Return the p99 of each page, and the largest of those without a target of their own."""
    p99s = {name: in_milliseconds(found)["p99_ms"] for name, found in quiet.items()}
    others = max(value for name, value in p99s.items() if name not in NAMED)
    return {**{f"{name}_p99_ms": value for name, value in p99s.items()}, "other_pages_p99_ms": others}


def _paint(cluster: BenchCluster, pages: Mapping[str, str]) -> Figures:
    """Return the largest paint of all pages, and the layout shift of live ones while jobs come and end."""
    live = [pages[name] for name in ("home", "jobs", "queue", "lab", "events", "system", "recipe")]
    with cluster.client() as client:
        job = {**IMPOSSIBLE, "partition": DEFAULT}
        return paint(
            cluster.url, cluster.token, list(pages.values()), live, lambda: client.post("/jobs", job)
        )


# The pages with targets of their own; all others have one together.
NAMED = ("why", "lab", "usage", "queue", "results")


def _pages(cluster: BenchCluster) -> Mapping[str, str]:
    """Return the path of each page by its name."""
    with cluster.client() as client:
        recipe = client.get("/queue", limit=1)["recipes"][0]["recipe_id"]
        found = client.get(f"/recipes/{recipe}")
        system = client.get("/systems", limit=1)["systems"][0]["fqdn"]
    return {
        "home": "/ui",
        "jobs": "/ui/jobs",
        "job": f"/ui/jobs/{found['job_id']}",
        "recipe_set": f"/ui/recipe-sets/{found['recipe_set_id']}",
        "recipe": f"/ui/recipes/{recipe}",
        "recipe_as_of": f"/ui/recipes/{recipe}?as_of={found['position']}",
        "why": f"/ui/recipes/{recipe}/why",
        "queue": "/ui/queue",
        "lab": "/ui/lab?limit=200",
        "systems": "/ui/systems",
        "system": f"/ui/systems/{system}",
        "usage": "/ui/usage?group_by=pool&length=month",
        "directory": "/ui/directory",
        "users": "/ui/users",
        "locks": "/ui/locks",
        "partition": "/ui/partitions/default",
        "events": "/ui/events",
        "event": f"/ui/events/{found['position']}",
        "waits": "/ui/waits",
        "claims": "/ui/claims",
        "lab_controllers": "/ui/lab-controllers",
        "submit": f"/ui/submit?rerun={found['job_id']}",
        "job_xml": f"/ui/jobs/{found['job_id']}/xml",
    }


def _request(cluster: BenchCluster, path: str, accept: str = "text/html") -> bytes:
    head = [f"GET {path} HTTP/1.1", "Host: bench", f"Cookie: {SESSION}={cluster.token}", f"Accept: {accept}"]
    return "\r\n".join([*head, "", ""]).encode()


async def _response_times(cluster: BenchCluster, path: str, seconds: float) -> list[float]:
    """Request a page for a time, one request after the other, and return the seconds to its last byte."""
    connection, request = await BenchConnection.connected(cluster.url), _request(cluster, path)
    # The first answer may start the explaining process, which reads the log.
    await connection.send(request)
    until, took = time.monotonic() + seconds, list[float]()
    while (began := time.monotonic()) < until or len(took) < MIN_REQUESTS:
        await connection.send(request)
        took.append(time.monotonic() - began)
    connection.close()
    return took


@dataclass
class SeenChanges:
    """The positions of the changes that viewers received, with the time of the last receipt."""

    received: dict[int, float] = field(default_factory=dict)

    def delays(self, cluster: BenchCluster, after: int) -> list[float]:
        """Return the seconds between the record of each position and its receipt."""
        positions = [position for position in self.received if position > after]
        if not positions:
            raise ValueError("the viewers saw no change")
        rows = cluster.log.rows(SQL["recorded_at"], (positions,))
        return [self.received[position] - seconds for position, seconds in rows]


@contextmanager
def _viewers(cluster: BenchCluster, pages: Mapping[str, str]) -> Iterator[SeenChanges]:
    """Follow pages from many browsers within the context."""
    seen, is_over = SeenChanges(), threading.Event()
    followed = [pages["queue"], pages["lab"]]
    query = "&".join(f"page={quote(path)}" for path in followed)
    request = _request(cluster, f"/ui/live?{query}", "text/event-stream")
    with ThreadPoolExecutor(1) as pool:
        viewing = pool.submit(lambda: asyncio.run(_view(cluster.url, request, seen, is_over)))
        try:
            yield seen
        finally:
            is_over.set()
            viewing.result()


async def _view(url: str, request: bytes, seen: SeenChanges, is_over: threading.Event) -> None:
    """Follow the pages from VIEWERS connections until it is over. Raises the error of one that fails."""
    following = [asyncio.create_task(_follow(url, request, seen)) for _ in range(VIEWERS)]
    try:
        while not is_over.is_set():
            await asyncio.sleep(POLL_SECONDS)
            for each in following:
                if each.done():
                    each.result()
    finally:
        for each in following:
            each.cancel()
        await asyncio.gather(*following, return_exceptions=True)


async def _follow(url: str, request: bytes, seen: SeenChanges) -> None:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=MAX_LINE_BYTES)
    try:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if head[9:12] != b"200":
            raise ValueError(f"/ui/live: {head.splitlines()[0].decode()}")
        while line := await reader.readline():
            if line.startswith(b'data: {"page"'):
                position = orjson.loads(line.removeprefix(b"data: "))["position"]
                seen.received[position] = time.time()
        raise ValueError("/ui/live: the stream has ended")
    finally:
        writer.close()
        await writer.wait_closed()


@contextmanager
def _page_views(cluster: BenchCluster, pages: Mapping[str, str]) -> Iterator[dict[str, list[float]]]:
    """View pages at a rate, and ask for `/healthz`, within the context; yield the seconds of the answers."""
    took: dict[str, list[float]] = {"pages": [], "healthz": []}
    is_over = threading.Event()

    async def keep_viewing() -> None:
        page, health = [await BenchConnection.connected(cluster.url) for _ in range(2)]
        for path in cycle(pages.values()):
            if is_over.wait(1 / VIEWS_PER_SECOND):
                break
            for connection, asked, name in ((health, "/healthz", "healthz"), (page, path, "pages")):
                began = time.monotonic()
                await connection.send(_request(cluster, asked))
                took[name].append(time.monotonic() - began)
        page.close()
        health.close()

    with ThreadPoolExecutor(1) as pool:
        viewing = pool.submit(lambda: asyncio.run(keep_viewing()))
        try:
            yield took
        finally:
            is_over.set()
            viewing.result()
