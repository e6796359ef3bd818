"""A job whose recipes have ended with many results, for the reads of its results."""

from __future__ import annotations

from typing import Any

from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.settling import wait_for_projectors

# The recipe has ended when the scheduler reads of it, so any requirement will do.
RECIPE = {"host_requires": {}, "distro_requires": {}, "tasks": [{"name": "/bench"}]}
RECIPES: int = 200
RESULTS_OF_A_RECIPE: int = 20


def reported_job(cluster: BenchCluster) -> int:
    """Write the job to the log in one commit, wait until the read models show it, and return its id."""
    filler = LogFiller(cluster)
    filler.catch_up()
    recipe_set: dict[str, Any] = {"priority": "Low", "recipes": [RECIPE]}
    filler.submit([recipe_set] * RECIPES, result_count=RESULTS_OF_A_RECIPE)
    wait_for_projectors(cluster)
    with cluster.client() as client:
        return int(client.get("/jobs", limit=1)["jobs"][0]["job_id"])
