-- name: append
SELECT * FROM log.append(
    %b::text[], %b::text[], %b::bigint[], %b::bytea[], %b::bytea[],
    %b::integer[], %b::text[], %b::bigint[],
    %b::integer[], %b::text[], %b::bigint[], %b::text[], %b::bytea[])

-- name: load
-- The events of many aggregates, each after the version that is known already, in version order.
SELECT e.notification_id, e.commit_end, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state
FROM unnest(%s::text[], %s::bigint[]) AS wanted (subject, after)
JOIN log.events e ON e.originator_id = wanted.subject AND e.originator_version > wanted.after
ORDER BY e.originator_id, e.originator_version

-- name: page
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state
FROM log.events WHERE notification_id > %s ORDER BY notification_id LIMIT %s

-- name: rest_of_commit
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state
FROM log.events WHERE notification_id > %s AND notification_id <= %s ORDER BY notification_id

-- name: directory
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state
FROM log.events
WHERE topic ~ '^(user|group|pool|lab-controller|distro-tree|token)[.]|^system[.]registered$'
  AND notification_id <= %s
ORDER BY notification_id

-- name: end
SELECT coalesce(max(notification_id), 0) FROM log.events

-- name: filtered
-- Whole log or a selection, for showing: by topics, and by subject.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state
FROM log.events
WHERE notification_id > %(after)s AND notification_id <= %(upto)s
  AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s::text[]))
  AND (%(subject)s::text IS NULL OR originator_id = %(subject)s::text)
ORDER BY notification_id LIMIT %(limit)s

-- name: take_ids
SELECT nextval('log.job_ids'),
       ARRAY(SELECT nextval('log.recipe_set_ids') FROM generate_series(1, %s)),
       ARRAY(SELECT nextval('log.recipe_ids') FROM generate_series(1, %s)),
       ARRAY(SELECT nextval('log.task_ids') FROM generate_series(1, %s))

-- name: commit_of
SELECT first_position, last_position, recorded_at, digest, answer FROM log.commits WHERE command_id = %s

-- name: try_lease
SELECT pg_try_advisory_lock(%s, hashtext(%s))

-- name: take_lease
SELECT log.take_lease(%s, %s)
