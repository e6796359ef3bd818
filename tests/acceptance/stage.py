"""What one test does on a Labledger that runs for many: it has machines and jobs of its own."""

from __future__ import annotations

from typing import Any

from tests.acceptance.observer import LABS, Observer
from tests.acceptance.read_models import pages
from tests.harness.running import SAMPLES

DISTRO = {"and": [{"element": "name", "value": "Linux"}, {"element": "arch", "value": "x86_64"}]}
MACHINE = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 1024, "owner": "alice"}

Document = dict[str, Any]


class Stage(Observer):
    """Every write is done when it returns; what the scheduler makes of it is for `tells` to wait for."""

    # What there is

    def machine(self, name: str, lab: str = "east", condition: str = "Automated", **more: Any) -> None:
        """A system that is idle, and that no recipe of another test may have."""
        fqdn = self.fqdn(name)
        system = {**MACHINE, "fqdn": fqdn, "lab_controller": LABS[lab], "condition": condition, **more}
        self.write("POST", "/systems", system)
        if condition == "Automated":
            # The queue looks at it first.
            self.wait_idle(name)

    def recipe(self, name: str = "%", **more: Any) -> Document:
        """One task on this machine, or on any of this test's."""
        asked = {"element": "hostname", "op": "like", "value": self.fqdn(name)}
        return {"distro_requires": DISTRO, "host_requires": asked, "tasks": [{"name": "/task"}], **more}

    def guest(self, name: str, **more: Any) -> Document:
        return {**self.recipe(), "host_requires": {}, "guestname": name, "guestargs": "--ram=1", **more}

    # What people and labs do

    def write(self, method: str, path: str, body: Any = None, by: str = "admin") -> int:
        """The position of what was written."""
        answer = self.people[by].request(method, path, json=body)
        assert answer.is_success, answer.text
        return int(answer.headers["labledger-position"])

    def submit(self, *recipes: Document, priority: str = "Normal") -> list[int]:
        """A job of one recipe set; the ids of its recipes."""
        return self._submit({"priority": priority, "recipes": list(recipes)})

    def submit_ranked(self, *sets: tuple[str, Document]) -> list[int]:
        """Submit a job of recipe sets of one recipe each, with their priorities; return the ids of its
        recipes.
        """
        return self._submit(*({"priority": priority, "recipes": [recipe]} for priority, recipe in sets))

    def submit_sets(self, *sets: list[Document]) -> list[int]:
        return self._submit(*({"priority": "Normal", "recipes": recipes} for recipes in sets))

    def _submit(self, *sets: Document) -> list[int]:
        answer = self.admin.post("/jobs", json={"recipe_sets": list(sets)})
        assert answer.status_code == 201, answer.text
        ids: list[int] = answer.json()["recipe_ids"]
        return ids

    def submit_sample(self, name: str) -> list[int]:
        """As people do it."""
        ids: list[int] = self.service.json("submit", str(SAMPLES / name))["recipe_ids"]
        return ids

    def cancel(self, recipe_id: int) -> None:
        """The whole set of this recipe."""
        path = f"/recipe-sets/{self.set_of(recipe_id)}/cancel"
        self.write("POST", path, {"reason": "not needed"})

    def change(self, name: str, **change: Any) -> None:
        self.write("PATCH", f"/systems/{self.fqdn(name)}", change)

    def report(self, recipe_id: int, *messages: Document, by: str = "east") -> None:
        """By the lab controller, one after the other."""
        for message in messages:
            self.write("POST", f"/recipes/{recipe_id}/progress", message, by)

    def start_all(self, *recipe_ids: int) -> int:
        """They start, in this order, each as soon as it waits; the first task of the last one."""
        for recipe_id in recipe_ids:
            self.wait_for_state(recipe_id, "waiting")
            task = self.start(recipe_id)
        return task

    def start(self, recipe_id: int, by: str = "east") -> int:
        """A recipe that waits is installed and runs its first task, whose id is the answer."""
        task = self.tasks(recipe_id)[0]
        self.install(recipe_id, task, by=by)
        return task

    def finish(self, recipe_id: int, by: str = "east") -> None:
        """A recipe that runs comes to its end."""
        self.report(recipe_id, {"task_id": self.tasks(recipe_id)[0], "state": "completed"}, by=by)
        self.report(recipe_id, {"state": "completed"}, by=by)

    def install(self, recipe_id: int, task_id: int, by: str = "east") -> None:
        self.report(recipe_id, {"state": "installing"}, {"state": "running", "task_id": task_id}, by=by)

    def run(self, recipe_id: int, task_id: int, result: str = "Pass", by: str = "east") -> None:
        """One task of a recipe that is installed, from its start to its end."""
        self.report(recipe_id, {"state": "running", "task_id": task_id}, by=by)
        self.report(recipe_id, {"task_id": task_id, "result": result}, by=by)
        self.report(recipe_id, {"task_id": task_id, "state": "completed"}, by=by)

    def obey(self, lab: str) -> None:
        """The lab controller takes all that it has been told, and has done it."""
        path = f"/lab-controllers/{LABS[lab]}/commands"
        self.admin.get("/queue", params={"min_position": self.end()})
        asked = {"after": self._after, "unfinished": True}
        for command in self.people[lab].get(path, params=asked).json()["commands"]:
            for state in ("running", "completed"):
                self.write("PATCH", f"{path}/{command['id']}", {"state": state}, by=lab)

    def end_started(self, recipe_id: int, by: str = "east") -> None:
        """Release a recipe that has started, for the sake of its system."""
        item = {"release": {"recipe_id": recipe_id, "reason": "seen enough"}}
        self.write("POST", f"/lab-controllers/{LABS[by]}/updates", {"items": [item]}, by=by)

    def leave(self) -> None:
        """Nobody has a machine of this test any more, and nobody will."""
        for row in pages(self.admin, "/systems", "systems", self.end()):
            if row["fqdn"].endswith(self._place) and row["condition"] != "Removed":
                self.admin.delete(f"/systems/{row['fqdn']}/reservation")
                self.admin.delete(f"/systems/{row['fqdn']}")
