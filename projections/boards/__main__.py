"""`python -m projections.boards` writes the JSON of the boards anew."""

from __future__ import annotations

from pathlib import Path

from projections.boards.files import BOARDS
from projections.boards.generated import texts

FOLDER = Path(__file__).with_name("grafana") / BOARDS

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, "utf-8")
