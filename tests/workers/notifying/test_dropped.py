"""Messages whose recipient is gone: they are dropped, and nothing has failed."""

from __future__ import annotations

from domain.directory.events import UserLeftLdap, UserNotificationsChanged, UserRemoved
from domain.events import Event
from domain.recipe.events import RecipeCompleted
from store.event_log import EventLog
from tests.harness.waiting import wait_until
from tests.workers.notifying.town import (
    LOOPBACK,
    add_user,
    append,
    choose,
    mail_options,
    notifying,
    submit_job,
    wait_for,
)

# Each way in which a person has no webhook any more.
ENDINGS: dict[str, Event] = {
    "ann": UserNotificationsChanged([], [], None),
    "bob": UserRemoved(),
    "eve": UserLeftLdap(),
}


def test_message__recipient_has_no_webhook_any_more_or_is_gone__is_dropped_and_not_given_up(
    log: EventLog,
) -> None:
    for user in ENDINGS:
        add_user(log, user)
        # Nothing listens on this port.
        choose(log, user, "http://127.0.0.1:9/", "job-ended")
    with notifying(log, mail_options(None, allowed=LOOPBACK)) as counters:
        for user in ENDINGS:
            _, (recipe,) = submit_job(log, user)
            append(log, f"recipe/{recipe}", RecipeCompleted())
        wait_until(lambda: counters.outcomes["webhook", "failed"] > 0, "a failure")
        for user, event in ENDINGS.items():
            append(log, f"user/{user}", event)
        wait_for(log, *((user, "webhook", "dropped") for user in ENDINGS))
        assert not counters.outcomes["webhook", "given-up"]
    assert counters.outcomes["webhook", "dropped"] == len(ENDINGS)
