-- The conservation laws (design 6) over the read models, as of a position.

-- name: systems_by_use
-- The systems: used by a recipe, free for any recipe, reserved by a person, occupied by something else that runs there,
-- and away (Broken, Manual, Removed or draining).
SELECT count(*) AS systems,
       count(*) FILTER (WHERE u.recipe_id IS NOT NULL) AS used,
       count(*) FILTER (WHERE u.recipe_id IS NULL AND s.reserved_by IS NOT NULL) AS reserved,
       count(*) FILTER (WHERE u.recipe_id IS NULL AND s.reserved_by IS NULL
                        AND s.condition = 'Automated' AND NOT s.draining AND s.occupied IS NULL) AS free,
       count(*) FILTER (WHERE u.recipe_id IS NULL AND s.reserved_by IS NULL AND s.occupied IS NOT NULL) AS occupied,
       count(*) FILTER (WHERE u.recipe_id IS NULL AND s.reserved_by IS NULL AND s.occupied IS NULL
                        AND (s.condition <> 'Automated' OR s.draining)) AS away
FROM read.systems s LEFT JOIN read.system_usage u
  ON u.fqdn = s.fqdn AND u.since_position <= %(at)s AND u.until_position > %(at)s
WHERE s.since_position <= %(at)s AND s.until_position > %(at)s

-- name: held_by_queues
-- The systems that the recipes of each queue hold, by partition; `placed` are the states of recipes with a system. Unlike
-- `usage_of_queues`, the query begins with the recipes.
SELECT d.partition, j.queue, count(*)::integer AS held
FROM read.recipes r
JOIN read.recipe_details d USING (recipe_id)
JOIN read.job_documents j USING (job_id)
WHERE r.since_position <= %(at)s AND r.until_position > %(at)s AND r.state = ANY (%(placed)s)
  AND d.host_recipe_id IS NULL
GROUP BY d.partition, j.queue ORDER BY d.partition, j.queue

-- name: broken_laws
-- Each violation with its law and its subject. `placed` are the states of recipes with a system, `mirrored` the usages of
-- their systems, in the same order, `unplaced` those of recipes that may claim a system.
WITH held AS MATERIALIZED (
    SELECT r.recipe_id, r.state, r.system, d.recipe_set_id, d.job_id, d.host_recipe_id,
           (%(mirrored)s::text[])[array_position(%(placed)s::text[], r.state)] AS usage
    FROM read.recipes r LEFT JOIN read.recipe_details d USING (recipe_id)
    WHERE r.since_position <= %(at)s AND r.until_position > %(at)s AND r.state = ANY (%(placed)s)
), used AS MATERIALIZED (
    SELECT fqdn, usage, recipe_id FROM read.system_usage WHERE since_position <= %(at)s AND until_position > %(at)s
), known AS MATERIALIZED (
    SELECT fqdn, reserved_by FROM read.systems WHERE since_position <= %(at)s AND until_position > %(at)s
), claimed AS MATERIALIZED (
    SELECT recipe_id, system FROM read.claims WHERE since_position <= %(at)s AND until_position > %(at)s
)
SELECT law, subject, what FROM (
    SELECT 'usage' AS law, 'recipe/' || h.recipe_id AS subject,
           format('it is %%s on %%s, which is %%s%%s', h.state, coalesce(h.system, 'no system'),
                  coalesce(u.usage, 'unknown'), ' with recipe/' || u.recipe_id) AS what
    FROM held h LEFT JOIN used u ON u.fqdn = h.system
    WHERE h.host_recipe_id IS NULL
      AND (u.recipe_id IS DISTINCT FROM h.recipe_id OR u.usage IS DISTINCT FROM h.usage)
  UNION ALL
    SELECT 'usage', 'system/' || u.fqdn,
           format('it is %%s with recipe/%%s, which does not hold it', u.usage, u.recipe_id)
    FROM used u
    WHERE u.recipe_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM held h WHERE h.recipe_id = u.recipe_id AND h.system = u.fqdn)
  UNION ALL
    SELECT 'systems', 'system/' || k.fqdn,
           CASE WHEN u.fqdn IS NULL THEN 'it has no usage'
                WHEN u.recipe_id IS NOT NULL
                THEN format('it is reserved by %%s and used by recipe/%%s', k.reserved_by, u.recipe_id)
                ELSE format('it is %%s without a recipe', u.usage) END
    FROM known k LEFT JOIN used u USING (fqdn)
    WHERE u.fqdn IS NULL
       OR (u.recipe_id IS NOT NULL AND k.reserved_by IS NOT NULL)
       OR (u.recipe_id IS NULL AND k.reserved_by IS NULL AND u.usage = ANY (%(mirrored)s))
  UNION ALL
    SELECT 'systems', 'system/' || u.fqdn, 'it has a usage, but is unknown'
    FROM used u WHERE NOT EXISTS (SELECT FROM known k WHERE k.fqdn = u.fqdn)
  UNION ALL
    SELECT 'orphans', 'recipe/' || h.recipe_id,
           CASE WHEN h.recipe_set_id IS NULL THEN 'nothing is known of its set and job'
                WHEN s.recipe_set_id IS NULL THEN format('its recipe-set/%%s is unknown', h.recipe_set_id)
                WHEN j.job_id IS NULL THEN format('its job/%%s is unknown', h.job_id)
                ELSE format('its system/%%s is unknown', h.system) END
    FROM held h
    LEFT JOIN read.recipe_sets s
      ON s.recipe_set_id = h.recipe_set_id AND s.since_position <= %(at)s AND s.until_position > %(at)s
    LEFT JOIN read.jobs j
      ON j.job_id = h.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
    LEFT JOIN known k ON k.fqdn = h.system
    WHERE s.recipe_set_id IS NULL OR j.job_id IS NULL OR k.fqdn IS NULL
  UNION ALL
    SELECT 'claims', 'recipe/' || c.recipe_id, format('it claims %%s, but is %%s', c.system, coalesce(r.state, 'unknown'))
    FROM claimed c
    LEFT JOIN read.recipes r
      ON r.recipe_id = c.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
    WHERE r.state IS NULL OR r.state <> ALL (%(unplaced)s::text[])
  UNION ALL
    SELECT 'claims', 'system/' || c.system,
           CASE WHEN k.fqdn IS NULL THEN 'it is claimed, but unknown'
                ELSE format('%%s recipes claim it', count(*)) END
    FROM claimed c LEFT JOIN known k ON k.fqdn = c.system
    GROUP BY c.system, k.fqdn HAVING k.fqdn IS NULL OR count(*) > 1
) AS broken ORDER BY law, subject
