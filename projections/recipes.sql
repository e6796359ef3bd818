-- Recipes, their tasks, and the queue.

-- name: queue
-- Unplaced recipes of some partitions, without guests. `since` is the beginning of the state; a change of priority does
-- not change it.
-- Open intervals have an index in the order of the queue of each partition, so that the query reads no more rows than
-- it returns of each; closed intervals have an index of positions.
SELECT q.recipe_id, d.recipe_set_id, d.job_id, q.state, q.priority, q.lab_controller, q.submission,
       r.since, r.since_position, d.owner, d.group_name AS "group", q.partition, d.whiteboard, d.since AS submitted_at
FROM (
    SELECT * FROM (
        SELECT found.* FROM unnest(%(partitions)s::integer[]) AS wanted (partition)
        CROSS JOIN LATERAL (
            SELECT * FROM read.queue
            WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
              AND partition = wanted.partition
              AND (NOT assigned, -priority, submission, recipe_id)
                > (%(not_assigned)s, %(minus_priority)s, %(submission)s, %(recipe_id)s)
            ORDER BY NOT assigned, -priority, submission, recipe_id LIMIT %(limit)s) AS found
        UNION ALL
        (SELECT * FROM read.queue
         WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
           AND partition = ANY (%(partitions)s::integer[])
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

-- name: queue_of
-- Recipes by id, with the columns of `queue`, in no order.
SELECT r.recipe_id, d.recipe_set_id, d.job_id, r.state, r.lab_controller, r.since, r.since_position,
       d.owner, d.group_name AS "group", d.partition, d.whiteboard
FROM read.recipes r JOIN read.recipe_details d USING (recipe_id)
WHERE r.recipe_id = ANY (%(recipe_ids)s) AND r.since_position <= %(at)s AND r.until_position > %(at)s

-- name: partitions_with_queue
-- The partitions, of those given, that have unplaced recipes.
SELECT wanted.partition FROM unnest(%(partitions)s::integer[]) AS wanted (partition)
WHERE EXISTS (SELECT FROM read.queue q
              WHERE q.until_position = 9223372036854775807 AND q.since_position <= %(at)s
                AND q.partition = wanted.partition)
   OR EXISTS (SELECT FROM read.queue q
              WHERE q.until_position < 9223372036854775807
                AND int8range(q.since_position, q.until_position) @> %(at)s::bigint
                AND q.partition = wanted.partition)
ORDER BY wanted.partition

-- name: declaring_sets
-- The recipe sets, of those given, that declare resource locks.
SELECT DISTINCT d.recipe_set_id FROM read.recipe_details d
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
WHERE d.recipe_set_id = ANY (%(recipe_set_ids)s) AND coalesce(changed.locks, d.locks) <> '{}'

-- name: conditional_sets
-- The recipe sets, of those given, whose jobs state dependencies or reasons anywhere.
SELECT DISTINCT d.recipe_set_id FROM read.recipe_details d JOIN read.job_documents j USING (job_id)
WHERE d.recipe_set_id = ANY (%(recipe_set_ids)s)
  AND (j.has_conditions
       OR EXISTS (SELECT FROM read.added_sets a WHERE a.job_id = j.job_id AND a.has_conditions))

-- name: recipe
-- `guests` are the ids of a host's guests.
SELECT d.recipe_id, d.recipe_set_id, d.job_id, d.owner, d.group_name AS "group", d.partition, d.whiteboard, d.role,
       (SELECT j.queue FROM read.job_documents j WHERE j.job_id = d.job_id) AS queue,
       CASE WHEN changed.recipe_id IS NULL THEN d.distro_tree_id ELSE changed.distro_tree_id END AS distro_tree_id,
       CASE WHEN changed.recipe_id IS NULL THEN d.distro ELSE changed.distro END AS distro,
       d.host_recipe_id, d.guestname, d.guestargs, d.reservesys, coalesce(changed.locks, d.locks) AS declared_locks,
       ARRAY (SELECT g.recipe_id FROM read.recipe_details g
              WHERE g.host_recipe_id = d.recipe_id ORDER BY g.recipe_id) AS guests,
       r.state, r.system, r.lab_controller, r.reason, r.awaits_locks, r.attempt, r.since, r.since_position, s.priority
FROM read.recipe_details d JOIN read.recipe_sets s
  ON s.recipe_set_id = d.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s
JOIN read.recipes r
  ON r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
WHERE d.recipe_id = %(recipe_id)s

-- name: tasks
-- The tasks of a recipe, with their submitted names. Tasks that a change has replaced have ended. The waiver of a failed
-- task is its own, or else that of its set.
SELECT t.task_id, named.task ->> 'name' AS name, t.state, t.result,
       CASE WHEN t.result = ANY (%(bad_results)s::text[]) THEN coalesce(t.waiver, s.waiver) END AS waiver
FROM read.recipe_details d
JOIN read.recipe_sets s
  ON s.recipe_set_id = d.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
CROSS JOIN LATERAL jsonb_array_elements(coalesce(changed.tasks, d.tasks)) AS named (task)
JOIN read.tasks t ON t.task_id = (named.task ->> 'task_id')::integer
 AND t.since_position <= %(at)s AND t.until_position > %(at)s
WHERE d.recipe_id = %(recipe_id)s
ORDER BY t.task_id

-- name: tree_of_recipe
SELECT t.document FROM read.recipe_details d
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
JOIN read.documents t
  ON t.kind = 'distro-tree' AND t.since_position <= %(at)s AND t.until_position > %(at)s
 AND t.name = (CASE WHEN changed.recipe_id IS NULL THEN d.distro_tree_id ELSE changed.distro_tree_id END)::text
WHERE d.recipe_id = %(recipe_id)s

-- name: tasks_worst_first
-- The tasks of a job or of one recipe (the other parameter is null), with their submitted names and what their recipes
-- do: those with the worst result by `result_order`, which begins with the best, first. Waivers as in `tasks`. OFFSET 0
-- makes the planner look up each row by its id: it may expect many more recipes than a job has, and read whole tables.
SELECT d.recipe_set_id, d.recipe_id, t.task_id, named.task ->> 'name' AS name, t.state, t.result,
       r.state AS recipe_state, r.system, r.attempt, r.reason,
       CASE WHEN t.result = ANY (%(bad_results)s::text[]) THEN coalesce(t.waiver, s.waiver) END AS waiver
FROM read.recipe_details d
CROSS JOIN LATERAL (
    SELECT s.waiver FROM read.recipe_sets s
    WHERE s.recipe_set_id = d.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s OFFSET 0) AS s
CROSS JOIN LATERAL (
    SELECT r.state, r.system, r.attempt, r.reason FROM read.recipes r
    WHERE r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s OFFSET 0) AS r
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
CROSS JOIN LATERAL jsonb_array_elements(coalesce(changed.tasks, d.tasks)) AS named (task)
CROSS JOIN LATERAL (
    SELECT t.task_id, t.state, t.result, t.waiver FROM read.tasks t
    WHERE t.task_id = (named.task ->> 'task_id')::integer
      AND t.since_position <= %(at)s AND t.until_position > %(at)s OFFSET 0) AS t
WHERE d.job_id = %(job_id)s::integer OR d.recipe_id = %(recipe_id)s::integer
ORDER BY array_position(%(result_order)s::text[], t.result) DESC, t.task_id

-- name: results
-- The results of a job or of one recipe (the other parameter is null), as they were reported. A result is of the
-- attempt at which its recipe was then. OFFSET 0 as in `tasks_worst_first`.
SELECT reported.*
FROM read.recipe_details d
CROSS JOIN LATERAL (
    SELECT t.task_id, r.attempt, t.path, t.result, t.message, t.score, t.logs, t.log_urls, t.since AS at,
           t.since_position AS position
    FROM read.task_results t
    JOIN read.recipes r
      ON r.recipe_id = d.recipe_id AND r.since_position <= t.since_position AND r.until_position > t.since_position
    WHERE t.recipe_id = d.recipe_id AND t.since_position <= %(at)s OFFSET 0) AS reported
WHERE d.job_id = %(job_id)s::integer OR d.recipe_id = %(recipe_id)s::integer
ORDER BY reported.position

-- name: history_of_recipe
-- Intervals that ended after `at` are open.
SELECT state, attempt, system, lab_controller, reason, awaits_locks, since,
       CASE WHEN until_position <= %(at)s THEN until END AS until, since_position, CASE WHEN until_position <= %(at)s THEN until_position END AS until_position
FROM read.recipes WHERE recipe_id = %(recipe_id)s AND since_position <= %(at)s ORDER BY since_position

-- name: seconds_in_states
-- The seconds in each state, and in waiting with and without locks, summed over the recipes of a job, of a set, or for
-- one recipe; the other parameters are null. Open intervals count until `moment`, which is null for the present.
-- Finished states do not count.
SELECT r.state, r.awaits_locks, sum(extract(epoch FROM greatest(ended.at - r.since, '0')))::double precision AS seconds
FROM read.recipe_details d JOIN read.recipes r USING (recipe_id)
CROSS JOIN LATERAL (
    SELECT CASE WHEN r.until_position <= %(at)s THEN r.until
                ELSE coalesce(%(moment)s::timestamptz, clock_timestamp()) END AS at) AS ended
WHERE (d.job_id = %(job_id)s::integer OR d.recipe_set_id = %(recipe_set_id)s::integer
       OR d.recipe_id = %(recipe_id)s::integer)
  AND r.since_position <= %(at)s AND r.state NOT IN ('completed', 'cancelled', 'aborted')
GROUP BY r.state, r.awaits_locks
