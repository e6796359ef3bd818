-- Systems, the idle pool, and what systems do and did.
--
-- What is hidden is unnested: PostgreSQL looks up a row in a hash table of it, where it would go through an array.

-- name: systems
-- All, or the one called `fqdn`, or those of which something was true; what is not asked for is null. `hidden` are left
-- out. A person has it where `reserved_by` is not null; `reserved_until` is null for one without an end, as is
-- `loaned_until`, `reserved_distro_tree_id` for one that is not provisioned first.
SELECT s.fqdn, s.lab_controller, s.owner, s.condition, s.draining, s.reserved_by, s.reserved_until,
       s.reserved_distro_tree_id, s.loaned_to, s.loaned_until, s.pools, s.inventory, u.usage, u.recipe_id
FROM (
    (SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s ORDER BY fqdn)
    UNION ALL
    (SELECT * FROM read.systems
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
     ORDER BY fqdn)
) AS s
CROSS JOIN LATERAL (
    SELECT i.usage, i.recipe_id FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u
WHERE s.fqdn > %(after)s
  AND (%(fqdn)s::text IS NULL OR s.fqdn = %(fqdn)s::text)
  AND (%(lab_controller)s::text IS NULL OR s.lab_controller = %(lab_controller)s::text)
  AND (%(owner)s::text IS NULL OR s.owner = %(owner)s::text)
  AND (%(pool)s::text IS NULL OR s.pools ? %(pool)s::text)
  AND (%(condition)s::text IS NULL OR s.condition = %(condition)s::text)
  AND (%(usage)s::text IS NULL OR u.usage = %(usage)s::text)
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY s.fqdn LIMIT %(limit)s

-- name: access_to_system
-- Its own access policy, null where it was never given one, and the pool whose policy counts in its place.
SELECT access_policy, active_pool FROM read.systems
WHERE fqdn = %(fqdn)s AND since_position <= %(at)s AND until_position > %(at)s

-- name: system_is_known
SELECT fqdn FROM read.systems WHERE fqdn = %(fqdn)s AND since_position <= %(at)s AND until_position > %(at)s

-- name: idle_pool
SELECT fqdn, lab_controller, since, since_position FROM (
    (SELECT * FROM read.idle_pool WHERE until_position = 9223372036854775807 AND since_position <= %(at)s ORDER BY fqdn)
    UNION ALL
    (SELECT * FROM read.idle_pool
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
     ORDER BY fqdn)
) AS idle
WHERE fqdn > %(after)s AND (%(hidden)s::text[] IS NULL OR fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY fqdn LIMIT %(limit)s

-- name: usage_of_system
-- What ended later had no end then.
SELECT condition, usage, recipe_id, since, CASE WHEN until_position <= %(at)s THEN until END AS until,
       since_position, CASE WHEN until_position <= %(at)s THEN until_position END AS until_position
FROM read.system_usage
WHERE fqdn = %(fqdn)s AND since_position <= %(at)s
  AND since < coalesce(%(until)s::timestamptz, 'infinity')
  AND (until_position > %(at)s OR until > coalesce(%(since)s::timestamptz, '-infinity'))
ORDER BY since_position

-- name: system_usage
-- Seconds per condition and usage from one moment to before another, grouped by what was true of the system at the
-- time: one that moved from lab to lab counts for each as long as it was there. A system in two pools counts in both,
-- one in no pool under null, and so do architectures. `until` is at most the moment of `at`; systems that are `hidden`
-- count in every sum that does not name them.
WITH span AS MATERIALIZED (
    -- Commits before the first and after the last have no part in it.
    SELECT coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= %(since)s::timestamptz
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS first,
           least((SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
                  ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), %(at)s) AS last
)
SELECT g.key, u.condition, u.usage,
       sum(extract(epoch FROM least(u.ended, s.ended, %(until)s::timestamptz)
                            - greatest(u.since, s.since, %(since)s::timestamptz)))::double precision AS seconds
FROM span CROSS JOIN (
    -- Also those that were removed: no system is ever forgotten.
    SELECT fqdn FROM read.systems WHERE until_position = 9223372036854775807
       AND (%(hidden)s::text[] IS NULL OR %(group_by)s <> 'system'
            OR fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))) AS known
-- OFFSET 0 keeps the planner from reading all of history for what the keys find in it, system by system.
CROSS JOIN LATERAL (
    SELECT i.lab_controller, i.pools, i.inventory, i.since, i.since_position, i.until_position,
           CASE WHEN i.until_position <= %(at)s THEN i.until ELSE 'infinity' END AS ended
    FROM read.systems i
    WHERE i.fqdn = known.fqdn AND i.since_position <= span.last AND i.since_position >= coalesce((
        SELECT max(b.since_position) FROM read.systems b
        WHERE b.fqdn = known.fqdn AND b.since_position <= span.first), 0)
    OFFSET 0) AS s
CROSS JOIN LATERAL (
    SELECT i.condition, i.usage, i.since,
           CASE WHEN i.until_position <= %(at)s THEN i.until ELSE 'infinity' END AS ended
    FROM read.system_usage i
    WHERE i.fqdn = known.fqdn AND i.since_position <= span.last AND i.since_position < s.until_position
      AND i.since_position >= coalesce((
        SELECT max(b.since_position) FROM read.system_usage b
        WHERE b.fqdn = known.fqdn AND b.since_position <= greatest(span.first, s.since_position)), 0)
    OFFSET 0) AS u
LEFT JOIN LATERAL (
    SELECT known.fqdn AS key WHERE %(group_by)s = 'system'
    UNION ALL SELECT s.lab_controller WHERE %(group_by)s = 'lab_controller'
    UNION ALL SELECT jsonb_array_elements_text(s.pools) WHERE %(group_by)s = 'pool'
    UNION ALL SELECT DISTINCT jsonb_array_elements_text(nullif(s.inventory -> 'arches', 'null')) WHERE %(group_by)s = 'arch'
) AS g ON true
WHERE greatest(u.since, s.since, %(since)s::timestamptz) < least(u.ended, s.ended, %(until)s::timestamptz)
GROUP BY g.key, u.condition, u.usage ORDER BY g.key NULLS LAST, u.condition, u.usage

-- name: usage_of_each_system
-- The same from the beginning and system by system, a page of systems in order: whatever a system was in, all of its
-- history counts, so it is read once. `groups` is JSON text, [{"key", "seconds": {condition: {usage: seconds}}}]: there
-- may be thousands, and whoever answers has nothing to do with them but to hand them on.
WITH page AS MATERIALIZED (
    SELECT s.fqdn FROM read.systems s
    WHERE s.until_position = 9223372036854775807 AND s.fqdn > %(after)s
      AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[]))) AND EXISTS (
        SELECT FROM read.system_usage u
        WHERE u.fqdn = s.fqdn AND u.since_position <= %(at)s AND u.since < %(until)s::timestamptz
          AND (u.until_position > %(at)s OR u.since < u.until))
    ORDER BY s.fqdn LIMIT %(limit)s
)
SELECT coalesce(json_agg(json_build_object('key', fqdn, 'seconds', seconds) ORDER BY fqdn), '[]')::text AS groups,
       count(*) AS number, max(fqdn) AS last
FROM (
    SELECT fqdn, json_object_agg(condition, seconds ORDER BY condition) AS seconds FROM (
        SELECT fqdn, condition, json_object_agg(usage, seconds ORDER BY usage) AS seconds FROM (
            -- Intervals are summed without a rounding error, and in a third of the time of numerics.
            SELECT u.fqdn, u.condition, u.usage,
                   date_part('epoch', sum(least(u.ended, %(until)s::timestamptz) - u.since)) AS seconds
            FROM page CROSS JOIN LATERAL (
                SELECT *, CASE WHEN until_position <= %(at)s THEN until ELSE 'infinity' END AS ended
                FROM read.system_usage i
                WHERE i.fqdn = page.fqdn AND i.since_position <= %(at)s AND i.since < %(until)s::timestamptz) AS u
            WHERE u.since < u.ended
            GROUP BY u.fqdn, u.condition, u.usage
        ) AS summed GROUP BY fqdn, condition
    ) AS of_condition GROUP BY fqdn
) AS of_system

-- name: changes_of_system
-- What was true of a system from each change on, and what was before: null before the first. The latest first; `before`
-- is a position.
SELECT s.since_position, s.since, to_jsonb(s) AS becomes, to_jsonb(b) AS was
FROM read.systems s
LEFT JOIN LATERAL (
    SELECT * FROM read.systems i WHERE i.fqdn = s.fqdn AND i.since_position < s.since_position
    ORDER BY i.since_position DESC LIMIT 1) AS b ON true
WHERE s.fqdn = %(fqdn)s AND s.since_position <= %(at)s AND s.since_position < %(before)s
ORDER BY s.since_position DESC LIMIT %(limit)s
