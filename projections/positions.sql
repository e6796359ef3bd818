-- How far the read models are, and which position a question is about.

-- name: progress
SELECT position, recorded_at, whole_from FROM read.progress WHERE name = 'all'

-- name: at_position
-- As-of positions round down to the end of a commit. Before the first there is no moment.
SELECT coalesce(max(commit_end), 0) AS position, max(recorded_at) AS moment FROM (
    SELECT commit_end, recorded_at FROM log.events
    WHERE notification_id <= %(wanted)s AND notification_id = commit_end ORDER BY notification_id DESC LIMIT 1) AS last

-- name: at_time
-- Nothing is known of what is still to come.
SELECT coalesce(max(last_position), 0) AS position, least(%(wanted)s::timestamptz, clock_timestamp()) AS moment FROM (
    SELECT last_position FROM log.commits
    WHERE recorded_at <= %(wanted)s ORDER BY recorded_at DESC, last_position DESC LIMIT 1) AS last

-- name: version
-- Of an aggregate, with all of its events, also those that move no row here. Halving finds it, however many they are.
SELECT log.version_at(%(subject)s, %(at)s) AS version
