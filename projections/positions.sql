-- The position of the read models, and the position of a query.

-- name: progress
SELECT position, recorded_at, whole_from FROM read.progress WHERE name = 'all'

-- name: at_position
-- Round an as-of position down to the end of a commit. There is no moment before the first commit.
SELECT coalesce(max(commit_end), 0) AS position, max(recorded_at) AS moment FROM (
    SELECT commit_end, recorded_at FROM log.events
    WHERE notification_id <= %(wanted)s AND notification_id = commit_end ORDER BY notification_id DESC LIMIT 1) AS last

-- name: at_time
-- A moment in the future is limited to the present.
SELECT coalesce(max(last_position), 0) AS position, least(%(wanted)s::timestamptz, clock_timestamp()) AS moment FROM (
    SELECT last_position FROM log.commits
    WHERE recorded_at <= %(wanted)s ORDER BY recorded_at DESC, last_position DESC LIMIT 1) AS last

-- name: version
-- The version of an aggregate counts all its events, also those that change no row. A binary search finds it.
SELECT log.version_at(%(subject)s, %(at)s) AS version
