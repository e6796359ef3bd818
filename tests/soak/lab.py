"""`python -m tests.soak.lab JOURNAL …` is `labledger …` with a journal of all accepted reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cli import main
from cli.lab import agent
from cli.lab.link import LabLink
from replay.simulated_lab.steps import LabStep


class NotingLink(LabLink):
    """A link that writes to the journal after the answer, so that a killed agent claims nothing in vain."""

    journal: str

    def update(self, steps: Sequence[LabStep]) -> list[dict[str, Any]]:
        answers = super().update(steps)
        lines = [
            json.dumps({"recipe_id": step.recipe_id, "body": dict(step.body), "position": answer["position"]})
            for step, answer in zip(steps, answers, strict=True)
            if step.kind == "progress" and answer["status"] == 200
        ]
        with Path(self.journal).open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        return answers


if __name__ == "__main__":
    NotingLink.journal = sys.argv.pop(1)
    with patch.object(agent, "LabLink", NotingLink):
        main(prog_name="labledger")
