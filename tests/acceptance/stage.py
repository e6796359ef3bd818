"""Actions of one test on a service that many tests share: each test has its own machines and jobs."""

from __future__ import annotations

from typing import Any

from tests.acceptance.observer import LABS, Observer
from tests.acceptance.read_models import pages
from tests.harness.running import SAMPLES

DISTRO = {"and": [{"element": "name", "value": "Linux"}, {"element": "arch", "value": "x86_64"}]}
MACHINE = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 1024, "owner": "alice"}

Document = dict[str, Any]


class Stage(Observer):
    """Machines, jobs and reports of one test. `assert_log` waits for the decisions of the scheduler."""

    # Systems and recipes

    def machine(self, name: str, lab: str = "east", condition: str = "Automated", **more: Any) -> None:
        """Register a system that only recipes of this test require; wait until it is idle."""
        fqdn = self.fqdn(name)
        system = {**MACHINE, "fqdn": fqdn, "lab_controller": LABS[lab], "condition": condition, **more}
        self.write("POST", "/systems", system)
        if condition == "Automated":
            # It is pending first.
            self.wait_idle(name)

    def recipe(self, name: str = "%", **more: Any) -> Document:
        """Return a recipe with one task, on the named machine or on any machine of this test."""
        asked = {"element": "hostname", "op": "like", "value": self.fqdn(name)}
        return {"distro_requires": DISTRO, "host_requires": asked, "tasks": [{"name": "/task"}], **more}

    def guest(self, name: str, **more: Any) -> Document:
        return {**self.recipe(), "host_requires": {}, "guestname": name, "guestargs": "--ram=1", **more}

    # Actions of people and labs

    def write(self, method: str, path: str, body: Any = None, by: str = "admin") -> int:
        """Send a request; return the position of its last event."""
        answer = self.people[by].request(method, path, json=body)
        assert answer.is_success, answer.text
        return int(answer.headers["labledger-position"])

    def submit(self, *recipes: Document, priority: str = "Normal") -> list[int]:
        """Submit a job of one recipe set; return the ids of its recipes."""
        return self._submit({"priority": priority, "recipes": list(recipes)})

    def submit_ranked(self, *sets: tuple[str, Document]) -> list[int]:
        """Submit a job of one-recipe sets with their priorities; return the ids of its recipes."""
        return self._submit(*({"priority": priority, "recipes": [recipe]} for priority, recipe in sets))

    def submit_sets(self, *sets: list[Document]) -> list[int]:
        return self._submit(*({"priority": "Normal", "recipes": recipes} for recipes in sets))

    def _submit(self, *sets: Document) -> list[int]:
        answer = self.admin.post("/jobs", json={"recipe_sets": list(sets)})
        assert answer.status_code == 201, answer.text
        ids: list[int] = answer.json()["recipe_ids"]
        return ids

    def submit_sample(self, name: str) -> list[int]:
        """Submit a sample file by the command line; return the ids of its recipes."""
        ids: list[int] = self.service.json("submit", str(SAMPLES / name))["recipe_ids"]
        return ids

    def cancel(self, recipe_id: int) -> None:
        """Cancel the whole set of this recipe."""
        path = f"/recipe-sets/{self.set_of(recipe_id)}/cancel"
        self.write("POST", path, {"reason": "not needed"})

    def change(self, name: str, **change: Any) -> None:
        self.write("PATCH", f"/systems/{self.fqdn(name)}", change)

    def report(self, recipe_id: int, *messages: Document, by: str = "east") -> None:
        """Send these progress reports as the lab controller `by`, one after the other."""
        for message in messages:
            self.write("POST", f"/recipes/{recipe_id}/progress", message, by)

    def start_all(self, *recipe_ids: int) -> int:
        """Start each recipe as soon as it is waiting, in this order; return the last one's first task."""
        for recipe_id in recipe_ids:
            self.wait_for_state(recipe_id, "waiting")
            task = self.start(recipe_id)
        return task

    def start(self, recipe_id: int, by: str = "east") -> int:
        """Install a waiting recipe and run its first task; return the id of the task."""
        task = self.tasks(recipe_id)[0]
        self.install(recipe_id, task, by=by)
        return task

    def finish(self, recipe_id: int, by: str = "east") -> None:
        """Complete a running recipe."""
        self.report(recipe_id, {"task_id": self.tasks(recipe_id)[0], "state": "completed"}, by=by)
        self.report(recipe_id, {"state": "completed"}, by=by)

    def install(self, recipe_id: int, task_id: int, by: str = "east") -> None:
        self.report(recipe_id, {"state": "installing"}, {"state": "running", "task_id": task_id}, by=by)

    def run(self, recipe_id: int, task_id: int, result: str = "Pass", by: str = "east") -> None:
        """Run one task of an installed recipe from start to end."""
        self.report(recipe_id, {"state": "running", "task_id": task_id}, by=by)
        self.report(recipe_id, {"task_id": task_id, "result": result}, by=by)
        self.report(recipe_id, {"task_id": task_id, "state": "completed"}, by=by)

    def obey(self, lab: str) -> None:
        """Report all unfinished commands of the lab as running, then as completed."""
        path = f"/lab-controllers/{LABS[lab]}/commands"
        self.admin.get("/queue", params={"min_position": self.end()})
        asked = {"after": self._after, "unfinished": True}
        for command in self.people[lab].get(path, params=asked).json()["commands"]:
            for state in ("running", "completed"):
                self.write("PATCH", f"{path}/{command['id']}", {"state": state}, by=lab)

    def end_started(self, recipe_id: int, by: str = "east") -> None:
        """End a started recipe early, to free its system."""
        item = {"release": {"recipe_id": recipe_id, "reason": "seen enough"}}
        self.write("POST", f"/lab-controllers/{LABS[by]}/updates", {"items": [item]}, by=by)

    def leave(self) -> None:
        """Remove all machines of this test."""
        for row in pages(self.admin, "/systems", "systems", self.end()):
            if row["fqdn"].endswith(self._place) and row["condition"] != "Removed":
                self.admin.delete(f"/systems/{row['fqdn']}/reservation")
                self.admin.delete(f"/systems/{row['fqdn']}")
