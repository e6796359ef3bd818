-- name: record
-- The lock serialises the commits, so that a reader that continues after an id misses no record.
WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtext('log.reads')))
INSERT INTO log.reads
    (user_name, role, token_id, method, path, query, request_id, is_stream, last_event_id)
SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s FROM turn RETURNING read_id

-- name: select
SELECT read_id, recorded_at, user_name, role, token_id, method, path, query, request_id, is_stream, last_event_id
FROM log.reads
WHERE read_id > %(after)s AND read_id < %(before)s
  AND recorded_at <= coalesce(%(until)s::timestamptz, 'infinity')
ORDER BY read_id ASC LIMIT %(limit)s

-- name: select_of_user
SELECT read_id, recorded_at, user_name, role, token_id, method, path, query, request_id, is_stream, last_event_id
FROM log.reads
WHERE user_name = %(user)s AND read_id > %(after)s AND read_id < %(before)s
  AND recorded_at <= coalesce(%(until)s::timestamptz, 'infinity')
ORDER BY read_id ASC LIMIT %(limit)s
