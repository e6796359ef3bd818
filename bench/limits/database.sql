-- Inserts into a table like that of the log, and the notification of a row.

-- name: make_table
-- Has the columns, checks and indexes of the log, so that its rows cost as much as those of the log.
CREATE TABLE bench_events (LIKE log.events INCLUDING ALL);

-- name: drop_table
DROP TABLE IF EXISTS bench_events;

-- name: insert
INSERT INTO bench_events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
SELECT e.*, clock_timestamp()
FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::bytea[], %b::bigint[], %b::bigint[]) AS e;

-- name: listen
LISTEN bench;

-- name: notify
NOTIFY bench;
