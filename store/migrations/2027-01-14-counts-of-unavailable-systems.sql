-- Systems that take nothing new apart from idle ones, for the metrics and the boards: counts by the reason, and `usage` of
-- the functions of boards is draining, occupied or disabled instead of idle, as in the sums of usage.

-- No projector may write between the count and the first page that is counted with the new column.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
ALTER TABLE read.system_counts DROP CONSTRAINT system_counts_pkey, ADD COLUMN unavailable text;
-- ON CONFLICT finds the row of systems without a reason, too.
ALTER TABLE read.system_counts ADD CONSTRAINT system_counts_key UNIQUE NULLS NOT DISTINCT (condition, usage, unavailable);
DELETE FROM read.system_counts;
INSERT INTO read.system_counts (condition, usage, unavailable, open_count)
SELECT condition, usage, unavailable, count(*) FILTER (WHERE until_position = 9223372036854775807) FROM read.system_usage
GROUP BY condition, usage, unavailable;

-- The systems of now; `pools` is never empty. `since` is the last change of condition or usage.
CREATE OR REPLACE FUNCTION boards.systems() RETURNS TABLE (
    system text, lab text, pools text[], condition text, usage text, draining boolean, reserved_by text,
    recipe_id integer, since timestamptz
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT s.fqdn, s.lab_controller,
           CASE s.pools WHEN '[]' THEN '{(no pool)}' ELSE ARRAY (SELECT jsonb_array_elements_text(s.pools)) END,
           s.condition, coalesce(u.unavailable, u.usage), s.draining, s.reserved_by, u.recipe_id, u.since
    FROM read.systems s JOIN read.system_usage u USING (fqdn)
    WHERE s.until_position = 9223372036854775807 AND u.until_position = 9223372036854775807
$$;

-- The systems by lab, condition and usage at each step of a time span.
CREATE OR REPLACE FUNCTION boards.systems_over_time(begins timestamptz, ends timestamptz, step interval) RETURNS TABLE (
    "time" timestamptz, lab text, condition text, usage text, systems bigint
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH spans AS (
        -- An interval counts from the first step in it up to the first step after it, and not at all if both are one.
        SELECT s.lab_controller AS lab, u.condition, coalesce(u.unavailable, u.usage) AS usage,
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
CREATE OR REPLACE FUNCTION boards.usage(begins timestamptz, ends timestamptz) RETURNS TABLE (
    system text, lab text, pools text[], condition text, usage text, owner text, "group" text, since timestamptz,
    seconds double precision
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT u.fqdn, s.lab_controller,
           CASE s.pools WHEN '[]' THEN '{(no pool)}' ELSE ARRAY (SELECT jsonb_array_elements_text(s.pools)) END,
           u.condition, coalesce(u.unavailable, u.usage),
           coalesce(d.owner, s.reserved_by), d.group_name, greatest(u.since, s.since, begins),
           date_part('epoch', least(u.until, s.until, ends) - greatest(u.since, s.since, begins))
    FROM read.system_usage u JOIN read.systems s
      ON s.fqdn = u.fqdn AND s.since_position < u.until_position AND s.until_position > u.since_position
    LEFT JOIN read.recipe_details d ON d.recipe_id = u.recipe_id
    WHERE u.since < ends AND u.until > begins AND s.since < ends AND s.until > begins
      -- Two changes in one commit have one time.
      AND greatest(u.since, s.since, begins) < least(u.until, s.until, ends)
$$;
