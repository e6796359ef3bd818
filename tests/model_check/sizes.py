"""The number of cases of each family in a normal test run, and in a long one."""

from __future__ import annotations

SEED = 1

# The number of labs; None: all. The soaks have the other families, too, and `python -m tests.model_check`
# explores all labs of every family.
SAMPLES = {"people": 3, "two-systems": 3, "races": 1, "two-sets": 1, "three-sets": 2}
WALKS = 30

# All labs, or a sample if all would take longer than some minutes.
LONG = {
    "people": None,
    "two-systems": None,
    "races": None,
    "two-sets": 100,
    "two-sets-ranked": 80,
    "two-sets-capped": 40,
    "two-sets-ranked-breaking": 10,
    "three-sets": 80,
    "three-sets-breaking": 12,
    "people-races": 10,
}
LONG_WALKS = 700
