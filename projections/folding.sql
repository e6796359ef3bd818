-- Statements of the projector, besides those of `intervals.py`. An `until_position` of 9223372036854775807 means that
-- the interval is open. The statements name no schema, because a rebuild folds into another one.

-- name: stored_progress
SELECT position, recorded_at FROM progress WHERE name = 'all'

-- name: begin
-- Before the first page, store the end of the log: the read models are complete once they reach it.
UPDATE progress SET whole_from = (SELECT coalesce(max(notification_id), 0) FROM log.events)
WHERE name = 'all' AND position = 0

-- name: move
-- The oid of the table tells the projector whether a rebuild has replaced the read models.
UPDATE progress SET position = %s, recorded_at = %s WHERE name = 'all' AND position = %s RETURNING tableoid::bigint

-- name: close_hours
-- Store the sums of usage in the hours from one to before another.
SELECT live.close_hours(%s, %s)

-- name: store_actor_parts
-- A projector that begins again may have stored the actors of its first part already.
INSERT INTO actor_parts (actor, part, since_position)
SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) ON CONFLICT (actor, part) DO NOTHING

-- name: delete_results
-- The results of jobs up to a position each. The arrays make the planner look up each row, as in `members`.
DELETE FROM task_results WHERE since_position = ANY (ARRAY (
    SELECT t.since_position
    FROM unnest(%s::integer[], %s::bigint[]) AS wanted (job_id, position)
    CROSS JOIN LATERAL (SELECT recipe_id FROM recipe_details WHERE job_id = wanted.job_id OFFSET 0) AS d
    CROSS JOIN LATERAL (SELECT since_position FROM task_results WHERE recipe_id = d.recipe_id OFFSET 0) AS t
    WHERE t.since_position < wanted.position))

-- name: notify
SELECT pg_notify(%s, %s)

-- name: analyze
-- Update the statistics of the planner.
SELECT live.analyze_read_models()

-- name: members
-- The recipes of a page, their hosts, and all recipes of its sets, with the levels and names of their locks, and the
-- times when each was new, last began waiting, got its locks, and began running. A recipe that gets its locks later is
-- waiting in two rows, one after the other. OFFSET 0 makes the planner look up each by its number: before the tables of
-- a young service are analyzed, it expects hardly any open rows, and reads all of them instead.
SELECT d.recipe_id, lived.state,
       ARRAY (SELECT t.task_id FROM (
                  SELECT task_id, until_position FROM tasks WHERE recipe_id = d.recipe_id OFFSET 0) AS t
              WHERE t.until_position = 9223372036854775807 ORDER BY t.task_id),
       (SELECT array_agg(ARRAY[l.level, l.name]) FROM (
            SELECT level, name, until_position FROM locks WHERE recipe_id = d.recipe_id OFFSET 0) AS l
        WHERE l.until_position = 9223372036854775807),
       d.since, lived.waiting, lived.locked, lived.running,
       d.job_id, d.recipe_set_id, d.since_position,
       CASE WHEN changed.recipe_id IS NULL THEN d.distro_tree_id ELSE changed.distro_tree_id END,
       d.host_recipe_id, coalesce(changed.locks, d.locks), d.partition, d.group_name, w.requirement, w.arch
FROM (
    -- Three queries, each with its index; one condition would scan all recipes.
    SELECT unnest(%(recipes)s::integer[]) AS recipe_id
    UNION SELECT recipe_id FROM recipe_details WHERE recipe_set_id = ANY (%(sets)s::integer[])
    UNION SELECT host_recipe_id FROM recipe_details
          WHERE recipe_id = ANY (%(recipes)s::integer[]) AND host_recipe_id IS NOT NULL) AS wanted
CROSS JOIN LATERAL (SELECT * FROM recipe_details WHERE recipe_id = wanted.recipe_id OFFSET 0) AS d
LEFT JOIN LATERAL (
    SELECT * FROM recipe_changes WHERE recipe_id = d.recipe_id ORDER BY since_position DESC LIMIT 1) AS changed ON true
LEFT JOIN LATERAL (
    SELECT requirement, arch FROM waits WHERE recipe_id = d.recipe_id ORDER BY since_position DESC LIMIT 1) AS w ON true
CROSS JOIN LATERAL (
    SELECT max(h.state) FILTER (WHERE h.until_position = 9223372036854775807) AS state,
           max(h.since) FILTER (WHERE h.state = 'waiting' AND h.before <> 'waiting') AS waiting,
           max(h.since) FILTER (WHERE h.state = 'waiting' AND NOT h.awaits_locks) AS locked,
           max(h.since) FILTER (WHERE h.state = 'running') AS running
    FROM (SELECT *, lag(state, 1, '') OVER (ORDER BY since_position) AS before
          FROM recipes WHERE recipe_id = d.recipe_id) AS h) AS lived
ORDER BY d.recipe_id

-- name: states_of_jobs
-- The number of recipes in each state, by set of a job; how many of them wait again after they were preempted, and
-- whether one of them has or had a system.
SELECT d.job_id, d.recipe_set_id, r.state, count(*), (count(*) FILTER (WHERE r.preempted))::integer,
       bool_or(r.system IS NOT NULL
               OR EXISTS (SELECT FROM recipes h WHERE h.recipe_id = d.recipe_id AND h.system IS NOT NULL))
FROM recipe_details d
CROSS JOIN LATERAL (
    SELECT state, system, preempted FROM recipes
    WHERE recipe_id = d.recipe_id AND until_position = 9223372036854775807 OFFSET 0) AS r
WHERE d.job_id = ANY (%s) GROUP BY d.job_id, d.recipe_set_id, r.state

-- name: waiting_counts
SELECT partition, arch, priority, count(*) FROM waits WHERE until_position = 9223372036854775807
GROUP BY partition, arch, priority

-- name: idle_of_labs
-- The idle systems of labs, which join or leave the idle pool with the lab.
SELECT s.fqdn FROM systems s
JOIN system_usage u ON u.fqdn = s.fqdn AND u.until_position = 9223372036854775807 AND u.usage = 'idle'
WHERE s.lab_controller = ANY (%s) AND s.until_position = 9223372036854775807

-- name: add_job_terms
INSERT INTO job_terms AS t (term, block, jobs, since_position, last_position)
SELECT * FROM unnest(%s::text[], %s::integer[], %s::bit(2048)[], %s::bigint[], %s::bigint[])
ON CONFLICT (term, block) DO UPDATE SET jobs = t.jobs | excluded.jobs, last_position = excluded.last_position

-- name: terms_of_open_blocks
-- All properties that the jobs of the last two blocks have or had, which are in no row of `job_terms`.
WITH opened AS MATERIALIZED (
    SELECT (max(job_id) / %(size)s - 1) * %(size)s AS first FROM job_documents
), of_jobs AS MATERIALIZED (
    SELECT d.* FROM opened o JOIN job_documents d ON d.job_id >= o.first
), versions AS MATERIALIZED (
    SELECT j.* FROM opened o JOIN jobs j ON j.job_id >= o.first
), recipes_of_jobs AS MATERIALIZED (
    SELECT r.recipe_id, r.job_id, r.tasks FROM opened o JOIN recipe_details r ON r.job_id >= o.first
)
SELECT d.job_id, p.name, p.value
FROM of_jobs d CROSS JOIN LATERAL (VALUES
    ('whiteboard', d.whiteboard), ('owner', d.owner), ('group', d.group_name), ('partition', d.partition::text),
    ('product', d.document ->> 'product')) AS p (name, value)
UNION
SELECT j.job_id, p.name, p.value
FROM versions j CROSS JOIN LATERAL (VALUES
    ('whiteboard', j.changed ->> 'whiteboard'), ('product', j.changed ->> 'product'),
    ('result', nullif(j.result, 'New')),
    ('state', CASE WHEN j.state IN ('completed', 'cancelled', 'aborted') THEN j.state END)) AS p (name, value)
UNION
SELECT r.job_id, 'task', t ->> 'name' FROM recipes_of_jobs r CROSS JOIN jsonb_array_elements(r.tasks) AS t
UNION
SELECT r.job_id, 'task', t ->> 'name'
FROM recipes_of_jobs r JOIN recipe_changes c USING (recipe_id) CROSS JOIN jsonb_array_elements(c.tasks) AS t
