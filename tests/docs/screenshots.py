"""Generator of the screenshots in `docs/web.md`: `python -m tests.docs.screenshots` takes them.

They show a lab of the benchmarks, because the sample lab has no past.
"""

from __future__ import annotations

from pathlib import Path

from api.rest.session_cookie import SESSION
from bench import history
from bench.cluster_fixture import bench_cluster
from bench.outcome import Sizes, no_progress
from tests.pages.chromium import chromium

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
LAB = Sizes(systems=200, queued=500, filters=50, sets=None, rate=5.0, seconds=5.0, seed=1, events=20_000)
SIZE = {"width": 1_280, "height": 800}


def take() -> None:
    """Take a screenshot of the queue, of the time line, and of why a recipe waits."""
    with bench_cluster() as cluster, chromium() as program:
        history.grow_over_days(cluster, LAB, no_progress)
        with cluster.client() as client:
            recipe = client.get("/queue", limit=1)["recipes"][0]["recipe_id"]
        pages = {
            "queue": "/ui/queue",
            "lab": "/ui/lab?length=week&limit=20",
            "why": f"/ui/recipes/{recipe}/why",
        }
        context = program.new_context(
            viewport=SIZE, extra_http_headers={"Cookie": f"{SESSION}={cluster.token}"}
        )
        page = context.new_page()
        for name, path in pages.items():
            # Once more, because the first answer may come before the explaining process has read the log.
            for _ in range(2):
                page.goto(f"{cluster.url}{path}")
            page.screenshot(path=IMAGES / f"{name}.png")
        context.close()


if __name__ == "__main__":
    take()
