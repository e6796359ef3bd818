"""The addresses of all pages with answers, about one waiting recipe and what belongs to it."""

from __future__ import annotations

from tests.harness.running import Running
from tests.rest.actions import recipe_for, submit

# Text that would be markup if it were not escaped.
HOSTILE = "<script>alert(1)</script>"


def addresses(service: Running) -> list[str]:
    """Submit a job with hostile text, and return the addresses of the pages, which show it or its lab."""
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"), whiteboard=HOSTILE)
        admin.get("/jobs", params={"min_position": submitted["position"]}).raise_for_status()
    job, recipe = f"/ui/jobs/{submitted['job_id']}", f"/ui/recipes/{submitted['recipe_ids'][0]}"
    return [
        *("/ui", "/ui/lab", "/ui/jobs", job, f"{job}/xml", f"/ui/recipe-sets/{submitted['recipe_set_id']}"),
        *(recipe, f"{recipe}/why", f"{recipe}?as_of={submitted['position']}"),
    ]
