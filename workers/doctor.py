"""The check of the conservation laws (design 6) over the read models, or over the log."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from domain.scheduling.world.conservation import LAWS
from projections import conservation
from projections.conservation import Moment, position_of
from replay.audit import commits, from_row
from replay.audit.conservation import laws
from replay.audit.log_check import LogCheck
from store.datastore import SERVICE_ROLE, with_keepalive
from workers.progress import ProgressCallback
from workers.verification.child import pages

MAX_SHOWN: Final = 10
"""Maximum number of violations that are described; the others are only counted."""

Report = dict[str, Any]
"""The `position`, the number of violations by law (`laws`), and the first `violations`.

Over the read models also the number of `systems`, and of those that are used, free and so on.
"""


def check_read_models(url: str, as_of: Moment = None) -> Report:
    """Check the read models at the present, or at a moment that they have reached. Raises DatabaseAway."""
    return conservation.check_read_models(with_keepalive(url), SERVICE_ROLE, as_of, MAX_SHOWN)


def check_log(url: str, on_progress: ProgressCallback, as_of: Moment = None) -> Report:
    """Check the log after each commit up to the present or to a moment. Raises DatabaseAway."""
    end = position_of(with_keepalive(url), SERVICE_ROLE, as_of)
    check, counts, shown, position = LogCheck(laws()), Counter[str](), list[dict[str, Any]](), 0
    for page in pages(url, end):
        for commit in commits(map(from_row, page)):
            for violation in check.check_commit(commit):
                counts[violation.invariant] += 1
                if len(shown) < MAX_SHOWN:
                    subject, what = violation.subjects[0], violation.what
                    shown.append({"law": violation.invariant, "subject": subject, "what": what})
        position = page[-1].position
        on_progress(position, end)
    return {"position": position, "laws": {law: counts[law] for law in LAWS}, "violations": shown}
