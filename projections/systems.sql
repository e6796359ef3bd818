-- Systems, the idle pool, and the usage of systems.
--
-- Hidden systems are unnested, because PostgreSQL then uses a hash table, and would search an array row by row. The
-- systems of a partition are those of its `labs`; of `default` all but those of the few `other_labs`.

-- name: systems
-- All systems that match the filters, except `hidden` ones; unused filters are null. A person has the system if
-- `reserved_by` is not null. `reserved_until` and `loaned_until` are null without an end, `reserved_distro_tree_id` is
-- null without provisioning.
SELECT s.fqdn, s.lab_controller, s.owner, s.condition, s.draining, s.reserved_by, s.reserved_until,
       s.reserved_distro_tree_id, s.loaned_to, s.loaned_until, s.occupied, s.ticket, s.pools, s.inventory, u.usage, u.recipe_id
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
  AND (%(location)s::text IS NULL OR s.inventory ->> 'location' = %(location)s::text)
  AND (%(draining)s::boolean IS NULL OR s.draining = %(draining)s::boolean)
  AND (%(labs)s::text[] IS NULL OR s.lab_controller = ANY (%(labs)s::text[]))
  AND (%(other_labs)s::text[] IS NULL OR s.lab_controller <> ALL (%(other_labs)s::text[]))
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY s.fqdn LIMIT %(limit)s

-- name: reconciliations
-- The occupied systems after an id, oldest first, except `hidden` ones; unused filters are null. The id is the position of
-- the event that made the system occupied.
SELECT (s.occupied ->> 'since')::bigint AS id, s.fqdn AS system, s.lab_controller, s.occupied ->> 'reason' AS reason,
       (s.occupied ->> 'recipe_id')::integer AS recipe_id, (s.occupied ->> 'attempt')::integer AS attempt,
       (SELECT min(b.since) FROM read.systems b
        WHERE b.fqdn = s.fqdn AND b.occupied ->> 'since' = s.occupied ->> 'since') AS since
FROM read.systems s
WHERE s.occupied IS NOT NULL AND s.since_position <= %(at)s AND s.until_position > %(at)s
  AND (s.occupied ->> 'since')::bigint > %(after)s
  AND (%(lab_controller)s::text IS NULL OR s.lab_controller = %(lab_controller)s::text)
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY id LIMIT %(limit)s

-- name: rejected_items
-- The refused items of the present registrations, by lab controller; unused filters are null.
SELECT d.name AS lab_controller, d.document #>> '{rejected,instance}' AS instance, i.item ->> 'system' AS system,
       i.item ->> 'reason' AS reason
FROM read.documents d CROSS JOIN LATERAL jsonb_array_elements(d.document #> '{rejected,items}') AS i (item)
WHERE d.kind = 'lab-controller' AND d.since_position <= %(at)s AND d.until_position > %(at)s
  AND (%(lab_controller)s::text IS NULL OR d.name = %(lab_controller)s::text)
  AND (%(hidden)s::text[] IS NULL OR i.item ->> 'system' IS NULL
       OR i.item ->> 'system' NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY d.name

-- name: uses_in_lab
-- The systems of a lab that are occupied, or that a recipe uses.
SELECT s.fqdn FROM read.systems s
CROSS JOIN LATERAL (
    SELECT i.recipe_id FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u
WHERE s.lab_controller = %(lab_controller)s AND s.since_position <= %(at)s AND s.until_position > %(at)s
  AND (u.recipe_id IS NOT NULL OR s.occupied IS NOT NULL)
ORDER BY s.fqdn

-- name: access_to_system
-- The own access policy of a system, null if it never had one, and the pool whose policy replaces it.
SELECT access_policy, active_pool FROM read.systems
WHERE fqdn = %(fqdn)s AND since_position <= %(at)s AND until_position > %(at)s

-- name: notes_of_system
-- The notes on a system with ids below one, newest first. The id is the position of the event that added the note.
SELECT note_id AS id, since AS at, author, text FROM read.system_notes
WHERE fqdn = %(fqdn)s AND since_position <= %(at)s AND until_position > %(at)s AND note_id < %(before)s
ORDER BY note_id DESC LIMIT %(limit)s

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
WHERE fqdn > %(after)s
  AND (%(labs)s::text[] IS NULL OR lab_controller = ANY (%(labs)s::text[]))
  AND (%(other_labs)s::text[] IS NULL OR lab_controller <> ALL (%(other_labs)s::text[]))
  AND (%(hidden)s::text[] IS NULL OR fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY fqdn LIMIT %(limit)s

-- name: usage_of_system
-- A page of the intervals of a system between two moments, after the one that begins at `after`. An interval ends when the
-- condition, usage, recipe, reservation, loan or reason to be unavailable changes. Its ends are not cut; `until` is null if it goes on at `at`. If
-- both moments are equal, it is the interval of that moment. `ordered_position` is the event that submitted the recipe, or
-- began the reservation or the loan.
--
-- Each LIMIT makes the planner read a range of the key, so that a page reads rows in proportion to its limit.
WITH span AS MATERIALIZED (
    -- The positions at both ends. Without `since`, no commit is before the span.
    SELECT first, greatest(first, last) AS last FROM (
        SELECT least(coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= %(since)s::timestamptz
                               ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0), %(at)s) AS first,
               CASE WHEN %(until)s::timestamptz IS NULL THEN %(at)s ELSE least(coalesce((
                   SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
                   ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0), %(at)s) END AS last) AS positions
), begins AS MATERIALIZED (
    -- The interval at the beginning of the span, and one more than a page, where the last interval of the page ends.
    SELECT since_position, since FROM span CROSS JOIN LATERAL (
        (SELECT o.since_position, o.since FROM (
            (SELECT u.since_position, u.since FROM read.system_usage u
             WHERE u.fqdn = %(fqdn)s AND u.since_position <= span.first ORDER BY u.since_position DESC LIMIT 1)
            UNION ALL
            (SELECT p.since_position, p.since FROM read.system_persons p
             WHERE p.fqdn = %(fqdn)s AND p.since_position <= span.first ORDER BY p.since_position DESC LIMIT 1)) AS o
         WHERE o.since_position > %(after)s ORDER BY o.since_position DESC LIMIT 1)
        UNION
        (SELECT u.since_position, u.since FROM read.system_usage u
         WHERE u.fqdn = %(fqdn)s AND u.since_position > greatest(span.first, %(after)s) AND u.since_position <= %(at)s
         ORDER BY u.since_position LIMIT %(limit)s + 1)
        UNION
        (SELECT p.since_position, p.since FROM read.system_persons p
         WHERE p.fqdn = %(fqdn)s AND p.since_position > greatest(span.first, %(after)s) AND p.since_position <= %(at)s
         ORDER BY p.since_position LIMIT %(limit)s + 1)) AS b
), page AS MATERIALIZED (
    SELECT b.* FROM span CROSS JOIN (
        SELECT since_position, since, lead(since) OVER (ORDER BY since_position) AS until,
               lead(since_position) OVER (ORDER BY since_position) AS until_position FROM begins) AS b
    WHERE b.since_position <= span.last
    ORDER BY b.since_position LIMIT %(limit)s
)
SELECT u.condition, u.usage, u.recipe_id, u.unavailable, d.job_id,
       CASE WHEN u.recipe_id IS NOT NULL THEN 'recipe' WHEN p.reserved_by IS NOT NULL THEN 'reservation'
            WHEN p.loaned_to IS NOT NULL THEN 'loan' END AS kind,
       coalesce(d.owner, p.reserved_by, p.loaned_to) AS "user", p.loaned_to,
       i.since, i.until, i.since_position, i.until_position,
       coalesce(d.since_position, p.reserved_position, p.loaned_position) AS ordered_position
FROM page i
CROSS JOIN LATERAL (
    SELECT * FROM read.system_usage b WHERE b.fqdn = %(fqdn)s AND b.since_position <= i.since_position
    ORDER BY b.since_position DESC LIMIT 1) AS u
LEFT JOIN LATERAL (
    SELECT * FROM read.system_persons b WHERE b.fqdn = %(fqdn)s AND b.since_position <= i.since_position
    ORDER BY b.since_position DESC LIMIT 1) AS p ON true
LEFT JOIN LATERAL (SELECT * FROM read.recipe_details WHERE recipe_id = u.recipe_id OFFSET 0) AS d ON true
ORDER BY i.since_position

-- name: registration_of_system
SELECT since FROM read.system_usage WHERE fqdn = %(fqdn)s AND since_position <= %(at)s ORDER BY since_position LIMIT 1

-- name: system_usage
-- Microseconds by condition and usage from one moment to before another, grouped by a property of the system at that time:
-- a system that moved between labs counts in each for the time there. A system in two pools counts in both, and one in
-- no pool under null; the same holds for architectures. Owner and group are those of the job that has the system; the
-- owner is the person who reserved it, if one did; the user is the owner, or the person who borrowed it. Idle time is that
-- in the idle pool; other idle time of Automated systems is draining, occupied or disabled. With a `step`, which is hour or day, a row is the sum of one step.
-- Whole hours that were over at the position come from their stored sums, except for sums by system. `until` must not be
-- after the moment of `at`. With `fqdns`, only these systems count. With `labs` or without `other_labs`, only the time in
-- these labs counts.
WITH whole AS MATERIALIZED (
    -- The whole hours of the time span. The hour of the last event is not over: more events may follow in it.
    SELECT h.first, h.last, %(group_by)s <> 'system' AND h.first < h.last AS found FROM (
        SELECT date_trunc('hour', %(since)s::timestamptz + interval '1 hour' - interval '1 microsecond', 'UTC') AS first,
               date_trunc('hour', least(%(until)s::timestamptz, (
                   SELECT e.recorded_at FROM log.events e WHERE e.notification_id <= %(at)s
                   ORDER BY e.notification_id DESC LIMIT 1)), 'UTC') AS last) AS h
), span AS MATERIALIZED (
    -- The time before and after these hours, with the positions at both ends.
    SELECT e.since, e.until,
           coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at <= e.since
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS first,
           least((SELECT c.last_position FROM log.commits c WHERE c.recorded_at < e.until
                  ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), %(at)s) AS last
    FROM whole w CROSS JOIN LATERAL (
        SELECT %(since)s::timestamptz AS since, CASE WHEN w.found THEN w.first ELSE %(until)s::timestamptz END AS until
        UNION ALL
        SELECT w.last, %(until)s::timestamptz WHERE w.found) AS e
    WHERE e.since < e.until
)
SELECT key, condition, usage, step, sum(microseconds)::bigint AS microseconds FROM (
    SELECT g.key, u.condition, u.usage, t.step,
           (extract(epoch FROM sum(least(u.ended, s.ended, t.until) - greatest(u.since, s.since, t.since)))
            * 1000000)::bigint AS microseconds
    FROM span CROSS JOIN (
        -- Removed systems keep an open row, and are included.
        SELECT fqdn FROM read.systems WHERE until_position = 9223372036854775807
           AND (%(fqdns)s::text[] IS NULL OR fqdn = ANY (%(fqdns)s::text[]))) AS known
    -- OFFSET 0 makes the planner use the key of each system instead of a scan of the history.
    CROSS JOIN LATERAL (
        SELECT i.lab_controller, i.pools, i.inventory, i.reserved_by, i.loaned_to, i.since, i.since_position, i.until_position,
               CASE WHEN i.until_position <= %(at)s THEN i.until ELSE 'infinity' END AS ended
        FROM read.systems i
        WHERE i.fqdn = known.fqdn AND i.since_position <= span.last AND i.since_position >= coalesce((
            SELECT max(b.since_position) FROM read.systems b
            WHERE b.fqdn = known.fqdn AND b.since_position <= span.first), 0)
          AND (%(labs)s::text[] IS NULL OR i.lab_controller = ANY (%(labs)s::text[]))
          AND (%(other_labs)s::text[] IS NULL OR i.lab_controller <> ALL (%(other_labs)s::text[]))
        OFFSET 0) AS s
    CROSS JOIN LATERAL (
        SELECT i.condition, coalesce(i.unavailable, i.usage) AS usage, i.recipe_id, i.since, i.since_position,
               CASE WHEN i.until_position <= %(at)s THEN i.until ELSE 'infinity' END AS ended
        FROM read.system_usage i
        WHERE i.fqdn = known.fqdn AND i.since_position <= span.last AND i.since_position < s.until_position
          AND i.since_position >= coalesce((
            SELECT max(b.since_position) FROM read.system_usage b
            WHERE b.fqdn = known.fqdn AND b.since_position <= greatest(span.first, s.since_position)), 0)
        OFFSET 0) AS u
    LEFT JOIN read.recipe_details d ON %(group_by)s IN ('owner', 'group', 'user') AND d.recipe_id = u.recipe_id
        AND d.since_position <= u.since_position
    LEFT JOIN LATERAL (
        SELECT known.fqdn AS key WHERE %(group_by)s = 'system'
        UNION ALL SELECT s.lab_controller WHERE %(group_by)s = 'lab_controller'
        UNION ALL SELECT jsonb_array_elements_text(s.pools) WHERE %(group_by)s = 'pool'
        UNION ALL SELECT DISTINCT jsonb_array_elements_text(nullif(s.inventory -> 'arches', 'null')) WHERE %(group_by)s = 'arch'
        UNION ALL SELECT coalesce(d.owner, s.reserved_by) WHERE %(group_by)s = 'owner'
        UNION ALL SELECT d.group_name WHERE %(group_by)s = 'group'
        UNION ALL SELECT coalesce(d.owner, s.reserved_by, s.loaned_to) WHERE %(group_by)s = 'user'
    ) AS g ON true
    CROSS JOIN LATERAL (
        SELECT NULL::timestamptz AS step, span.since, span.until WHERE %(step)s::text IS NULL
        UNION ALL
        SELECT b.step, greatest(b.step, span.since), least(b.step + ('1 ' || %(step)s)::interval, span.until)
        FROM generate_series(date_trunc(%(step)s, greatest(u.since, s.since, span.since), 'UTC'),
                             least(u.ended, s.ended, span.until) - interval '1 microsecond',
                             ('1 ' || %(step)s)::interval) AS b (step)
        WHERE %(step)s::text IS NOT NULL) AS t
    WHERE greatest(u.since, s.since, t.since) < least(u.ended, s.ended, t.until)
    GROUP BY g.key, u.condition, u.usage, t.step
    UNION ALL
    SELECT nullif(h.key, ''), h.condition, h.usage, date_trunc(%(step)s::text, h.hour, 'UTC'), sum(h.microseconds)
    FROM whole w CROSS JOIN read.usage_hours h
    WHERE w.found AND h.group_by = %(group_by)s AND h.hour >= w.first AND h.hour < w.last
      AND (%(labs)s::text[] IS NULL OR h.lab_controller = ANY (%(labs)s::text[]))
      AND (%(other_labs)s::text[] IS NULL OR h.lab_controller <> ALL (%(other_labs)s::text[]))
    GROUP BY h.key, h.condition, h.usage, date_trunc(%(step)s::text, h.hour, 'UTC')
) AS parts
GROUP BY key, condition, usage, step ORDER BY key NULLS LAST, condition, usage, step

-- name: unused_systems
-- The systems, except Removed and `hidden` ones, that were there at a moment and that no recipe or person has used since,
-- with the end of their last use, null without one; those first that have been unused longest. A use is found from the
-- last interval of a system backwards.
SELECT s.fqdn, s.lab_controller, s.owner, s.condition, registered.since AS registered_at, used.until AS last_used_at
FROM (
    (SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s)
    UNION ALL
    (SELECT * FROM read.systems
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint)
) AS s
CROSS JOIN LATERAL (
    SELECT i.since FROM read.system_usage i WHERE i.fqdn = s.fqdn ORDER BY i.since_position LIMIT 1) AS registered
LEFT JOIN LATERAL (
    SELECT CASE WHEN i.until_position <= %(at)s THEN i.until ELSE 'infinity' END AS until FROM read.system_usage i
    WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s AND i.usage NOT IN ('idle', 'pending')
    ORDER BY i.since_position DESC LIMIT 1) AS used ON true
WHERE s.condition <> 'Removed' AND registered.since <= %(since)s::timestamptz
  AND (used.until IS NULL OR used.until <= %(since)s::timestamptz)
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY coalesce(used.until, registered.since), s.fqdn LIMIT %(limit)s

-- name: systems_with_usage
-- A page of the systems with usage before a moment, in order, except `hidden` ones. With `labs` or without `other_labs`,
-- only those that were in these labs.
SELECT s.fqdn FROM read.systems s
WHERE s.until_position = 9223372036854775807 AND s.fqdn > %(after)s
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[]))) AND EXISTS (
    SELECT FROM read.systems i
    WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s AND i.since < %(until)s::timestamptz
      AND (%(labs)s::text[] IS NULL OR i.lab_controller = ANY (%(labs)s::text[]))
      AND (%(other_labs)s::text[] IS NULL OR i.lab_controller <> ALL (%(other_labs)s::text[])))
ORDER BY s.fqdn LIMIT %(limit)s

-- name: usage_of_each_system
-- Seconds by condition and usage since the beginning, for a page of systems in order. The history of each system is
-- read once. `groups` is JSON text, [{"key", "seconds": {condition: {usage: seconds}}}], because the answer passes on
-- thousands of groups unchanged.
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
            -- Sums of type interval have no rounding error, and take a third of the time of numerics.
            SELECT u.fqdn, u.condition, coalesce(u.unavailable, u.usage) AS usage,
                   date_part('epoch', sum(least(u.ended, %(until)s::timestamptz) - u.since)) AS seconds
            FROM page CROSS JOIN LATERAL (
                SELECT *, CASE WHEN until_position <= %(at)s THEN until ELSE 'infinity' END AS ended
                FROM read.system_usage i
                WHERE i.fqdn = page.fqdn AND i.since_position <= %(at)s AND i.since < %(until)s::timestamptz) AS u
            WHERE u.since < u.ended
            GROUP BY u.fqdn, u.condition, coalesce(u.unavailable, u.usage)
        ) AS summed GROUP BY fqdn, condition
    ) AS of_condition GROUP BY fqdn
) AS of_system

-- name: changes_of_system
-- Each change of a system, or of its condition alone, latest first: the row after the change, and the row before it,
-- null for the first. `before` is a position.
SELECT s.since_position, s.since, to_jsonb(s) AS becomes, to_jsonb(b) AS was
FROM read.systems s
LEFT JOIN LATERAL (
    SELECT * FROM read.systems i WHERE i.fqdn = s.fqdn AND i.since_position < s.since_position
    ORDER BY i.since_position DESC LIMIT 1) AS b ON true
WHERE s.fqdn = %(fqdn)s AND s.since_position <= %(at)s AND s.since_position < %(before)s
  AND (NOT %(of_condition)s OR s.condition IS DISTINCT FROM b.condition)
ORDER BY s.since_position DESC LIMIT %(limit)s

-- name: count_systems
-- The number of systems of some labs.
SELECT count(*)::integer AS systems FROM (
    SELECT lab_controller FROM read.systems
    WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT lab_controller FROM read.systems
    WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
) AS there
WHERE (%(labs)s::text[] IS NULL OR lab_controller = ANY (%(labs)s::text[]))
  AND (%(other_labs)s::text[] IS NULL OR lab_controller <> ALL (%(other_labs)s::text[]))

-- name: maintenance_windows
-- The maintenance windows before a number, newest first; unused filters are null. The state of a window depends on the
-- `moment` of the read; `unended` selects all but those that have ended, and must be true for another `state`. Those of a
-- `system` list it, or name its properties at that position. Numbers ascend with the positions of the additions.
WITH found AS (
    -- Windows that have not ended are found by their time span. Of moment and position, either may be the later one.
    SELECT w.name FROM (
        SELECT coalesce(max(recorded_at), %(moment)s::timestamptz) AS recorded_at FROM (
            SELECT e.recorded_at FROM log.events e WHERE e.notification_id <= %(at)s
            ORDER BY e.notification_id DESC LIMIT 1) AS last) AS read
    JOIN read.documents w ON kind = 'maintenance-window'
     AND tstzrange(since, greatest(since, least(until, live.window_end(document))), '[]')
         && tstzrange(least(%(moment)s::timestamptz, read.recorded_at),
                      greatest(%(moment)s::timestamptz, read.recorded_at), '[]')
     AND w.since_position <= %(at)s AND w.until_position > %(at)s
    WHERE %(unended)s
    UNION ALL
    -- Those of a system are found by the first property of each window.
    SELECT w.name FROM read.systems s JOIN read.documents w ON kind = 'maintenance-window' AND version = 1
     AND live.window_terms(document)
         && (ARRAY['system ' || s.fqdn, 'lab ' || s.lab_controller, 'location ' || (s.inventory ->> 'location')]
             || ARRAY (SELECT 'pool ' || jsonb_array_elements_text(s.pools)))
     AND w.since_position <= %(at)s
    WHERE NOT %(unended)s AND s.fqdn = %(system)s::text AND s.since_position <= %(at)s AND s.until_position > %(at)s
    UNION ALL
    SELECT name FROM (
        SELECT w.name FROM read.documents w CROSS JOIN LATERAL (
            SELECT document FROM read.documents d
            WHERE d.kind = 'maintenance-window' AND d.name = w.name AND d.since_position <= %(at)s
            ORDER BY d.since_position DESC LIMIT 1) AS d
        WHERE NOT %(unended)s AND %(system)s::text IS NULL AND w.kind = 'maintenance-window' AND w.version = 1
          AND w.since_position <= %(at)s AND w.since_position < coalesce((
              SELECT b.since_position FROM read.documents b
              WHERE b.kind = 'maintenance-window' AND b.name = (%(after)s::integer)::text AND b.version = 1), %(at)s + 1)
          AND (%(state)s::text IS NULL OR live.window_end(d.document) <= %(moment)s::timestamptz)
        ORDER BY w.since_position DESC LIMIT %(limit)s) AS newest
)
SELECT number, version, document FROM found CROSS JOIN LATERAL (
    SELECT name::integer AS number, version, document FROM read.documents
    WHERE kind = 'maintenance-window' AND name = found.name AND since_position <= %(at)s
    ORDER BY since_position DESC LIMIT 1) AS window_then
CROSS JOIN LATERAL (
    SELECT (document ->> 'starts_at')::timestamptz AS starts_at,
           make_interval(secs => (document ->> 'lead_seconds')::integer) AS lead) AS times
CROSS JOIN LATERAL (
    SELECT CASE WHEN live.window_end(document) <= %(moment)s::timestamptz THEN 'ended'
                WHEN times.starts_at <= %(moment)s::timestamptz THEN 'open'
                WHEN times.starts_at - times.lead <= %(moment)s::timestamptz THEN 'draining'
                ELSE 'planned' END AS state) AS present
WHERE number < %(after)s AND (%(state)s::text IS NULL OR state = %(state)s::text)
  AND (NOT %(unended)s OR state <> 'ended')
  AND (%(system)s::text IS NULL OR EXISTS (
    SELECT FROM read.systems s
    WHERE s.fqdn = %(system)s::text AND s.since_position <= %(at)s AND s.until_position > %(at)s
      AND CASE WHEN jsonb_typeof(document -> 'systems') = 'array' THEN document -> 'systems' ? s.fqdn
          ELSE (document ->> 'pool' IS NULL OR s.pools ? (document ->> 'pool'))
           AND (document ->> 'lab_controller' IS NULL OR s.lab_controller = document ->> 'lab_controller')
           AND (document ->> 'location' IS NULL OR s.inventory ->> 'location' = document ->> 'location') END))
ORDER BY number DESC LIMIT %(limit)s

-- name: covered_systems
-- The systems of a maintenance window, without removed and `hidden` ones: `systems`, or those with all of the other
-- properties that are not null.
SELECT s.fqdn, s.reserved_by AS "user", s.reserved_until, s.loaned_to, s.loaned_until, u.recipe_id
FROM (
    SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT * FROM read.systems
    WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
) AS s
CROSS JOIN LATERAL (
    SELECT i.recipe_id FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u
WHERE s.condition <> 'Removed'
  AND (%(systems)s::text[] IS NULL OR s.fqdn = ANY (%(systems)s::text[]))
  AND (%(pool)s::text IS NULL OR s.pools ? %(pool)s::text)
  AND (%(lab_controller)s::text IS NULL OR s.lab_controller = %(lab_controller)s::text)
  AND (%(location)s::text IS NULL OR s.inventory ->> 'location' = %(location)s::text)
  AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY s.fqdn
