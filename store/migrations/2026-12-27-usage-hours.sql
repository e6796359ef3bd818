-- The sums of the usage of systems in each hour that is over, so that a long time span needs no intervals.

-- `key` is the name of the group, empty for no name; `group_by` says of which kind it is. A system counts in each of its
-- pools and architectures. Rows without any time are not stored. `since_position` is the first position after the hour:
-- from there on, no event changes the sums.
CREATE TABLE read.usage_hours (
    group_by       text        NOT NULL,
    hour           timestamptz NOT NULL,
    key            text        NOT NULL,
    lab_controller text        NOT NULL,
    condition      text        NOT NULL,
    usage          text        NOT NULL,
    microseconds   bigint      NOT NULL,
    since_position bigint      NOT NULL,
    PRIMARY KEY (group_by, hour, key, lab_controller, condition, usage)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON read.usage_hours TO labledger_service;

-- The names of the function have no schema, because a rebuild folds into another one.
SET LOCAL search_path = read;

-- Store the sums of the whole hours from `first_hour` to before `end_hour`, which must be over. A function, because the
-- projector, a rebuild and this migration use it. The history of each system is found by its key. An interval counts at its begin and at its end,
-- so that the hours in between cost nothing until they are stored.
CREATE FUNCTION live.close_hours(first_hour timestamptz, end_hour timestamptz) RETURNS void LANGUAGE sql AS $$
INSERT INTO usage_hours (group_by, hour, key, lab_controller, condition, usage, microseconds, since_position)
WITH start AS MATERIALIZED (
    SELECT coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= first_hour
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS position
), intervals AS (
    SELECT s.lab_controller, s.pools, s.inventory -> 'arches' AS arches, u.condition, u.usage,
           coalesce(d.owner, s.reserved_by, '') AS owner, coalesce(d.group_name, '') AS group_name,
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
    SELECT lab_controller, pools, arches, owner, group_name, condition, usage, e.hour,
           sum(e.systems) AS systems, sum(e.spent) AS spent
    FROM intervals i CROSS JOIN LATERAL (
        SELECT 1 AS systems, b.hour, b.hour + interval '1 hour' - i.since AS spent
        FROM date_trunc('hour', i.since, 'UTC') AS b (hour)
        UNION ALL
        SELECT -1, b.hour, i.until - b.hour - interval '1 hour'
        FROM date_trunc('hour', i.until, 'UTC') AS b (hour) WHERE i.until < end_hour) AS e
    GROUP BY lab_controller, pools, arches, owner, group_name, condition, usage, e.hour
), changes AS (
    SELECT k.group_by, k.key, lab_controller, condition, usage, hour, sum(systems)::integer AS systems, sum(spent) AS spent
    FROM ends CROSS JOIN LATERAL (
        SELECT 'lab_controller' AS group_by, lab_controller AS key
        UNION ALL SELECT 'owner', owner
        UNION ALL SELECT 'group', group_name
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

REVOKE ALL ON FUNCTION live.close_hours FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.close_hours TO labledger_service;

-- No projector may write between this and the first page that closes an hour.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
SELECT live.close_hours('1970-01-01 00:00:00+00', date_trunc('hour', recorded_at, 'UTC'))
FROM progress WHERE recorded_at IS NOT NULL;
RESET search_path;
