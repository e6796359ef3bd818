-- The position of the read models, and the position of a query.

-- name: progress
SELECT position, recorded_at, whole_from FROM read.progress WHERE name = 'all'

-- name: at_position
-- Round an as-of position down to the end of a commit. There is no moment before the first commit.
SELECT coalesce(max(commit_end), 0) AS position, max(recorded_at) AS moment FROM (
    SELECT commit_end, recorded_at FROM log.events
    WHERE notification_id <= %(wanted)s AND notification_id = commit_end ORDER BY notification_id DESC LIMIT 1) AS last

-- name: begin_of_log
-- The time of the first commit.
SELECT recorded_at FROM log.commits ORDER BY last_position LIMIT 1

-- name: at_time
-- A moment in the future is limited to the present.
SELECT coalesce(max(last_position), 0) AS position, least(%(wanted)s::timestamptz, clock_timestamp()) AS moment FROM (
    SELECT last_position FROM log.commits
    WHERE recorded_at <= %(wanted)s ORDER BY recorded_at DESC, last_position DESC LIMIT 1) AS last

-- name: version
-- The version of an aggregate counts all its events, also those that change no row. A binary search finds it.
SELECT log.version_at(%(subject)s, %(at)s) AS version

-- name: previous_change
-- The latest commit before the one that ends at a position with an event of one of the subjects.
SELECT max(found.commit_end) AS position
FROM unnest(%(subjects)s::text[]) AS wanted (subject)
CROSS JOIN LATERAL (
    SELECT e.commit_end FROM log.events e
    WHERE e.originator_id = wanted.subject AND e.originator_version <= log.version_at(wanted.subject, %(at)s)
      AND e.commit_end < %(at)s
    ORDER BY e.originator_version DESC LIMIT 1) AS found

-- name: next_change
-- The first commit after a position with an event of one of the subjects.
SELECT min(found.commit_end) AS position
FROM unnest(%(subjects)s::text[]) AS wanted (subject)
CROSS JOIN LATERAL (
    SELECT e.commit_end FROM log.events e
    WHERE e.originator_id = wanted.subject AND e.originator_version > log.version_at(wanted.subject, %(at)s)
    ORDER BY e.originator_version LIMIT 1) AS found

-- name: previous_commit
SELECT commit_end AS position FROM log.events
WHERE notification_id <= %(at)s AND commit_end < %(at)s ORDER BY notification_id DESC LIMIT 1

-- name: next_commit
SELECT commit_end AS position FROM log.events WHERE notification_id > %(at)s ORDER BY notification_id LIMIT 1

-- name: subjects_of_job
-- The subjects whose events change the page of a job.
SELECT 'job/' || %(job_id)s::text AS subject
UNION ALL
SELECT 'recipe/' || d.recipe_id FROM read.recipe_details d WHERE d.job_id = %(job_id)s::integer
UNION ALL
SELECT DISTINCT 'recipe-set/' || d.recipe_set_id FROM read.recipe_details d WHERE d.job_id = %(job_id)s::integer

-- name: changed_subjects
-- The subjects that have an event after their position.
SELECT wanted.subject
FROM unnest(%(subjects)s::text[], %(after)s::bigint[]) AS wanted (subject, after)
CROSS JOIN LATERAL (
    SELECT e.notification_id FROM log.events e
    WHERE e.originator_id = wanted.subject ORDER BY e.originator_version DESC LIMIT 1) AS latest
WHERE latest.notification_id > wanted.after
