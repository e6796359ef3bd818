"""What the log itself says of the time things took: `recorded_at`, the database's own clock."""

from __future__ import annotations

from api.store.event_log import EventLog

# From each end of a usage to the next recipe that the system is scheduled for.
_TO_NEXT = b"""
SELECT extract(epoch FROM next.recorded_at - ended.recorded_at)::float8
FROM log.events AS ended
JOIN LATERAL (
    SELECT e.recorded_at, e.topic FROM log.events AS e
    WHERE e.originator_id = ended.originator_id AND e.originator_version > ended.originator_version
      AND e.topic = 'system.scheduled'
    ORDER BY e.originator_version LIMIT 1
) AS next ON true
WHERE ended.topic = 'system.pending' AND ended.notification_id > %s
"""

_SPAN = b"""
SELECT count(*), extract(epoch FROM max(recorded_at) - min(recorded_at))::float8, min(notification_id),
       max(notification_id)
FROM log.events WHERE topic = %s AND notification_id > %s
"""


def seconds_to_next(log: EventLog, after: int) -> list[float]:
    """From the commit in which a system became pending to that in which it was scheduled again."""
    return [seconds for (seconds,) in log.rows(_TO_NEXT, (after,))]


def span_of(log: EventLog, topic: str, after: int) -> tuple[int, float]:
    """How many events of a topic there are after a position, and the seconds from the first to the last."""
    ((count, seconds, _, _),) = log.rows(_SPAN, (topic, after))
    return count, float(seconds or 0.0)
