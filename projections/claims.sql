-- Claims of waiting recipes to busy systems.

-- name: claims
-- The claims of recipes after a recipe id, except those to `hidden` systems; unused filters are null.
SELECT c.recipe_id, d.recipe_set_id, d.job_id, d.owner, d.group_name AS "group", c.system, c.forced, c.since,
       c.since_position
FROM (
    (SELECT * FROM read.claims
     WHERE until_position = 9223372036854775807 AND since_position <= %(at)s AND recipe_id > %(after)s
     ORDER BY recipe_id)
    UNION ALL
    (SELECT * FROM read.claims
     WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
     ORDER BY recipe_id)
) AS c
JOIN read.recipe_details d USING (recipe_id)
WHERE c.recipe_id > %(after)s
  AND (%(recipe_id)s::integer IS NULL OR c.recipe_id = %(recipe_id)s::integer)
  AND (%(system)s::text IS NULL OR c.system = %(system)s::text)
  AND (%(hidden)s::text[] IS NULL OR c.system NOT IN (SELECT unnest(%(hidden)s::text[])))
ORDER BY c.recipe_id LIMIT %(limit)s
