-- The role and the functions of the boards of Grafana. The role reads the listed columns and tables, and nothing else:
-- no document, token or job document, and nothing of the log. The bodies of the functions are text, so that PostgreSQL
-- resolves the names of the tables at each call: `replay rebuild` replaces the tables, and could not drop those that a
-- view, or a body of BEGIN ATOMIC, depends on. A function without settings becomes part of the query that calls it, so
-- columns that a panel does not use cost nothing. Boards show all systems, whoever may view them
-- (docs/decisions/0039-boards-of-operators.md).

DO $$
BEGIN
    -- Without LOGIN: an operator who has a Grafana allows it, with a password.
    CREATE ROLE labledger_boards NOLOGIN;
    ALTER ROLE labledger_boards SET default_transaction_read_only = on;
    ALTER ROLE labledger_boards SET statement_timeout = '5s';
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the whole server, and another database of it has made this one
END $$;

CREATE SCHEMA boards;
GRANT USAGE ON SCHEMA boards, read TO labledger_boards;
GRANT SELECT ON read.system_usage, read.queue, read.recipes, read.recipe_sets TO labledger_boards;
GRANT SELECT (fqdn, lab_controller, condition, draining, reserved_by, pools, since_position, since, until_position,
              until)
    ON read.systems TO labledger_boards;
GRANT SELECT (recipe_id, recipe_set_id, job_id, owner, group_name, host_recipe_id, since_position, since)
    ON read.recipe_details TO labledger_boards;

-- The systems of now; `pools` is never empty. `since` is the last change of condition or usage.
CREATE FUNCTION boards.systems() RETURNS TABLE (
    system text, lab text, pools text[], condition text, usage text, draining boolean, reserved_by text,
    recipe_id integer, since timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT s.fqdn, s.lab_controller,
           CASE s.pools WHEN '[]' THEN '{(no pool)}' ELSE ARRAY (SELECT jsonb_array_elements_text(s.pools)) END,
           s.condition, u.usage, s.draining, s.reserved_by, u.recipe_id, u.since
    FROM read.systems s JOIN read.system_usage u USING (fqdn)
    WHERE s.until_position = 9223372036854775807 AND u.until_position = 9223372036854775807
$$;

-- The systems by lab, condition and usage at each step of a time span.
CREATE FUNCTION boards.systems_over_time(begins timestamptz, ends timestamptz, step interval) RETURNS TABLE (
    "time" timestamptz, lab text, condition text, usage text, systems bigint
) LANGUAGE sql STABLE AS $$
    WITH spans AS (
        -- An interval counts from the first step in it up to the first step after it, and not at all if both are one.
        SELECT s.lab_controller AS lab, u.condition, u.usage,
               ceil(date_part('epoch', greatest(u.since, s.since, begins) - begins) / date_part('epoch', step))
                   AS first_step,
               ceil(date_part('epoch', least(u.until, s.until, ends + step) - begins) / date_part('epoch', step))
                   AS end_step
        FROM read.system_usage u JOIN read.systems s
          ON s.fqdn = u.fqdn AND s.since_position < u.until_position AND s.until_position > u.since_position
        WHERE u.since <= ends AND u.until > begins AND s.since <= ends AND s.until > begins
    ), changes AS MATERIALIZED (
        SELECT p.lab, p.condition, p.usage, c.number, sum(c.amount) AS amount
        FROM spans p CROSS JOIN LATERAL (VALUES (p.first_step, 1), (p.end_step, -1)) AS c (number, amount)
        WHERE p.first_step < p.end_step GROUP BY p.lab, p.condition, p.usage, c.number
    )
    SELECT begins + n.number * step, g.lab, g.condition, g.usage,
           sum(coalesce(c.amount, 0)) OVER (PARTITION BY g.lab, g.condition, g.usage ORDER BY n.number)::bigint
    FROM (SELECT DISTINCT lab, condition, usage FROM changes) AS g
    CROSS JOIN generate_series(0, floor(date_part('epoch', ends - begins) / date_part('epoch', step))::integer)
        AS n (number)
    LEFT JOIN changes c USING (lab, condition, usage, number)
$$;

-- The intervals of systems in a time span, cut to it, with their seconds. Owner and group are those of the job that has
-- the system, or the person who has reserved it.
CREATE FUNCTION boards.usage(begins timestamptz, ends timestamptz) RETURNS TABLE (
    system text, lab text, pools text[], condition text, usage text, owner text, "group" text, since timestamptz,
    seconds double precision
) LANGUAGE sql STABLE AS $$
    SELECT u.fqdn, s.lab_controller,
           CASE s.pools WHEN '[]' THEN '{(no pool)}' ELSE ARRAY (SELECT jsonb_array_elements_text(s.pools)) END,
           u.condition, u.usage,
           coalesce(d.owner, s.reserved_by), d.group_name, greatest(u.since, s.since, begins),
           date_part('epoch', least(u.until, s.until, ends) - greatest(u.since, s.since, begins))
    FROM read.system_usage u JOIN read.systems s
      ON s.fqdn = u.fqdn AND s.since_position < u.until_position AND s.until_position > u.since_position
    LEFT JOIN read.recipe_details d ON d.recipe_id = u.recipe_id
    WHERE u.since < ends AND u.until > begins AND s.since < ends AND s.until > begins
      -- Two changes in one commit have one time.
      AND greatest(u.since, s.since, begins) < least(u.until, s.until, ends)
$$;

-- The unplaced recipes of now, without guests. Only an assigned recipe has a lab.
CREATE FUNCTION boards.unplaced() RETURNS TABLE (
    recipe_id integer, job_id integer, owner text, "group" text, priority text, state text, lab text,
    submitted timestamptz, wait_seconds double precision
) LANGUAGE sql STABLE AS $$
    SELECT q.recipe_id, d.job_id, d.owner, d.group_name,
           ('{Low,Medium,Normal,High,Urgent}'::text[])[q.priority], q.state, q.lab_controller, d.since,
           date_part('epoch', now() - d.since)
    FROM read.queue q JOIN read.recipe_details d USING (recipe_id)
    WHERE q.until_position = 9223372036854775807
$$;

-- The unplaced recipes by priority at each step of a time span.
CREATE FUNCTION boards.unplaced_over_time(begins timestamptz, ends timestamptz, step interval) RETURNS TABLE (
    "time" timestamptz, priority text, recipes bigint
) LANGUAGE sql STABLE AS $$
    WITH spans AS (
        SELECT priority,
               ceil(date_part('epoch', greatest(since, begins) - begins) / date_part('epoch', step)) AS first_step,
               ceil(date_part('epoch', least(until, ends + step) - begins) / date_part('epoch', step)) AS end_step
        FROM read.queue WHERE since <= ends AND until > begins
    ), changes AS MATERIALIZED (
        SELECT p.priority, c.number, sum(c.amount) AS amount
        FROM spans p CROSS JOIN LATERAL (VALUES (p.first_step, 1), (p.end_step, -1)) AS c (number, amount)
        WHERE p.first_step < p.end_step GROUP BY p.priority, c.number
    )
    SELECT begins + n.number * step, ('{Low,Medium,Normal,High,Urgent}'::text[])[g.priority],
           sum(coalesce(c.amount, 0)) OVER (PARTITION BY g.priority ORDER BY n.number)::bigint
    FROM (SELECT DISTINCT priority FROM changes) AS g
    CROSS JOIN generate_series(0, floor(date_part('epoch', ends - begins) / date_part('epoch', step))::integer)
        AS n (number)
    LEFT JOIN changes c USING (priority, number)
$$;

-- The recipes, without guests, whose first wait ended in a time span: from the submission until the system and its set
-- were waiting for good. `at` is the moment when that was certain, as for the metric `labledger_recipe_wait_seconds`.
CREATE FUNCTION boards.waits(begins timestamptz, ends timestamptz) RETURNS TABLE (
    at timestamptz, recipe_id integer, owner text, "group" text, priority text, system text, lab text, pools text[],
    seconds double precision
) LANGUAGE sql STABLE AS $$
    SELECT r.until, r.recipe_id, d.owner, d.group_name, b.priority, r.system, r.lab_controller,
           CASE s.pools WHEN '[]' THEN '{(no pool)}' ELSE ARRAY (SELECT jsonb_array_elements_text(s.pools)) END,
           date_part('epoch', coalesce(l.since, r.since) - d.since)
    FROM read.recipes r
    -- An event begins one row, so its position identifies the row. With the recipe the planner would expect no rows.
    JOIN read.recipes n ON n.since_position = r.until_position
    JOIN read.recipe_details d ON d.recipe_id = r.recipe_id
    -- Waiting without resource locks is an interval of its own.
    LEFT JOIN read.recipes l ON l.until_position = r.since_position AND l.state = 'waiting' AND l.awaits_locks
    LEFT JOIN read.recipe_sets b ON b.recipe_set_id = d.recipe_set_id
        AND b.since_position <= r.since_position AND b.until_position > r.since_position
    -- OFFSET 0 makes the planner look up each system, however few it expects.
    LEFT JOIN LATERAL (
        SELECT pools FROM read.systems WHERE fqdn = r.system
        AND since_position <= r.since_position AND until_position > r.since_position OFFSET 0) AS s ON true
    WHERE r.state = 'waiting' AND r.attempt = 1 AND r.until BETWEEN begins AND ends AND d.host_recipe_id IS NULL
      AND n.state NOT IN ('new', 'queued', 'assigned', 'scheduled', 'waiting')
$$;

-- The provisionings, without those of guests, that ended in a time span, with the state of the recipe in which they
-- ended. One has failed if its recipe was given up before the first task for any reason but a cancellation or a
-- preemption.
CREATE FUNCTION boards.provisionings(begins timestamptz, ends timestamptz) RETURNS TABLE (
    at timestamptz, recipe_id integer, job_id integer, system text, lab text, stage text, failed boolean, reason text,
    seconds double precision
) LANGUAGE sql STABLE AS $$
    SELECT n.since, n.recipe_id, d.job_id, p.system, p.lab_controller, p.state, n.state <> 'running', n.reason,
           date_part('epoch', n.since - coalesce(w.since, p.since))
    FROM read.recipes n
    JOIN read.recipes p ON p.until_position = n.since_position
    JOIN read.recipe_details d ON d.recipe_id = n.recipe_id
    LEFT JOIN read.recipes w ON w.until_position = p.since_position AND w.state = 'waiting' AND NOT w.awaits_locks
    WHERE n.since BETWEEN begins AND ends AND n.state IN ('running', 'reserved', 'aborted')
      AND (p.state = 'installing' OR (p.state = 'waiting' AND NOT p.awaits_locks)) AND d.host_recipe_id IS NULL
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA boards FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA boards TO labledger_boards;
