-- Why idle Automated systems are in no idle pool: draining, occupied, or disabled with their lab. Sums of usage count such
-- time apart from `idle`. They also sum by user: the owner of the job, or the person who reserved or borrowed the system.

-- No projector may write between this and the first page that is folded with the new column.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
ALTER TABLE read.system_usage ADD COLUMN unavailable text;

-- The parts of idle time, by reason: `begun` is the interval. Only intervals with such a part.
CREATE TABLE live.idle_parts AS
WITH idle AS MATERIALIZED (
    SELECT fqdn, since_position AS begun, since, until_position, until FROM read.system_usage
    WHERE usage = 'idle' AND condition = 'Automated'
), changes AS (
    SELECT fqdn, begun, begun AS since_position, since, until_position, until FROM idle
    UNION
    SELECT i.fqdn, i.begun, s.since_position, s.since, i.until_position, i.until
    FROM idle i JOIN read.systems s
      ON s.fqdn = i.fqdn AND s.since_position > i.begun AND s.since_position < i.until_position
    UNION
    SELECT i.fqdn, i.begun, e.position, e.moment, i.until_position, i.until
    FROM idle i
    JOIN read.idle_pool p ON p.fqdn = i.fqdn AND p.since_position < i.until_position AND p.until_position > i.begun
    CROSS JOIN LATERAL (VALUES (p.since_position, p.since), (p.until_position, p.until)) AS e (position, moment)
    WHERE e.position > i.begun AND e.position < i.until_position
), reasons AS (
    SELECT c.*, CASE WHEN s.reserved_by IS NOT NULL THEN NULL WHEN s.draining THEN 'draining'
                     WHEN s.occupied IS NOT NULL THEN 'occupied'
                     WHEN NOT EXISTS (
                         SELECT FROM read.idle_pool p WHERE p.fqdn = c.fqdn
                         AND p.since_position <= c.since_position AND p.until_position > c.since_position)
                     THEN 'disabled' END AS unavailable
    FROM changes c CROSS JOIN LATERAL (
        SELECT * FROM read.systems b WHERE b.fqdn = c.fqdn AND b.since_position <= c.since_position
        ORDER BY b.since_position DESC LIMIT 1) AS s
), begins AS (
    SELECT *, row_number() OVER parts = 1 OR unavailable IS DISTINCT FROM lag(unavailable) OVER parts AS is_begin
    FROM reasons WINDOW parts AS (PARTITION BY fqdn, begun ORDER BY since_position)
)
SELECT * FROM (
    SELECT fqdn, begun, unavailable, since_position, since,
           lead(since_position, 1, until_position) OVER parts AS until_position, lead(since, 1, until) OVER parts AS until,
           count(unavailable) OVER (PARTITION BY fqdn, begun) > 0 AS is_unavailable
    FROM begins WHERE is_begin WINDOW parts AS (PARTITION BY fqdn, begun ORDER BY since_position)) AS split
WHERE is_unavailable;

UPDATE read.system_usage u SET unavailable = p.unavailable, until_position = p.until_position, until = p.until
FROM live.idle_parts p WHERE p.fqdn = u.fqdn AND p.since_position = u.since_position;
INSERT INTO read.system_usage (fqdn, condition, usage, unavailable, since_position, since, until_position, until)
SELECT fqdn, 'Automated', 'idle', unavailable, since_position, since, until_position, until
FROM live.idle_parts WHERE since_position > begun;
DROP TABLE live.idle_parts;

-- The names of the function have no schema, because a rebuild folds into another one.
SET LOCAL search_path = read;

-- Store the sums of the whole hours from `first_hour` to before `end_hour`, which must be over. A function, because the
-- projector, a rebuild and this migration use it. The history of each system is found by its key. An interval counts at its begin and at its end,
-- so that the hours in between cost nothing until they are stored.
CREATE OR REPLACE FUNCTION live.close_hours(first_hour timestamptz, end_hour timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO usage_hours (group_by, hour, key, lab_controller, condition, usage, microseconds, since_position)
WITH start AS MATERIALIZED (
    SELECT coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= first_hour
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS position
), intervals AS (
    SELECT s.lab_controller, s.pools, s.inventory -> 'arches' AS arches, u.condition,
           coalesce(u.unavailable, u.usage) AS usage,
           coalesce(d.owner, s.reserved_by, '') AS owner, coalesce(d.group_name, '') AS group_name,
           coalesce(d.owner, s.reserved_by, s.loaned_to, '') AS user_name,
           greatest(u.since, s.since, first_hour) AS since, least(u.until, s.until, end_hour) AS until
    FROM start CROSS JOIN (SELECT fqdn FROM systems WHERE until_position = 9223372036854775807) AS known
    CROSS JOIN LATERAL (
        SELECT * FROM systems i
        WHERE i.fqdn = known.fqdn AND i.since_position >= coalesce((
            SELECT max(b.since_position) FROM systems b
            WHERE b.fqdn = known.fqdn AND b.since_position <= start.position), 0)
        OFFSET 0) AS s
    CROSS JOIN LATERAL (
        SELECT * FROM system_usage i
        WHERE i.fqdn = known.fqdn AND i.since_position < s.until_position AND i.since_position >= coalesce((
            SELECT max(b.since_position) FROM system_usage b
            WHERE b.fqdn = known.fqdn AND b.since_position <= greatest(start.position, s.since_position)), 0)
        OFFSET 0) AS u
    LEFT JOIN recipe_details d ON d.recipe_id = u.recipe_id AND d.since_position <= u.since_position
    WHERE greatest(u.since, s.since, first_hour) < least(u.until, s.until, end_hour)
), ends AS (
    -- The change of the number of systems in an hour, and of their time in it: from each begin to the end of the hour,
    -- less from each end to there.
    SELECT lab_controller, pools, arches, owner, group_name, user_name, condition, usage, e.hour,
           sum(e.systems) AS systems, sum(e.spent) AS spent
    FROM intervals i CROSS JOIN LATERAL (
        SELECT 1 AS systems, b.hour, b.hour + interval '1 hour' - i.since AS spent
        FROM date_trunc('hour', i.since, 'UTC') AS b (hour)
        UNION ALL
        SELECT -1, b.hour, i.until - b.hour - interval '1 hour'
        FROM date_trunc('hour', i.until, 'UTC') AS b (hour) WHERE i.until < end_hour) AS e
    GROUP BY lab_controller, pools, arches, owner, group_name, user_name, condition, usage, e.hour
), changes AS (
    SELECT k.group_by, k.key, lab_controller, condition, usage, hour, sum(systems)::integer AS systems, sum(spent) AS spent
    FROM ends CROSS JOIN LATERAL (
        SELECT 'lab_controller' AS group_by, lab_controller AS key
        UNION ALL SELECT 'owner', owner
        UNION ALL SELECT 'group', group_name
        UNION ALL SELECT 'user', user_name
        UNION ALL SELECT 'pool', jsonb_array_elements_text(CASE pools WHEN '[]' THEN '[""]' ELSE pools END)
        UNION ALL SELECT DISTINCT 'arch', jsonb_array_elements_text(
            CASE WHEN arches IS NULL OR arches IN ('null', '[]') THEN '[""]' ELSE arches END)) AS k
    GROUP BY k.group_by, k.key, lab_controller, condition, usage, hour
), numbers AS (
    SELECT *, sum(systems) OVER following AS systems_after, lead(hour, 1, end_hour) OVER following AS next_hour
    FROM changes
    WINDOW following AS (PARTITION BY group_by, key, lab_controller, condition, usage ORDER BY hour)
)
SELECT n.group_by, h.hour, n.key, n.lab_controller, n.condition, n.usage, (extract(epoch FROM h.spent) * 1000000)::bigint,
       (SELECT c.first_position FROM log.commits c WHERE c.recorded_at >= h.hour + interval '1 hour'
        ORDER BY c.recorded_at, c.last_position LIMIT 1)
FROM numbers n CROSS JOIN LATERAL (
    -- The hour of the change, and the hours until the next one.
    SELECT n.hour, make_interval(hours => (n.systems_after - n.systems)::integer) + n.spent AS spent
    UNION ALL
    SELECT g.hour, make_interval(hours => n.systems_after::integer)
    FROM generate_series(n.hour + interval '1 hour', n.next_hour - interval '1 hour', interval '1 hour') AS g (hour)) AS h
WHERE h.spent > interval '0'
$$;

DELETE FROM usage_hours;
SELECT live.close_hours('1970-01-01 00:00:00+00', date_trunc('hour', recorded_at, 'UTC'))
FROM progress WHERE recorded_at IS NOT NULL;
RESET search_path;
