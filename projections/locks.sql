-- Resource locks that recipes hold or await.

-- name: locks
-- Locks by level, name, recipe and mode, except those with the name of a `hidden` system, which `$system` stands for at
-- every level. The name is null for a lock on everything at its level; with a `name`, such locks are included. `$pools`
-- stands for the pools of the recipe's system at the time.
-- Open and closed intervals have an index each, as in `queue`; few locks have the name `$pools`. The conditions are
-- repeated: without a LIMIT in each part, the planner reads and sorts all open locks.
SELECT l.level, nullif(l.name, '') AS name, l.mode, l.state, l.recipe_id, l.recipe_set_id, d.job_id, d.owner,
       d.group_name AS "group", r.lab_controller, l.since, l.since_position
FROM (
    SELECT * FROM (
        (SELECT level, name, recipe_id, mode, state, recipe_set_id, since, since_position FROM read.locks
         WHERE until_position = 9223372036854775807 AND since_position <= %(at)s AND name <> '$pools'
           AND (level, name, recipe_id, mode) > (%(after_level)s, %(after_name)s, %(after_recipe_id)s, %(after_mode)s)
           AND (%(level)s::text IS NULL OR level = %(level)s::text)
           AND (%(name)s::text IS NULL OR name IN ('', %(name)s::text))
           AND (%(state)s::text IS NULL OR state = %(state)s::text)
           AND (%(hidden)s::text[] IS NULL OR name NOT IN (SELECT unnest(%(hidden)s::text[])))
         ORDER BY level, name, recipe_id, mode LIMIT %(limit)s)
        UNION ALL
        (SELECT level, name, recipe_id, mode, state, recipe_set_id, since, since_position FROM read.locks
         WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
           AND name <> '$pools'
           AND (level, name, recipe_id, mode) > (%(after_level)s, %(after_name)s, %(after_recipe_id)s, %(after_mode)s)
           AND (%(level)s::text IS NULL OR level = %(level)s::text)
           AND (%(name)s::text IS NULL OR name IN ('', %(name)s::text))
           AND (%(state)s::text IS NULL OR state = %(state)s::text)
           AND (%(hidden)s::text[] IS NULL OR name NOT IN (SELECT unnest(%(hidden)s::text[])))
         ORDER BY level, name, recipe_id, mode LIMIT %(limit)s)
        UNION ALL
        SELECT own.level, pool.name, own.recipe_id, own.mode, own.state, own.recipe_set_id, own.since, own.since_position
        FROM (
            SELECT * FROM read.locks
            WHERE until_position = 9223372036854775807 AND since_position <= %(at)s AND name = '$pools'
            UNION ALL
            SELECT * FROM read.locks
            WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
              AND name = '$pools') AS own
        JOIN read.recipes p
          ON p.recipe_id = own.recipe_id AND p.since_position <= %(at)s AND p.until_position > %(at)s
        JOIN read.systems s ON s.fqdn = p.system AND s.since_position <= %(at)s AND s.until_position > %(at)s
        CROSS JOIN LATERAL jsonb_array_elements_text(s.pools) AS pool (name)
        WHERE (own.level, pool.name, own.recipe_id, own.mode)
            > (%(after_level)s, %(after_name)s, %(after_recipe_id)s, %(after_mode)s)
          AND (%(level)s::text IS NULL OR own.level = %(level)s::text)
          AND (%(name)s::text IS NULL OR pool.name = %(name)s::text)
          AND (%(state)s::text IS NULL OR own.state = %(state)s::text)
    ) AS found
    ORDER BY level, name, recipe_id, mode LIMIT %(limit)s
) AS l
JOIN read.recipe_details d USING (recipe_id)
JOIN read.recipes r ON r.recipe_id = l.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
ORDER BY l.level, l.name, l.recipe_id, l.mode

-- name: held_locks
-- The locks that a recipe holds.
SELECT level, name, mode FROM read.locks
WHERE recipe_id = %(recipe_id)s AND since_position <= %(at)s AND until_position > %(at)s AND state = 'held'
ORDER BY level, name

-- name: held_locks_of_set
-- The locks that each recipe of a set holds.
SELECT l.recipe_id, l.level, l.name, l.mode
FROM read.recipe_details d JOIN read.locks l USING (recipe_id)
WHERE d.recipe_set_id = %(recipe_set_id)s AND l.since_position <= %(at)s AND l.until_position > %(at)s
  AND l.state = 'held'
ORDER BY l.recipe_id, l.level, l.name
