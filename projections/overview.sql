-- The overview: counts of systems and of the queue, and the few rows that it names. Hidden systems count, and are never
-- named.

-- name: systems_by_activity
-- The number of systems by lab and by what decides their activity, and the ids of their recipes, without those on `hidden`
-- systems. The open interval of usage is mostly the one of the moment; a join of all is faster than a search of each.
SELECT s.lab_controller, s.condition, s.draining, s.reserved_by IS NOT NULL AS is_reserved,
       coalesce(o.usage, u.usage) AS usage, count(*)::integer AS systems,
       count(coalesce(o.recipe_id, u.recipe_id))::integer AS recipes,
       array_agg(coalesce(o.recipe_id, u.recipe_id)) FILTER (
           WHERE coalesce(o.recipe_id, u.recipe_id) IS NOT NULL
             AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))) AS placed
FROM (
    SELECT fqdn, lab_controller, condition, draining, reserved_by FROM read.systems
    WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT fqdn, lab_controller, condition, draining, reserved_by FROM read.systems
    WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
) AS s
LEFT JOIN read.system_usage o
  ON o.fqdn = s.fqdn AND o.until_position = 9223372036854775807 AND o.since_position <= %(at)s
LEFT JOIN LATERAL (
    SELECT i.usage, i.recipe_id FROM read.system_usage i
    WHERE o.fqdn IS NULL AND i.fqdn = s.fqdn AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u ON true
GROUP BY 1, 2, 3, 4, 5

-- name: states_of_labs
SELECT name AS lab_controller, (document ->> 'enabled')::boolean AS enabled,
       coalesce((document ->> 'silent')::boolean, false) AS silent,
       coalesce((document ->> 'never_heard')::boolean, false) AS never_heard
FROM (
    SELECT name, document FROM read.documents
    WHERE kind = 'lab-controller' AND until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT name, document FROM read.documents
    WHERE kind = 'lab-controller' AND until_position < 9223372036854775807 AND until_position > %(at)s
      AND since_position <= %(at)s
) AS found
ORDER BY name

-- name: queue_by_priority
-- The number of unplaced recipes by priority, and the submission of the oldest of them.
SELECT priority, count(*)::integer AS recipes,
       (SELECT recorded_at FROM log.events WHERE notification_id = min(submission)) AS oldest_submitted_at
FROM (
    SELECT priority, submission FROM read.queue
    WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT priority, submission FROM read.queue
    WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
) AS waiting
GROUP BY priority ORDER BY priority DESC

-- name: oldest_waits
-- The unplaced recipes that were submitted first. They are the first of some priority, assigned or not, in the order of
-- the queue of a partition.
SELECT first.recipe_id, d.recipe_set_id, d.job_id, first.state, first.priority, first.lab_controller, d.owner,
       d.group_name AS "group", first.partition, d.whiteboard, d.since AS submitted_at
FROM (
    SELECT found.* FROM unnest(%(partitions)s::integer[]) AS wanted (partition)
    CROSS JOIN (VALUES (true), (false)) AS assigned (not_assigned) CROSS JOIN generate_series(-5, -1) AS minus_priority
    CROSS JOIN LATERAL (
        SELECT * FROM read.queue
        WHERE until_position = 9223372036854775807 AND since_position <= %(at)s AND partition = wanted.partition
          AND (NOT assigned) = assigned.not_assigned AND (-priority) = minus_priority
        ORDER BY submission, recipe_id LIMIT %(limit)s) AS found
    UNION ALL
    (SELECT * FROM read.queue
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
       AND partition = ANY (%(partitions)s::integer[])
     ORDER BY submission, recipe_id LIMIT %(limit)s)
    ORDER BY submission, recipe_id LIMIT %(limit)s
) AS first
JOIN read.recipe_details d USING (recipe_id)
ORDER BY first.submission, first.recipe_id

-- name: placed_recipes
-- Recipes by id, with their systems and the usage of these.
SELECT d.recipe_id, d.recipe_set_id, d.job_id, s.priority, d.owner, d.group_name AS "group", d.partition, d.whiteboard,
       r.system, u.usage
FROM read.recipe_details d
JOIN read.recipe_sets s
  ON s.recipe_set_id = d.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s
JOIN read.recipes r ON r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
CROSS JOIN LATERAL (
    SELECT i.usage, i.until_position FROM read.system_usage i WHERE i.fqdn = r.system AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u
WHERE u.until_position > %(at)s AND d.recipe_id = ANY (%(recipe_ids)s) ORDER BY d.recipe_id

-- name: broken_systems
-- Broken systems that nobody uses, first those of a user. `at` and `reason` are those of the change of their condition,
-- null for systems that were registered as Broken. `number` counts all, `owned` those of the user.
SELECT b.fqdn, b.lab_controller, b.owner, c.recorded_at AS at, c.reason, b.ticket, b.number, b.owned
FROM (
    SELECT s.fqdn, s.lab_controller, s.owner, s.ticket, count(*) OVER ()::integer AS number,
           count(*) FILTER (WHERE s.owner = %(user)s) OVER ()::integer AS owned
    FROM (
        SELECT fqdn, lab_controller, owner, condition, ticket, reserved_by FROM read.systems
        WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
        UNION ALL
        SELECT fqdn, lab_controller, owner, condition, ticket, reserved_by FROM read.systems
        WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
    ) AS s
    CROSS JOIN LATERAL (
        SELECT i.usage FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
        ORDER BY i.since_position DESC LIMIT 1) AS u
    WHERE s.condition = 'Broken' AND s.reserved_by IS NULL AND u.usage IN ('idle', 'pending')
      AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
    ORDER BY s.owner = %(user)s DESC, s.fqdn LIMIT %(limit)s
) AS b
LEFT JOIN LATERAL (
    SELECT e.recorded_at, convert_from(e.state, 'UTF8')::jsonb #>> '{data,reason}' AS reason FROM log.events e
    WHERE e.originator_id = 'system/' || b.fqdn AND e.topic = 'system.condition-changed'
      AND e.originator_version <= log.version_at('system/' || b.fqdn, %(at)s)
    ORDER BY e.originator_version DESC LIMIT 1) AS c ON true
ORDER BY b.owner = %(user)s DESC, b.fqdn

-- name: systems_of_user
-- The systems that a user owns, has reserved or has on loan, first those that the user has. `number` counts all.
SELECT s.fqdn, s.lab_controller, s.owner, s.condition, s.ticket, s.draining, s.reserved_by AS "user", s.reserved_until, s.loaned_to,
       s.loaned_until, u.usage, u.recipe_id, s.number
FROM (
    SELECT *, count(*) OVER ()::integer AS number
    FROM (
        SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
        UNION ALL
        SELECT * FROM read.systems
        WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
    ) AS there
    WHERE (owner = %(user)s OR reserved_by = %(user)s OR loaned_to = %(user)s)
      AND (condition <> 'Removed' OR reserved_by = %(user)s)
      AND (%(hidden)s::text[] IS NULL OR fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))
    ORDER BY reserved_by = %(user)s DESC NULLS LAST, loaned_to = %(user)s DESC NULLS LAST, fqdn LIMIT %(limit)s
) AS s
CROSS JOIN LATERAL (
    SELECT i.usage, i.recipe_id FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS u
ORDER BY s.reserved_by = %(user)s DESC NULLS LAST, s.loaned_to = %(user)s DESC NULLS LAST, s.fqdn

-- name: job_ids_of_user
-- Of the newest jobs of a user, the unfinished ones first, each newest first. OFFSET 0 limits the jobs that are read.
SELECT so.job_id
FROM (
    SELECT job_id FROM read.job_documents WHERE owner = %(user)s AND since_position <= %(at)s
    ORDER BY job_id DESC LIMIT %(searched)s OFFSET 0) AS so
CROSS JOIN LATERAL (
    SELECT i.state FROM read.jobs i WHERE i.job_id = so.job_id AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS j
ORDER BY j.state IN ('completed', 'cancelled', 'aborted'), so.job_id DESC LIMIT %(limit)s

-- name: held_back_recipes
-- The recipes that admission holds back, as the scheduler of each partition reports them every 2 seconds while there
-- are any.
SELECT reason, sum(recipes::bigint)::bigint AS recipes
FROM (SELECT DISTINCT ON (partition) held_back FROM live.counter_writers
      WHERE told_at > now() - interval '10 seconds' AND held_back <> '{}' ORDER BY partition, told_at DESC) AS last
CROSS JOIN LATERAL jsonb_each_text(last.held_back) AS found (reason, recipes) GROUP BY reason ORDER BY reason
