"""Generator of the page of state machines: `python -m tests.docs.states` writes the page."""

from __future__ import annotations

from pathlib import Path

from domain.job.stages import OVER, STAGES, moves
from domain.lab_commands.lifecycle import COMMAND
from domain.lifecycle import Lifecycle
from domain.recipe.lifecycle import RECIPE, TASK
from domain.system.lifecycle import USAGE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "states.md"
REGENERATE = "python -m tests.docs.states"

HEAD = f"""# States

Generated from the tables in `domain/` by `{REGENERATE}`; change those, not this page. Transitions that
are not drawn are refused.
"""

START = """A waiting recipe has started once its set has its resource locks; until then its system may be
withdrawn, and no command is given."""

MACHINES: tuple[tuple[str, str, Lifecycle], ...] = (
    ("Recipe", f"Finished recipes never change. {START}", RECIPE),
    (
        "System usage",
        "The present activity of a system. While a recipe has the system, both change in one commit.",
        USAGE,
    ),
    ("Task", "Tasks that are open when their recipe is aborted or cancelled end with it.", TASK),
    ("Command", "An instruction to a lab controller: provision, release or stop.", COMMAND),
)


STAGES_HEAD = """## Stage of a job

A job has a stage beside its state, which is that of its least finished recipe. The first row that holds
counts. The moves are those of all jobs of up to three recipes.

| stage | holds when |
|---|---|
"""


def page() -> str:
    return "\n".join([HEAD, *(_section(*machine) for machine in MACHINES), _stages()])


def _stages() -> str:
    rows = "".join(f"| `{stage.name}` | {stage.when} |\n" for stage in STAGES)
    lines = ["stateDiagram-v2", "    [*] --> new"]
    lines += [f"    {before} --> {after}" for before, after in sorted(moves())]
    lines += [f"    {stage} --> [*]" for stage in OVER]
    return f"{STAGES_HEAD}{rows}\n```mermaid\n" + "\n".join(lines) + "\n```\n"


def _section(title: str, text: str, lifecycle: Lifecycle) -> str:
    return f"## {title}\n\n{text}\n\n```mermaid\n{mermaid(lifecycle)}```\n"


def mermaid(lifecycle: Lifecycle) -> str:
    """Return the table of a life cycle as a Mermaid diagram."""
    lines = ["stateDiagram-v2"]
    lines += [f"    [*] --> {state}" for state in lifecycle.start]
    lines += [f"    {before} --> {after}: {when}" for before, after, when in lifecycle.rows]
    lines += [f"    {state} --> [*]" for state in lifecycle.states if state in lifecycle.final]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
