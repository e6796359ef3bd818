"""Generator of the table in the page of the lock order: `python -m tests.docs.locks` writes it."""

from __future__ import annotations

from pathlib import Path

from runtime.locks import LockClass

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lock-order.md"
REGENERATE = "python -m tests.docs.locks"

TABLE = "| class | held by | guards | places |\n|---|---|---|---|\n"


def page() -> str:
    """Return the page with the table of the declared classes."""
    before, _, after = PAGE.read_text("utf-8").partition(TABLE)
    rest = after.partition("\n\n")[2]
    return f"{before}{TABLE}{''.join(map(_row, LockClass))}\n{rest}"


def _row(lock_class: LockClass) -> str:
    row = lock_class.value
    places = ", ".join(dict.fromkeys(f"`{place}`" for place, _ in row.places))
    return f"| `{lock_class.name}` | {row.kind.value} | {row.guards.rstrip('.')} | {places} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
