-- Questions to the read models, by name. A row has the columns that the query selects, under their names.
--
-- `at` is a log position, as `Reader.as_of` gives it: answers are what was true then. What has not ended has no
-- end (null): its interval is open, which tables write as an `until_position` of 9223372036854775807. A `version`
-- is that of the aggregate; it comes from the log where the aggregate also moves without its row here. Guest
-- recipes are in every list of recipes but the queue, and name their host.

-- name: progress
SELECT position, recorded_at, whole_from FROM read.progress WHERE name = 'all'

-- name: commit_end_at_position
-- As-of positions round down to the end of a commit.
SELECT coalesce(max(commit_end), 0) AS position FROM (
    SELECT commit_end FROM log.events
    WHERE notification_id <= %s AND notification_id = commit_end ORDER BY notification_id DESC LIMIT 1) AS last

-- name: commit_end_at_time
SELECT coalesce(max(last_position), 0) AS position FROM (
    SELECT last_position FROM log.commits
    WHERE recorded_at <= %s ORDER BY recorded_at DESC, last_position DESC LIMIT 1) AS last

-- name: moment_at_position
SELECT max(recorded_at) AS moment FROM log.events WHERE notification_id = %s

-- name: moment_at_time
-- Nothing is known of what is still to come.
SELECT least(%s::timestamptz, clock_timestamp()) AS moment

-- name: queue
-- Unplaced recipes, guests left out. `since` is that of the state: a priority that changed does not move it. What is
-- true still and what has ended are found by an index each, so that neither passes over the rest of history, and each
-- comes in order, so that no more of the queue is looked at than is answered.
SELECT q.recipe_id, d.recipe_set_id, d.job_id, q.state, q.priority, q.lab_controller, q.submission,
       r.since, r.since_position, d.owner, d.group_name AS "group", d.whiteboard
FROM (
    SELECT * FROM (
        (SELECT * FROM read.queue
         WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
           AND (NOT assigned, -priority, submission, recipe_id)
             > (%(not_assigned)s, %(minus_priority)s, %(submission)s, %(recipe_id)s)
         ORDER BY NOT assigned, -priority, submission, recipe_id LIMIT %(limit)s)
        UNION ALL
        (SELECT * FROM read.queue
         WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
           AND (NOT assigned, -priority, submission, recipe_id)
             > (%(not_assigned)s, %(minus_priority)s, %(submission)s, %(recipe_id)s)
         ORDER BY NOT assigned, -priority, submission, recipe_id LIMIT %(limit)s)
    ) AS waiting
    ORDER BY NOT assigned, -priority, submission, recipe_id
    LIMIT %(limit)s
) AS q
JOIN read.recipe_details d USING (recipe_id)
JOIN read.recipes r ON r.recipe_id = q.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
ORDER BY NOT q.assigned, -q.priority, q.submission, q.recipe_id

-- name: idle_pool
SELECT fqdn, lab_controller, since, since_position FROM (
    (SELECT * FROM read.idle_pool WHERE until_position = 9223372036854775807 AND since_position <= %(at)s ORDER BY fqdn)
    UNION ALL
    (SELECT * FROM read.idle_pool
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
     ORDER BY fqdn)
) AS idle
WHERE fqdn > %(after)s
ORDER BY fqdn LIMIT %(limit)s

-- name: systems
-- All, or the one called `fqdn`, or those of which something was true; what is not asked for is null. A person has it
-- where `reserved_by` is not null; `reserved_until` is null for one without an end, `reserved_distro_tree_id` for one
-- that is not provisioned first.
SELECT found.fqdn, version.latest AS version, found.lab_controller, found.owner, found.condition, found.draining,
       found.reserved_by, found.reserved_until, found.reserved_distro_tree_id, found.pools, found.inventory,
       found.usage, found.recipe_id
FROM (
    SELECT s.*, u.usage, u.recipe_id, u.since_position AS usage_from, u.until_position AS usage_to
    FROM (
        (SELECT * FROM read.systems WHERE until_position = 9223372036854775807 AND since_position <= %(at)s ORDER BY fqdn)
        UNION ALL
        (SELECT * FROM read.systems
         WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
         ORDER BY fqdn)
    ) AS s
    CROSS JOIN LATERAL (
        SELECT * FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
        ORDER BY i.since_position DESC LIMIT 1) AS u
    WHERE s.fqdn > %(after)s
      AND (%(fqdn)s::text IS NULL OR s.fqdn = %(fqdn)s::text)
      AND (%(lab_controller)s::text IS NULL OR s.lab_controller = %(lab_controller)s::text)
      AND (%(owner)s::text IS NULL OR s.owner = %(owner)s::text)
      AND (%(pool)s::text IS NULL OR s.pools ? %(pool)s::text)
      AND (%(condition)s::text IS NULL OR s.condition = %(condition)s::text)
      AND (%(usage)s::text IS NULL OR u.usage = %(usage)s::text)
    ORDER BY s.fqdn LIMIT %(limit)s
) AS found
CROSS JOIN LATERAL (
    -- Among its few events from the one that its usage is from to the one that ended that.
    SELECT max(e.originator_version) AS latest FROM log.events e
    WHERE e.originator_id = 'system/' || found.fqdn AND e.notification_id <= %(at)s
      AND e.originator_version >= (
        SELECT b.originator_version FROM log.events b WHERE b.notification_id = found.usage_from)
      AND e.originator_version < coalesce((
        SELECT b.originator_version FROM log.events b WHERE b.notification_id = found.usage_to
      ), 9223372036854775807)) AS version
ORDER BY found.fqdn

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
-- one in no pool under null, and so do architectures. `until` is at most the moment of `at`.
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
    SELECT fqdn FROM read.systems WHERE until_position = 9223372036854775807) AS known
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
-- The same from the beginning and system by system: all of history counts, whatever a system was in, so it is read once.
-- The answer is one JSON text, [{"key", "seconds": {condition: {usage: seconds}}}]: there may be tens of thousands, and
-- whoever answers has nothing to do with them but to hand them on.
SELECT coalesce(json_agg(json_build_object('key', fqdn, 'seconds', seconds) ORDER BY fqdn), '[]')::text AS groups
FROM (
    SELECT fqdn, json_object_agg(condition, seconds ORDER BY condition) AS seconds FROM (
        SELECT fqdn, condition, json_object_agg(usage, seconds ORDER BY usage) AS seconds FROM (
            -- Intervals are summed without a rounding error, and in a third of the time of numerics.
            SELECT u.fqdn, u.condition, u.usage,
                   date_part('epoch', sum(least(u.ended, %(until)s::timestamptz) - u.since)) AS seconds
            FROM (
                SELECT *, CASE WHEN until_position <= %(at)s THEN until ELSE 'infinity' END AS ended
                FROM read.system_usage WHERE since_position <= %(at)s AND since < %(until)s::timestamptz) AS u
            WHERE u.since < u.ended
            GROUP BY u.fqdn, u.condition, u.usage
        ) AS summed GROUP BY fqdn, condition
    ) AS of_condition GROUP BY fqdn
) AS of_system

-- name: job_ids
-- Which jobs a page lists is asked by what finds them soonest (`projections/filters.py`), the newest first.
SELECT job_id FROM read.job_documents WHERE job_id < %(before)s AND since_position <= %(at)s
ORDER BY job_id DESC LIMIT %(limit)s

-- name: job_ids_of_owner
SELECT d.job_id FROM read.job_documents d JOIN read.jobs j
  ON j.job_id = d.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
WHERE d.owner = %(owner)s AND d.job_id < %(before)s AND d.since_position <= %(at)s
  AND (%(group)s::text IS NULL OR d.group_name = %(group)s::text)
  AND (%(state)s::text IS NULL OR j.state = %(state)s::text)
ORDER BY d.job_id DESC LIMIT %(limit)s

-- name: job_ids_of_group
SELECT d.job_id FROM read.job_documents d JOIN read.jobs j
  ON j.job_id = d.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
WHERE d.group_name = %(group)s AND d.job_id < %(before)s AND d.since_position <= %(at)s
  AND (%(state)s::text IS NULL OR j.state = %(state)s::text)
ORDER BY d.job_id DESC LIMIT %(limit)s

-- name: job_ids_in_state
-- OFFSET 0 keeps the planner from reading all of history in the order of the jobs, or all jobs of an owner.
SELECT so.job_id FROM (
    SELECT job_id FROM read.jobs
    WHERE (CASE WHEN until_position = 9223372036854775807 THEN state END) = %(state)s
      AND until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    (SELECT job_id FROM read.jobs
     WHERE state = %(state)s AND until_position < 9223372036854775807
       AND int8range(since_position, until_position) @> %(at)s::bigint OFFSET 0)
) AS so
CROSS JOIN LATERAL (
    SELECT FROM read.job_documents d WHERE d.job_id = so.job_id
      AND (%(owner)s::text IS NULL OR d.owner = %(owner)s::text)
      AND (%(group)s::text IS NULL OR d.group_name = %(group)s::text) OFFSET 0) AS theirs
WHERE so.job_id < %(before)s
ORDER BY so.job_id DESC LIMIT %(limit)s

-- name: jobs
-- Those with these ids.
SELECT d.job_id, j.state, j.result, coalesce(j.changed ->> 'whiteboard', d.whiteboard) AS whiteboard, d.owner,
       d.group_name AS "group", d.since AS submitted_at,
       ARRAY (SELECT s.recipe_set_id FROM read.recipe_sets s WHERE s.job_id = d.job_id
                 AND s.since_position <= %(at)s AND s.until_position > %(at)s ORDER BY s.recipe_set_id) AS recipe_set_ids
FROM read.job_documents d JOIN read.jobs j
  ON j.job_id = d.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
WHERE d.job_id = ANY (%(job_ids)s) ORDER BY d.job_id DESC

-- name: job
-- The document has what people have changed since it was submitted.
SELECT d.job_id, j.state, j.result, coalesce(j.changed ->> 'whiteboard', d.whiteboard) AS whiteboard, d.owner,
       d.submitter, d.group_name AS "group", d.since AS submitted_at,
       CASE WHEN j.changed IS NULL THEN d.document
            ELSE (d.document - 'product') || jsonb_strip_nulls(j.changed) END AS document
FROM read.job_documents d JOIN read.jobs j
  ON j.job_id = d.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
WHERE d.job_id = %(job_id)s

-- name: version
-- Of an aggregate, with all of its events, also those that move no row here.
SELECT originator_version AS version FROM log.events
WHERE originator_id = %(subject)s AND notification_id <= %(at)s ORDER BY originator_version DESC LIMIT 1

-- name: recipe_sets_of_job
SELECT recipe_set_id, priority, state, result FROM read.recipe_sets
WHERE job_id = %(job_id)s AND since_position <= %(at)s AND until_position > %(at)s ORDER BY recipe_set_id

-- name: recipe_set
SELECT s.recipe_set_id, s.job_id, d.owner, d.group_name AS "group", s.priority, s.state, s.result
FROM read.recipe_sets s JOIN read.job_documents d USING (job_id)
WHERE s.recipe_set_id = %(recipe_set_id)s AND s.since_position <= %(at)s AND s.until_position > %(at)s

-- name: recipes
-- Of a job, of a set, or one by its id; the other two are null. `guests` are the ids of a host's guests.
SELECT d.recipe_id, d.recipe_set_id, d.job_id, d.owner, d.group_name AS "group", d.whiteboard, d.role,
       d.distro_tree_id, d.distro, d.host_recipe_id, d.guestname, d.guestargs, d.reservesys,
       ARRAY (SELECT g.recipe_id FROM read.recipe_details g
              WHERE g.host_recipe_id = d.recipe_id ORDER BY g.recipe_id) AS guests,
       r.state, r.system, r.lab_controller, r.reason, r.since, r.since_position, s.priority
FROM read.recipe_details d JOIN read.recipe_sets s
  ON s.recipe_set_id = d.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s
JOIN read.recipes r
  ON r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
WHERE d.job_id = %(job_id)s::integer OR d.recipe_set_id = %(recipe_set_id)s::integer
   OR d.recipe_id = %(recipe_id)s::integer
ORDER BY d.recipe_id

-- name: tasks
-- Of a job, of a set or of a recipe, with the name that was submitted; the other two are null.
SELECT t.task_id, t.recipe_id, t.state, t.result, named.task ->> 'name' AS name
FROM read.recipe_details d
CROSS JOIN LATERAL jsonb_array_elements(d.tasks) AS named (task)
JOIN read.tasks t ON t.task_id = (named.task ->> 'task_id')::integer
 AND t.since_position <= %(at)s AND t.until_position > %(at)s
WHERE d.job_id = %(job_id)s::integer OR d.recipe_set_id = %(recipe_set_id)s::integer
   OR d.recipe_id = %(recipe_id)s::integer
ORDER BY t.task_id

-- name: results_of_recipe
SELECT task_id, result, message, score, log_urls, since AS at, since_position AS position
FROM read.task_results WHERE recipe_id = %(recipe_id)s AND since_position <= %(at)s ORDER BY since_position

-- name: history_of_recipe
-- What ended later had no end then.
SELECT state, system, lab_controller, reason, since, CASE WHEN until_position <= %(at)s THEN until END AS until,
       since_position, CASE WHEN until_position <= %(at)s THEN until_position END AS until_position
FROM read.recipes WHERE recipe_id = %(recipe_id)s AND since_position <= %(at)s ORDER BY since_position

-- name: seconds_in_states
-- Of the recipes of a job, of a set or of one recipe, together; the other two are null. What had not ended lasted
-- until `moment`, which is null for now. Nothing is spent once a recipe is finished.
SELECT r.state, sum(extract(epoch FROM greatest(ended.at - r.since, '0')))::double precision AS seconds
FROM read.recipe_details d JOIN read.recipes r USING (recipe_id)
CROSS JOIN LATERAL (
    SELECT CASE WHEN r.until_position <= %(at)s THEN r.until
                ELSE coalesce(%(moment)s::timestamptz, clock_timestamp()) END AS at) AS ended
WHERE (d.job_id = %(job_id)s::integer OR d.recipe_set_id = %(recipe_set_id)s::integer
       OR d.recipe_id = %(recipe_id)s::integer)
  AND r.since_position <= %(at)s AND r.state NOT IN ('completed', 'cancelled', 'aborted')
GROUP BY r.state

-- name: documents
SELECT name, version, document FROM read.documents
WHERE kind = %(kind)s AND since_position <= %(at)s AND until_position > %(at)s AND name > %(after)s
ORDER BY name LIMIT %(limit)s

-- name: document
SELECT name, version, document FROM (
    SELECT * FROM read.documents WHERE kind = %(kind)s AND name = %(name)s AND since_position <= %(at)s
    ORDER BY since_position DESC LIMIT 1) AS last
WHERE until_position > %(at)s

-- name: tokens
-- All, those of a user, or one by its id; what opens them is not shown. Of a user's those made since a position:
-- before that somebody else had the name.
SELECT d.name AS token_id, d.document ->> 'user' AS "user", d.document ->> 'role' AS role,
       d.document ->> 'lab_controller' AS lab_controller,
       (SELECT min(f.since) FROM read.documents f WHERE f.kind = 'token' AND f.name = d.name) AS created_at,
       (d.document ->> 'expires_at')::timestamptz AS expires_at,
       coalesce((d.document ->> 'revoked')::boolean, false) AS revoked
FROM read.documents d
WHERE d.kind = 'token' AND d.since_position <= %(at)s AND d.until_position > %(at)s AND d.name > %(after)s
  AND (%(user)s::text IS NULL OR d.document ->> 'user' = %(user)s::text AND %(user_since)s <=
       (SELECT min(f.since_position) FROM read.documents f WHERE f.kind = 'token' AND f.name = d.name))
  AND (%(token_id)s::text IS NULL OR d.name = %(token_id)s::text)
ORDER BY d.name LIMIT %(limit)s

-- name: commands
-- What a lab controller was told after a command it has seen, with what it needs to do it; `unfinished`: only what
-- it has not done yet. One to provision has the `guests` that start with the recipe, each {"recipe_id",
-- "guestname", "guestargs", "distro_tree_id", "tree", "distro", "kernel_options", "ks_meta", "tasks"}; `recipe_id`
-- and what comes from the recipe are null where a person has the system.
-- Trees and guests are as of the command itself: asked again, the answer is the same, whatever left meanwhile.
-- `then`: `at` is of the past, so that what is unfinished now is not what was.
SELECT c.command_id, c.kind, c.system, c.recipe_id, so.state, c.distro_tree_id, t.document AS tree, d.distro,
       d.kernel_options, d.ks_meta, d.tasks, coalesce(g.guests, '[]') AS guests
FROM read.commands c
JOIN read.commands so
  ON so.command_id = c.command_id AND so.since_position <= %(at)s AND so.until_position > %(at)s
LEFT JOIN read.recipe_details d ON d.recipe_id = c.recipe_id
LEFT JOIN read.documents t ON t.kind = 'distro-tree' AND t.name = c.distro_tree_id::text
 AND t.since_position <= c.command_id AND t.until_position > c.command_id
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
        'recipe_id', gd.recipe_id, 'guestname', gd.guestname, 'guestargs', gd.guestargs,
        'distro_tree_id', gd.distro_tree_id, 'tree', gt.document, 'distro', gd.distro,
        'kernel_options', gd.kernel_options, 'ks_meta', gd.ks_meta, 'tasks', gd.tasks) ORDER BY gd.recipe_id) AS guests
    FROM read.recipe_details gd
    JOIN read.recipes gr ON gr.recipe_id = gd.recipe_id AND gr.state NOT IN ('completed', 'cancelled', 'aborted')
     AND gr.since_position <= c.command_id AND gr.until_position > c.command_id
    LEFT JOIN read.documents gt ON gt.kind = 'distro-tree' AND gt.name = gd.distro_tree_id::text
     AND gt.since_position <= c.command_id AND gt.until_position > c.command_id
    WHERE gd.host_recipe_id = c.recipe_id AND c.kind = 'provision') AS g ON true
WHERE c.lab_controller = %(lab_controller)s AND c.command_id > %(after)s
  AND (%(then)s OR NOT %(unfinished)s OR c.state IN ('queued', 'running'))
  AND (NOT %(unfinished)s OR so.state IN ('queued', 'running')) AND c.until_position = 9223372036854775807
ORDER BY c.command_id LIMIT %(limit)s

-- name: commands_by_id
SELECT command_id, lab_controller, kind, system, recipe_id FROM read.commands
WHERE command_id = ANY (%(command_ids)s::bigint[]) AND until_position = 9223372036854775807

-- name: system_is_known
SELECT fqdn FROM read.systems WHERE fqdn = %(fqdn)s AND since_position <= %(at)s AND until_position > %(at)s
