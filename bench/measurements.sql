-- Durations computed from the log, by `recorded_at`, the clock of the database.

-- name: seconds_to_next
-- Seconds from each end of a usage to the next allocation of the system.
SELECT extract(epoch FROM next.recorded_at - ended.recorded_at)::float8
FROM log.events AS ended
JOIN LATERAL (
    SELECT e.recorded_at FROM log.events AS e
    WHERE e.originator_id = ended.originator_id AND e.originator_version > ended.originator_version
      AND e.topic = 'system.scheduled'
    ORDER BY e.originator_version LIMIT 1
) AS next ON true
WHERE ended.topic = 'system.pending' AND ended.notification_id > %s;

-- name: span
-- Events of a topic, their distinct subjects, and the seconds from the first event of any kind after a position
-- to the last event of the topic.
SELECT count(*), count(DISTINCT e.originator_id),
       coalesce(extract(epoch FROM max(e.recorded_at) - (
           SELECT f.recorded_at FROM log.events AS f
           WHERE f.notification_id > %(after)s ORDER BY f.notification_id LIMIT 1)), 0)::float8
FROM log.events AS e
WHERE e.topic = %(topic)s AND e.notification_id > %(after)s;

-- name: allocations_by_partition
SELECT partition, count(*) FROM log.events WHERE topic = 'system.scheduled' AND notification_id > %s
GROUP BY partition ORDER BY partition;

-- name: commits_behind_others
-- Number of commits of decisions after a position that do not directly follow their basis.
SELECT count(*) FROM (
    SELECT min(notification_id) AS first_position, min((convert_from(state, 'UTF8')::jsonb ->> 'basis')::bigint) AS basis
    FROM log.events WHERE notification_id > %s GROUP BY commit_end
) AS commits WHERE first_position > basis + 1;

-- name: scheduler_commits
-- Counters of the commits of all schedulers since the database was created.
SELECT name, sum(value)::float8 FROM live.counters
WHERE name IN ('scheduler_commits', 'scheduler_commits_reread') GROUP BY name;

-- name: started
-- Recipes that started after a position, with their locks, in order.
SELECT split_part(originator_id, '/', 2)::integer FROM log.events
WHERE topic IN ('recipe.waiting', 'recipe.locked') AND notification_id > %s
    AND convert_from(state, 'UTF8')::jsonb -> 'data' -> 'locks' IS DISTINCT FROM 'null'
ORDER BY notification_id LIMIT %s;

-- name: locking
-- Number of recipes that have their systems and wait for their locks.
SELECT count(*) FROM log.events AS e
WHERE e.topic = 'recipe.waiting' AND convert_from(e.state, 'UTF8')::jsonb -> 'data' -> 'locks' = 'null'
    AND NOT EXISTS (
        SELECT FROM log.events AS later
        WHERE later.originator_id = e.originator_id AND later.originator_version > e.originator_version);

-- name: network_holders
-- Running recipes that hold a network of the case `locks`, in order.
SELECT split_part(e.originator_id, '/', 2)::integer FROM log.events AS e
WHERE e.topic IN ('recipe.waiting', 'recipe.locked')
    AND starts_with(convert_from(e.state, 'UTF8')::jsonb #>> '{data,locks,network,Exclusive,0}', 'bench-')
    AND NOT EXISTS (
        SELECT FROM log.events AS later
        WHERE later.originator_id = e.originator_id AND later.originator_version > e.originator_version)
ORDER BY e.notification_id LIMIT %s;

-- name: seconds_to_locks
-- Seconds from each end of a recipe to the next grant of locks with the network that it declared.
WITH ended AS (
    SELECT e.recorded_at, e.notification_id, convert_from(n.state, 'UTF8')::jsonb -> 'data' -> 'locks' -> 'network' AS network
    FROM log.events AS e
    JOIN log.events AS n ON n.originator_id = e.originator_id AND n.originator_version = 1
    WHERE e.topic = 'recipe.aborted' AND e.notification_id > %(after)s
), locked AS MATERIALIZED (
    SELECT recorded_at, notification_id, convert_from(state, 'UTF8')::jsonb -> 'data' -> 'locks' -> 'network' AS network
    FROM log.events WHERE topic = 'recipe.locked' AND notification_id > %(after)s
)
SELECT extract(epoch FROM min(locked.recorded_at) - ended.recorded_at)::float8
FROM ended JOIN locked ON locked.network = ended.network AND locked.notification_id > ended.notification_id
GROUP BY ended.notification_id, ended.recorded_at;

-- name: others_after
-- Number of events of other subjects.
SELECT count(*) FROM log.events WHERE notification_id > %s AND NOT originator_id = ANY (%s);

-- name: lives
-- Seconds from the submission of a recipe to its completion.
SELECT extract(epoch FROM ended.recorded_at - new.recorded_at)::float8
FROM log.events AS ended
JOIN log.events AS new ON new.originator_id = ended.originator_id AND new.originator_version = 1
WHERE ended.topic = 'recipe.completed' AND ended.notification_id > %s;

-- name: running
-- Recipes that have started and not ended, with their systems.
SELECT split_part(w.originator_id, '/', 2)::integer, convert_from(w.state, 'UTF8')::jsonb -> 'data' ->> 'system'
FROM log.events AS e
JOIN LATERAL (
    SELECT originator_id, state FROM log.events
    WHERE originator_id = e.originator_id AND topic = 'recipe.waiting'
    ORDER BY originator_version DESC LIMIT 1
) AS w ON true
WHERE e.topic IN ('recipe.waiting', 'recipe.locked')
    AND convert_from(e.state, 'UTF8')::jsonb -> 'data' -> 'locks' IS DISTINCT FROM 'null'
    AND NOT EXISTS (
        SELECT FROM log.events AS later
        WHERE later.originator_id = e.originator_id AND later.originator_version > e.originator_version)
ORDER BY e.notification_id;

-- name: last_running
-- The running recipe that began last.
SELECT split_part(e.originator_id, '/', 2)::integer FROM log.events AS e
WHERE e.topic = 'recipe.running' AND NOT EXISTS (
    SELECT FROM log.events AS later
    WHERE later.originator_id = e.originator_id AND later.originator_version > e.originator_version
        AND later.topic IN ('recipe.reserved', 'recipe.completed', 'recipe.cancelled', 'recipe.aborted'))
ORDER BY e.notification_id DESC LIMIT 1;

-- name: broken_systems
-- The number of systems that the service made Broken after a position.
SELECT count(DISTINCT originator_id) FROM log.events
WHERE notification_id > %s AND topic = 'system.condition-changed';

-- name: recipe_events
-- Events of the recipes that were submitted after a position: set, recipe, topic, seconds.
WITH recipes AS (
    SELECT originator_id, (convert_from(state, 'UTF8')::jsonb -> 'data' ->> 'recipe_set_id')::integer AS recipe_set
    FROM log.events WHERE topic = 'recipe.new' AND notification_id > %s
)
SELECT r.recipe_set, e.originator_id,
    CASE WHEN e.topic = 'recipe.waiting' AND convert_from(e.state, 'UTF8')::jsonb -> 'data' -> 'locks' = 'null'
        THEN 'recipe.waiting without locks' ELSE e.topic END,
    extract(epoch FROM e.recorded_at)::float8
FROM log.events AS e JOIN recipes AS r USING (originator_id)
WHERE e.topic IN (
        'recipe.scheduled', 'recipe.waiting', 'recipe.locked', 'recipe.assigned', 'recipe.queued', 'recipe.aborted')
    AND e.notification_id > %s
ORDER BY e.notification_id;

-- name: epoch
-- The epoch of the current scheduler.
SELECT coalesce(max(epoch), 0) FROM log.leases;

-- name: first_allocation
-- Time of the first allocation that this epoch, or a later one, committed.
SELECT extract(epoch FROM min(recorded_at))::float8 FROM log.events
WHERE topic = 'system.scheduled' AND notification_id > %(after)s AND recorded_at > to_timestamp(%(since)s)
    AND (convert_from(state, 'UTF8')::jsonb ->> 'epoch')::bigint >= %(epoch)s;

-- name: held_twice
-- Number of allocations of systems that had a recipe.
SELECT count(*) FROM (
    SELECT topic, lag(topic) OVER (PARTITION BY originator_id ORDER BY originator_version) AS before
    FROM log.events WHERE topic IN (
        'system.idle', 'system.pending', 'system.scheduled', 'system.waiting', 'system.installing',
        'system.running')
) AS happened
WHERE topic = 'system.scheduled' AND before NOT IN ('system.pending', 'system.idle');

-- name: unplaced
-- Recipes that wait in the queue.
SELECT split_part(e.originator_id, '/', 2)::integer FROM log.events AS e
WHERE e.topic = 'recipe.queued' AND NOT EXISTS (
    SELECT FROM log.events AS later
    WHERE later.originator_id = e.originator_id AND later.originator_version > e.originator_version)
ORDER BY e.notification_id;

-- name: worked_off
-- Seconds from the first event after a position to the last allocation or event of a recipe.
SELECT extract(epoch FROM max(e.recorded_at) - (
    SELECT f.recorded_at FROM log.events AS f
    WHERE f.notification_id > %(after)s ORDER BY f.notification_id LIMIT 1))::float8
FROM log.events AS e
WHERE e.notification_id > %(after)s AND (e.topic = 'system.scheduled' OR e.originator_id = %(subject)s);

-- name: recorded_at
-- The times at which positions were recorded, as seconds since 1970.
SELECT e.notification_id, extract(epoch FROM e.recorded_at)::float8
FROM unnest(%s::bigint[]) AS wanted (position) JOIN log.events e ON e.notification_id = wanted.position;

-- name: started_in_read_models
-- Recipes that have a system and have started.
SELECT recipe_id FROM read.recipes
WHERE until_position = 9223372036854775807 AND state IN ('waiting', 'installing', 'running') AND NOT awaits_locks
ORDER BY recipe_id;

-- name: sessions
-- The sessions that have a name, and that name.
SELECT pid, application_name FROM pg_stat_activity WHERE application_name <> '';

-- name: used
-- The commits of all sessions, and the bytes of the write-ahead log.
SELECT xact_commit, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint
FROM pg_stat_database WHERE datname = current_database();

-- name: table_bytes
-- The bytes of the tables of the log and of the read models, with their indexes.
SELECT relnamespace::regnamespace::text, sum(pg_total_relation_size(oid))::bigint FROM pg_class
WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('log', 'read') GROUP BY 1;
