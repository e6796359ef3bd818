"""The page of state machines, made from their tables: `python -m tests.docs.states` writes it."""

from __future__ import annotations

from pathlib import Path

from domain.lab_commands.lifecycle import COMMAND
from domain.lifecycle import Lifecycle
from domain.recipe.lifecycle import RECIPE, TASK
from domain.system.lifecycle import USAGE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "states.md"
REGENERATE = "python -m tests.docs.states"

HEAD = f"""# States

Made from the tables in `domain/`, by `{REGENERATE}`; change those, not this page. A move that is not
drawn is refused.
"""

NOT_YET = """Nothing makes some of the moves yet: those of preemption, and those from
waiting back to scheduled, assigned or queued, which come with resource locks."""

MACHINES: tuple[tuple[str, str, Lifecycle], ...] = (
    (
        "Recipe",
        f"Finished recipes never change. {NOT_YET}",
        RECIPE,
    ),
    ("System usage", "What a system does now. While a recipe has it, the two move in one commit.", USAGE),
    ("Task", "Tasks that are open when their recipe is aborted or cancelled end with it.", TASK),
    ("Command", "What a lab controller is told to do.", COMMAND),
)


def page() -> str:
    return "\n".join([HEAD, *(_section(*machine) for machine in MACHINES)])


def _section(title: str, said: str, lifecycle: Lifecycle) -> str:
    return f"## {title}\n\n{said}\n\n```mermaid\n{lifecycle.mermaid()}```\n"


if __name__ == "__main__":
    PAGE.write_text(page())
