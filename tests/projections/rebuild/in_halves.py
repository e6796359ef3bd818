"""`labledger` with small limits, so that it rebuilds a short log like a long one, in many steps."""

from __future__ import annotations

from cli import main
from workers import rebuild
from workers.rebuilding import steps

if __name__ == "__main__":
    rebuild.FEW_EVENTS = 0
    steps.STEP_EVENTS, steps.STEPS_AHEAD = 100, 2
    main()
