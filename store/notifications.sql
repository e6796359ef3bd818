-- Statements of the notifier, and of requests about notifications. The notifier has the lease while it is the holder in
-- `live.notifier`; every statement that writes for it names it.

-- name: take_notifier
-- Take or keep the lease, unless another process has it; return the position, and whether it is of this database.
UPDATE live.notifier SET holder = %(holder)s, held_until = now() + make_interval(secs => %(seconds)s)
WHERE holder = %(holder)s OR held_until < now()
RETURNING position, timers_until,
    coalesce(database_id = (SELECT system_identifier || '/' || d.oid FROM pg_control_system(), pg_database AS d
                            WHERE d.datname = current_database()), false)
    AND position <= (SELECT coalesce(max(notification_id), 0) FROM log.events)

-- name: begin_notifier
-- Begin at the end of the log, and send nothing that is waiting.
WITH begun AS (
    UPDATE live.notifier SET
        database_id = (SELECT system_identifier || '/' || d.oid FROM pg_control_system(), pg_database AS d
                       WHERE d.datname = current_database()),
        position = (SELECT coalesce(max(notification_id), 0) FROM log.events), timers_until = now()
    WHERE holder = %(holder)s RETURNING position, timers_until
), ended AS (
    UPDATE live.notifications SET state = 'given-up', last_error = 'the database was restored', finished_at = now()
    WHERE state = 'waiting' AND EXISTS (SELECT FROM begun)
)
SELECT position, timers_until FROM begun

-- name: release_notifier
UPDATE live.notifier SET held_until = '-infinity' WHERE holder = %(holder)s RETURNING holder

-- name: write_notifications
-- Move the position, and store the messages of the events up to it. No row: another process is active, or this
-- statement was executed already.
WITH moved AS (
    UPDATE live.notifier SET position = %(position)s, timers_until = %(timers_until)s,
        people_without_mail = %(people_without_mail)s
    WHERE holder = %(holder)s AND position = %(before)s AND timers_until = %(timers_before)s RETURNING holder
), written AS (
    INSERT INTO live.notifications (id, user_name, channel, address, lane, kind, title, event)
    SELECT m.* FROM unnest(%(ids)s::text[], %(users)s::text[], %(channels)s::text[], %(addresses)s::text[],
        %(lanes)s::text[], %(kinds)s::text[], %(titles)s::text[], %(contents)s::text[]) AS m
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (id) DO NOTHING
)
SELECT holder FROM moved

-- name: due_notifications
-- After a pause of their lane, messages without an attempt come first: none waits behind one that always fails.
SELECT number, id, user_name, channel, address, lane, title, event, created_at, attempts FROM live.notifications
WHERE state = 'waiting' AND next_attempt_at <= now() AND lane <> ALL (%(busy)s::text[])
ORDER BY next_attempt_at, attempts, number LIMIT %(limit)s

-- name: finish_notifications
-- Store the results of attempts.
UPDATE live.notifications AS n SET
    state = r.state, attempts = r.attempts, last_error = r.error, next_attempt_at = coalesce(r.next_attempt_at, n.next_attempt_at),
    finished_at = CASE WHEN r.next_attempt_at IS NULL THEN now() END
FROM unnest(%(numbers)s::bigint[], %(attempts)s::integer[], %(states)s::text[], %(next)s::timestamptz[],
    %(errors)s::text[]) AS r (number, attempts, state, next_attempt_at, error)
WHERE n.number = r.number AND n.state = 'waiting'
RETURNING n.number

-- name: pause_lane
UPDATE live.notifications SET next_attempt_at = %(until)s
WHERE state = 'waiting' AND lane = %(lane)s AND next_attempt_at < %(until)s
RETURNING number

-- name: give_up_old_notifications
UPDATE live.notifications SET state = 'given-up', finished_at = now(),
    last_error = coalesce(last_error, 'no attempt succeeded within a day')
WHERE state = 'waiting' AND created_at < %(before)s
RETURNING channel

-- name: delete_old_notifications
DELETE FROM live.notifications WHERE finished_at < %(before)s RETURNING number

-- name: notifications_of
-- The messages to a user since the registration, because an earlier user may have had the name. Without a user, those to
-- all.
SELECT number, id, user_name, channel, address, kind, title, state, attempts, created_at, next_attempt_at, last_error, finished_at
FROM live.notifications
WHERE (%(user)s::text IS NULL OR user_name = %(user)s) AND number < %(before)s
  AND (%(state)s::text IS NULL OR state = %(state)s)
  AND created_at >= coalesce((
      SELECT e.recorded_at FROM log.events e
      WHERE e.originator_id = 'user/' || %(user)s::text AND e.topic = 'user.registered'
      ORDER BY e.originator_version DESC LIMIT 1), '-infinity')
ORDER BY number DESC LIMIT %(limit)s

-- name: store_webhook
INSERT INTO secret.webhooks (webhook_id, user_name, url, secret) VALUES (%(id)s, %(user)s, %(url)s, %(secret)s)
ON CONFLICT (webhook_id) DO NOTHING RETURNING webhook_id

-- name: webhooks
SELECT webhook_id, url, secret FROM secret.webhooks WHERE webhook_id = ANY (%(ids)s::text[])

-- name: delete_webhooks
-- Delete the webhooks of a user that do not count any more, and those that never counted within an hour.
DELETE FROM secret.webhooks WHERE user_name = %(user)s AND webhook_id IS DISTINCT FROM %(valid)s
    AND (webhook_id = ANY (%(former)s::text[]) OR made_at < now() - interval '1 hour')
RETURNING webhook_id

-- name: recipe_beginnings
-- The first events of recipes. OFFSET 0 makes the planner use the index for each.
SELECT e.notification_id, e.commit_end, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state,
       e.partition
FROM unnest(%(subjects)s::text[]) AS wanted (subject)
CROSS JOIN LATERAL (SELECT * FROM log.events AS e WHERE e.originator_id = wanted.subject ORDER BY e.originator_version
                    LIMIT 1 OFFSET 0) AS e

-- name: ended_recipes
-- Those of the recipes that have ended up to a position.
SELECT wanted.subject FROM unnest(%(subjects)s::text[]) AS wanted (subject)
WHERE EXISTS (SELECT FROM log.events AS e WHERE e.originator_id = wanted.subject AND e.topic = ANY (%(topics)s::text[])
              AND e.notification_id <= %(upto)s OFFSET 0)

-- name: kept_recipes
-- The recipes that keep their systems at a position.
SELECT r.originator_id FROM log.events AS r
WHERE r.topic = %(reserved)s AND r.notification_id <= %(upto)s
  AND NOT EXISTS (SELECT FROM log.events AS e WHERE e.originator_id = r.originator_id
                  AND e.originator_version > r.originator_version AND e.topic = ANY (%(topics)s::text[])
                  AND e.notification_id <= %(upto)s OFFSET 0)

-- name: events_of_topics
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE topic = ANY (%(topics)s::text[]) AND notification_id <= %(upto)s
ORDER BY notification_id
