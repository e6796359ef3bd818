"""Notifiers that are killed or doubled: each message arrives, with one id."""

from __future__ import annotations

import time

import orjson
import pytest

from domain.recipe.events import RecipeCompleted
from store.event_log import EventLog
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.notifying.receivers import Hook, hook_server
from tests.workers.notifying.town import ACTIVE, add_user, append, choose, messages, submit_job

JOBS_PER_LIFE = 8
# The time of each life from the end of its jobs until it is killed, in seconds.
LIVES = (0.0, 0.3, 0.6, 1.0)


def end_jobs(log: EventLog, number: int) -> list[str]:
    ended = []
    for _ in range(number):
        job, (recipe,) = submit_job(log, "ann")
        append(log, f"recipe/{recipe}", RecipeCompleted())
        ended.append(f"job/{job}")
    return ended


@pytest.mark.soak
def test_notifier__killed_again_and_again__sends_each_message(log: EventLog, start: Start) -> None:
    def slow(path: str) -> tuple[int, dict[str, str]]:
        time.sleep(0.1)
        return 204, {}

    hook = Hook(slow)
    add_user(log, "ann")
    with hook_server(hook) as port:
        choose(log, "ann", f"http://localhost:{port}/", "job-ended")
        settings = {"LABLEDGER_WEBHOOK_NETWORKS": "127.0.0.0/8,::1"}
        notifier = start("notifier", **settings)
        ended: list[str] = []
        for seconds in LIVES:
            wait_until(lambda: log.rows(ACTIVE, ()), "a notifier to be active")
            standby = start("notifier", **settings)
            ended += end_jobs(log, JOBS_PER_LIFE)
            time.sleep(seconds)
            notifier.kill()
            notifier.wait()
            notifier = standby
            # Nobody is active when this one ends.
            ended += end_jobs(log, 1)

        def is_all_sent() -> bool:
            return [state for _, _, state in messages(log)] == ["sent"] * len(ended)

        wait_until(is_all_sent, "all messages")
    events = [orjson.loads(body) for _, _, body in hook.posts]
    ids = {(event["subject"], event["id"]) for event in events}
    assert sorted(subject for subject, _ in ids) == sorted(ended), "each has one id, however often it came"
