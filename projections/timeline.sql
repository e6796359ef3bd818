-- The time line: the usage of many systems between two moments.

-- name: timeline
-- The intervals of a page of systems from one moment to before another, without gaps, as JSON text. The systems are those
-- that match the filters as of `at`, except `hidden` ones; unused filters are null. `until` must not be after the moment
-- of `at`.
--
-- An interval that is shorter than `resolution` seconds becomes mixed, together with its short neighbours. It has the
-- seconds of each condition and usage. Idle time outside of the idle pool is draining, occupied or disabled. Before its registration a system is `unregistered`. Intervals without duration are
-- left out; `end_…` is the state at the end of the span. At most `max_intervals` intervals of a system are read, all if it is
-- null. A page ends early, after the system with which it has `max_page_intervals` intervals; `has_more` is then true: the
-- page is cut.
WITH span AS MATERIALIZED (
    -- The positions at both ends.
    SELECT coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= %(since)s::timestamptz
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS first,
           least(coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
                           ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0), %(at)s) AS last,
           -- A change at the very end has no duration, but it is the state at the end.
           least(coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= %(until)s::timestamptz
                           ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0), %(at)s) AS ending,
           %(since)s::timestamptz AS since, %(until)s::timestamptz AS until
),
page AS MATERIALIZED (
    SELECT s.fqdn, s.lab_controller, s.owner, s.condition, s.pools
    FROM (
        (SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
         ORDER BY fqdn)
        UNION ALL
        (SELECT * FROM read.systems
         WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
         ORDER BY fqdn)
    ) AS s
    WHERE s.fqdn > %(after)s
      AND (%(fqdns)s::text[] IS NULL OR s.fqdn = ANY (%(fqdns)s::text[]))
      AND (%(lab_controller)s::text IS NULL OR s.lab_controller = %(lab_controller)s::text)
      AND (%(owner)s::text IS NULL OR s.owner = %(owner)s::text)
      AND (%(pool)s::text IS NULL OR s.pools ? %(pool)s::text)
      AND (%(condition)s::text IS NULL OR s.condition = %(condition)s::text)
      AND (%(labs)s::text[] IS NULL OR s.lab_controller = ANY (%(labs)s::text[]))
      AND (%(other_labs)s::text[] IS NULL OR s.lab_controller <> ALL (%(other_labs)s::text[]))
      AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
    ORDER BY s.fqdn LIMIT %(limit)s
),
exact AS (
    SELECT page.fqdn, u.condition, u.usage, u.recipe_id, u.since_position, u.since, u.until
    FROM page CROSS JOIN span CROSS JOIN LATERAL (
        SELECT i.condition, coalesce(i.unavailable, i.usage) AS usage, i.recipe_id, i.since_position, greatest(i.since, span.since) AS since,
               least(CASE WHEN i.until_position <= %(at)s THEN i.until END, span.until) AS until
        FROM read.system_usage i
        WHERE i.fqdn = page.fqdn AND i.since_position <= span.last AND i.since_position >= coalesce((
            SELECT max(b.since_position) FROM read.system_usage b
            WHERE b.fqdn = page.fqdn AND b.since_position <= span.first), 0)
          AND greatest(i.since, span.since) < least(CASE WHEN i.until_position <= %(at)s THEN i.until END, span.until)
        -- OFFSET 0 makes the planner use the key of each system instead of a scan of the history.
        LIMIT %(max_intervals)s OFFSET 0) AS u
    UNION ALL
    SELECT page.fqdn, NULL, 'unregistered', NULL, NULL, span.since, least(registered.since, span.until)
    FROM page CROSS JOIN span CROSS JOIN LATERAL (
        SELECT i.since FROM read.system_usage i WHERE i.fqdn = page.fqdn ORDER BY i.since_position LIMIT 1) AS registered
    WHERE registered.since > span.since
),
-- `place` counts the long intervals up to this one: short neighbours have one place.
placed AS (
    SELECT *, count(*) FILTER (WHERE NOT is_short) OVER (PARTITION BY fqdn ORDER BY since) AS place
    FROM (SELECT *, until - since < make_interval(secs => %(resolution)s) AS is_short FROM exact) AS marked
),
shares AS (
    SELECT fqdn, place, is_short, condition, usage, sum(until - since) AS spent, min(since) AS since, max(until) AS until,
           min(recipe_id) AS recipe_id, min(since_position) AS since_position
    FROM placed GROUP BY fqdn, place, is_short, condition, usage
),
joined AS (
    SELECT fqdn, min(since) AS since, max(until) AS until, sum(spent) AS spent,
           CASE WHEN NOT is_short THEN min(condition) END AS condition,
           CASE WHEN is_short THEN 'mixed' ELSE min(usage) END AS usage,
           CASE WHEN NOT is_short THEN min(recipe_id) END AS recipe_id, min(since_position) AS since_position,
           coalesce(json_agg(json_build_object(
               'condition', condition, 'usage', usage, 'seconds', extract(epoch FROM spent)
           ) ORDER BY condition, usage) FILTER (WHERE is_short), '[]') AS shares
    FROM shares GROUP BY fqdn, place, is_short
),
drawn AS (
    SELECT i.fqdn, count(*)::integer AS number, json_agg(json_build_object(
               'since', to_char(i.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
               'until', to_char(i.until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
               'seconds', extract(epoch FROM i.spent), 'condition', i.condition, 'usage', i.usage,
               'recipe_id', i.recipe_id, 'job_id', d.job_id, 'user', coalesce(d.owner, r.reserved_by),
               'shares', i.shares
           ) ORDER BY i.since)::text AS intervals
    FROM joined i
    LEFT JOIN read.recipe_details d ON d.recipe_id = i.recipe_id
    LEFT JOIN LATERAL (
        -- A reservation begins in the commit of its first interval, before it.
        SELECT s.reserved_by FROM read.systems s
        WHERE i.recipe_id IS NULL AND i.usage IN ('waiting', 'installing', 'running')
          AND s.fqdn = i.fqdn AND s.since_position <= i.since_position
        ORDER BY s.since_position DESC LIMIT 1) AS r ON true
    GROUP BY i.fqdn
)
SELECT page.fqdn, page.lab_controller, page.owner, page.condition, page.pools, d.number, d.intervals, d.has_more,
       e.condition AS end_condition, e.usage AS end_usage, e.recipe_id AS end_recipe_id, e.user AS end_user
FROM (
    SELECT *, sum(number) OVER (ORDER BY fqdn) - number AS before, sum(number) OVER (ORDER BY fqdn) >= %(max_page_intervals)s AS has_more
    FROM drawn) AS d
JOIN page ON page.fqdn = d.fqdn
CROSS JOIN span
LEFT JOIN LATERAL (
    -- Each LIMIT 1 makes the planner read the last row alone, instead of the history of the system.
    SELECT u.condition, coalesce(u.unavailable, u.usage) AS usage, u.recipe_id, coalesce(j.owner, s.reserved_by) AS user
    FROM (SELECT * FROM read.system_usage i WHERE i.fqdn = page.fqdn AND i.since_position <= span.ending
          ORDER BY i.since_position DESC LIMIT 1) AS u
    CROSS JOIN (SELECT * FROM read.systems i WHERE i.fqdn = page.fqdn AND i.since_position <= span.ending
                ORDER BY i.since_position DESC LIMIT 1) AS s
    LEFT JOIN read.recipe_details j ON j.recipe_id = u.recipe_id) AS e ON true
WHERE d.before < %(max_page_intervals)s
ORDER BY page.fqdn
