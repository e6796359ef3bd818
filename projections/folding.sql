-- What the projector asks and says beside its tables (`intervals.py`), by name. An `until_position` of
-- 9223372036854775807 means that the interval is open. No schema is named: the same code folds into the read models
-- and into others beside them.

-- name: stored_position
SELECT position FROM progress WHERE name = 'all'

-- name: begin
-- Whoever finds nothing folded yet notes up to where the log has to be folded before what is there is the whole.
UPDATE progress SET whole_from = (SELECT coalesce(max(notification_id), 0) FROM log.events)
WHERE name = 'all' AND position = 0

-- name: move
-- Which table it was says whether these are still the read models of the page before.
UPDATE progress SET position = %s, recorded_at = %s WHERE name = 'all' AND position = %s RETURNING tableoid::bigint

-- name: tell
SELECT pg_notify(%s, %s)

-- name: analyze
-- So that the planner knows them as they are.
SELECT live.analyze_read_models()

-- name: members
-- The recipes that a page touches, their hosts, and all of the sets that it touches; when each was new, and when it
-- last began to be waiting and running. OFFSET 0 has each looked up by its number: before the tables of a young service
-- are analyzed, the planner believes that hardly any row is open, and reads all of them instead.
SELECT d.recipe_id, lived.state,
       ARRAY (SELECT t.task_id FROM (
                  SELECT task_id, until_position FROM tasks WHERE recipe_id = d.recipe_id OFFSET 0) AS t
              WHERE t.until_position = 9223372036854775807 ORDER BY t.task_id),
       d.since, lived.waiting, lived.running,
       d.job_id, d.recipe_set_id, d.since_position, d.distro_tree_id, d.host_recipe_id
FROM (
    -- Apart, for an index each: as one condition they are looked for among all recipes there ever were.
    SELECT unnest(%(recipes)s::integer[]) AS recipe_id
    UNION SELECT recipe_id FROM recipe_details WHERE recipe_set_id = ANY (%(sets)s::integer[])
    UNION SELECT host_recipe_id FROM recipe_details
          WHERE recipe_id = ANY (%(recipes)s::integer[]) AND host_recipe_id IS NOT NULL) AS wanted
CROSS JOIN LATERAL (SELECT * FROM recipe_details WHERE recipe_id = wanted.recipe_id OFFSET 0) AS d
CROSS JOIN LATERAL (
    SELECT max(h.state) FILTER (WHERE h.until_position = 9223372036854775807) AS state,
           max(h.since) FILTER (WHERE h.state = 'waiting') AS waiting,
           max(h.since) FILTER (WHERE h.state = 'running') AS running
    FROM recipes h WHERE h.recipe_id = d.recipe_id) AS lived
ORDER BY d.recipe_id

-- name: states_of_jobs
-- How many recipes of a job's sets are in each state.
SELECT d.job_id, d.recipe_set_id, r.state, count(*)
FROM recipe_details d
CROSS JOIN LATERAL (
    SELECT state FROM recipes WHERE recipe_id = d.recipe_id AND until_position = 9223372036854775807 OFFSET 0) AS r
WHERE d.job_id = ANY (%s) GROUP BY d.job_id, d.recipe_set_id, r.state

-- name: idle_of_labs
-- Systems that go into the idle pool, or out of it, with their lab: all others of it are not idle.
SELECT s.fqdn FROM systems s
JOIN system_usage u ON u.fqdn = s.fqdn AND u.until_position = 9223372036854775807 AND u.usage = 'idle'
WHERE s.lab_controller = ANY (%s) AND s.until_position = 9223372036854775807
