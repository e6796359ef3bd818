-- The waits of recipes: histograms, and the waits that an estimate compares.

-- name: wait_of_recipe
-- The wait of an unstarted recipe, null columns once it has started or ended. A guest waits as its host does.
SELECT d.recipe_id AS waiting_id, d.partition, w.priority, w.requirement, w.arch, w.began, w.ahead, r.state, r.awaits_locks
FROM read.recipe_details asked
JOIN read.recipe_details d ON d.recipe_id = coalesce(asked.host_recipe_id, asked.recipe_id)
JOIN read.recipes r ON r.recipe_id = asked.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
LEFT JOIN read.waits w ON w.recipe_id = d.recipe_id AND w.since_position <= %(at)s AND w.until_position > %(at)s
WHERE asked.recipe_id = %(recipe_id)s AND asked.since_position <= %(at)s

-- name: arches_of_waits
-- The architectures that requirements of some partitions ever named, found by the index without reading all waits.
WITH RECURSIVE found (partition, arch) AS (
    SELECT wanted.partition, (SELECT min(arch) FROM read.waits WHERE partition = wanted.partition)
    FROM unnest(%(partitions)s::integer[]) AS wanted (partition)
    UNION ALL
    SELECT f.partition, (SELECT min(arch) FROM read.waits WHERE partition = f.partition AND arch > f.arch)
    FROM found f WHERE f.arch IS NOT NULL
)
SELECT DISTINCT arch FROM found WHERE arch IS NOT NULL ORDER BY arch

-- name: waiting_ahead
-- For each of these partitions, architectures and priorities, the number of waiting recipes with at least this priority.
SELECT sum(n.waiting)::integer AS ahead
FROM unnest(%(partitions)s::integer[], %(arches)s::text[], %(priorities)s::smallint[])
    WITH ORDINALITY AS k (partition, arch, priority, number)
CROSS JOIN LATERAL generate_series(k.priority, 5) AS p (priority)
-- A join by the priority would be planned as one search of all priorities, which reads waits that ended long ago.
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM read.waits w
    WHERE w.partition = k.partition AND w.arch = k.arch AND w.priority = p.priority
        AND w.until_position > %(at)s AND w.since_position <= %(at)s
) AS n
GROUP BY k.number ORDER BY k.number

-- name: longest_waits
-- The requirements of unstarted recipes, those first of which a recipe waits longest: that recipe, the begin of its wait,
-- and the number of recipes, each of which needs a system.
SELECT w.requirement, count(*)::integer AS recipes, min(w.began) AS since,
       (array_agg(w.recipe_id ORDER BY w.began, w.recipe_id))[1] AS recipe_id
FROM unnest(%(partitions)s::integer[]) AS n (partition)
CROSS JOIN unnest(%(arches)s::text[]) AS a (arch) CROSS JOIN generate_series(1, 5) AS p (priority)
CROSS JOIN LATERAL (
    SELECT recipe_id, requirement, began FROM read.waits
    WHERE partition = n.partition AND arch = a.arch AND priority = p.priority
      AND until_position > %(at)s AND since_position <= %(at)s) AS w
GROUP BY w.requirement ORDER BY min(w.began), w.requirement LIMIT %(limit)s

-- name: waits_of_recipes
-- The waits of those of these recipes that have one at a position.
SELECT recipe_id, partition, priority, requirement, arch, began, ahead FROM read.waits
WHERE recipe_id = ANY (%(recipe_ids)s::integer[]) AND since_position <= %(at)s AND until_position > %(at)s

-- name: comparable_waits
-- The last ended waits of kinds of recipes up to a position, and those that still last there, in seconds per place
-- (`domain.estimates.estimate`). A kind is a partition with a requirement, or else an architecture, and a priority; null
-- stands for any. If more waits of a kind have ended than `limit`, the compared time begins with the first of the last
-- ones, and a wait counts from there. Waits that still last are grouped by their lengths, which within a group differ by
-- 6 %% at most. `kind` is the number of the kind, from 1.
WITH RECURSIVE named (partition, arch) AS (
    -- The architectures of the kinds that have any, as in `arches_of_waits`. They are no parameter as in `waits_by`,
    -- because most reads search no such kind.
    SELECT wide.partition, (SELECT min(arch) FROM read.waits WHERE partition = wide.partition) FROM (
        SELECT DISTINCT partition FROM unnest(%(partitions)s::integer[], %(requirements)s::text[], %(arches)s::text[])
            AS k (partition, requirement, arch) WHERE requirement IS NULL AND arch IS NULL) AS wide
    UNION ALL
    SELECT n.partition, (SELECT min(arch) FROM read.waits WHERE partition = n.partition AND arch > n.arch)
    FROM named n WHERE n.arch IS NOT NULL
)
SELECT k.kind, waits.* FROM unnest(%(partitions)s::integer[], %(requirements)s::text[], %(arches)s::text[], %(priorities)s::smallint[])
    WITH ORDINALITY AS k (partition, requirement, arch, priority, kind)
CROSS JOIN LATERAL (
    WITH searched AS MATERIALIZED (
        SELECT k.requirement, a.arch, p.priority FROM (
            SELECT k.arch WHERE k.requirement IS NOT NULL OR k.arch IS NOT NULL
            UNION ALL
            SELECT n.arch FROM named n
            WHERE k.requirement IS NULL AND k.arch IS NULL AND n.partition = k.partition AND n.arch IS NOT NULL
        ) AS a (arch), generate_series(coalesce(k.priority, 1), coalesce(k.priority, 5)) AS p (priority)
    ), ended AS MATERIALIZED (
        SELECT w.* FROM searched s CROSS JOIN LATERAL (
            (SELECT recipe_id, began, since, until, until_position, ahead FROM read.waits
             WHERE partition = k.partition AND k.requirement IS NOT NULL AND requirement = s.requirement
               AND priority = s.priority AND until_position <= %(at)s AND recipe_id IS DISTINCT FROM %(recipe_id)s::integer
             ORDER BY until_position DESC LIMIT %(limit)s)
            UNION ALL
            (SELECT recipe_id, began, since, until, until_position, ahead FROM read.waits
             WHERE partition = k.partition AND k.requirement IS NULL AND arch = s.arch AND priority = s.priority
               AND until_position <= %(at)s AND recipe_id IS DISTINCT FROM %(recipe_id)s::integer
             ORDER BY until_position DESC LIMIT %(limit)s)) AS w
        ORDER BY w.until_position DESC LIMIT %(limit)s
    ), compared AS MATERIALIZED (
        SELECT CASE WHEN count(*) = %(limit)s THEN min(until) ELSE '-infinity' END AS since FROM ended
    ), observed AS (
        SELECT e.*, CASE WHEN r.state IN ('completed', 'cancelled', 'aborted') THEN 'ended'
                         WHEN r.state IS NOT NULL THEN 'started' END AS outcome
        FROM ended e
        -- Without a state at that position, the priority or requirement changed, and the wait goes on.
        LEFT JOIN LATERAL (
            SELECT state FROM read.recipes
            WHERE recipe_id = e.recipe_id AND since_position = e.until_position OFFSET 0) AS r ON true
    ), waiting AS (
        SELECT greatest(w.began, compared.since) AS since,
               date_part('epoch', greatest(w.since, compared.since) - w.began) / (w.ahead + 1) AS begin,
               date_part('epoch', %(moment)s::timestamptz - w.began) / (w.ahead + 1) AS end
        FROM searched s CROSS JOIN LATERAL (
            SELECT recipe_id, began, since, ahead FROM read.waits
            WHERE partition = k.partition AND k.requirement IS NOT NULL AND requirement = s.requirement
              AND priority = s.priority AND until_position > %(at)s AND since_position <= %(at)s
            UNION ALL
            SELECT recipe_id, began, since, ahead FROM read.waits
            WHERE partition = k.partition AND k.requirement IS NULL AND arch = s.arch AND priority = s.priority
              AND until_position > %(at)s AND since_position <= %(at)s) AS w
        CROSS JOIN compared
        -- OFFSET 0 makes the planner compute each length once.
        WHERE w.recipe_id IS DISTINCT FROM %(recipe_id)s::integer OFFSET 0
    )
    SELECT date_part('epoch', greatest(o.since, c.since) - o.began) / (o.ahead + 1) AS begin,
           date_part('epoch', o.until - o.began) / (o.ahead + 1) AS end,
           o.outcome, 1 AS recipes, greatest(o.began, c.since) AS since
    FROM observed o CROSS JOIN compared c WHERE o.until > c.since
    UNION ALL
    SELECT (min(w.begin) + max(w.begin)) / 2, (min(w.end) + max(w.end)) / 2, 'waits', count(*)::integer, min(w.since)
    FROM waiting w GROUP BY floor(16 * ln(w.begin + 1)), floor(16 * ln(greatest(w.end, 0) + 1))
) AS waits
ORDER BY 1, 3, 2, 4, 6

-- name: sampled_starts
-- A sample of the waits that ended with a start after one position and up to another one, each as it was when it began.
-- It is taken from the last `newest` ends of each partition, architecture and priority.
SELECT s.recipe_id, s.seconds, f.partition, f.priority, f.requirement, f.arch, f.began, f.ahead, f.since_position
FROM (
    SELECT w.recipe_id, w.began, date_part('epoch', w.until - w.began) AS seconds
    FROM unnest(%(partitions)s::integer[]) AS n (partition)
    CROSS JOIN unnest(%(arches)s::text[]) AS a (arch) CROSS JOIN generate_series(1, 5) AS p (priority)
    CROSS JOIN LATERAL (
        SELECT recipe_id, began, until, until_position FROM read.waits
        WHERE partition = n.partition AND arch = a.arch AND priority = p.priority
          AND until_position > %(after)s AND until_position <= %(at)s
        ORDER BY until_position DESC LIMIT %(newest)s) AS w
    JOIN read.recipes r ON r.recipe_id = w.recipe_id AND r.since_position = w.until_position
     AND r.state NOT IN ('completed', 'cancelled', 'aborted')
    ORDER BY md5(w.recipe_id::text) LIMIT %(sample)s) AS s
CROSS JOIN LATERAL (
    SELECT partition, priority, requirement, arch, began, ahead, since_position FROM read.waits
    WHERE recipe_id = s.recipe_id AND began = s.began ORDER BY since_position LIMIT 1) AS f
ORDER BY s.recipe_id

-- name: waits_by
-- Waits that ended with a start in a time span, by a property: their number, sum and quantiles, and the number in each
-- bucket of `bounds`, which are inclusive. Pools are those of the system at the start; `hidden` systems do not count
-- there. Properties with most recipes come first; the page begins after one of them.
WITH span AS MATERIALIZED (
    SELECT coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(since)s::timestamptz
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS first,
           coalesce((SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
                     ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS last
), started AS MATERIALIZED (
    SELECT w.*, r.system FROM span
    CROSS JOIN unnest(%(partitions)s::integer[]) AS n (partition)
    CROSS JOIN unnest(%(arches)s::text[]) AS a (arch) CROSS JOIN generate_series(1, 5) AS p (priority)
    CROSS JOIN LATERAL (
        SELECT * FROM read.waits
        WHERE partition = n.partition AND arch = a.arch AND priority = p.priority
          AND until_position > span.first AND until_position <= least(span.last, %(at)s)) AS w
    JOIN read.recipes r ON r.recipe_id = w.recipe_id AND r.since_position = w.until_position
     AND r.state NOT IN ('completed', 'cancelled', 'aborted')
), keyed AS MATERIALIZED (
    SELECT coalesce(g.key, '') AS key, w.recipe_id, w.until - w.began AS wait,
           cardinality(%(bounds)s::double precision[]) - width_bucket(
               -extract(epoch FROM w.until - w.began)::double precision,
               ARRAY (SELECT -b FROM unnest(%(bounds)s::double precision[]) AS b ORDER BY 1)) AS bucket
    FROM started w CROSS JOIN LATERAL (
        SELECT w.priority::text AS key WHERE %(by)s = 'priority'
        UNION ALL SELECT w.group_name WHERE %(by)s = 'group'
        UNION ALL SELECT w.requirement WHERE %(by)s = 'requirement'
        UNION ALL
        SELECT pool.name FROM read.systems s
        LEFT JOIN LATERAL jsonb_array_elements_text(s.pools) AS pool (name) ON true
        WHERE %(by)s = 'pool' AND s.fqdn = w.system
          AND s.since_position <= w.until_position AND s.until_position > w.until_position
          AND (%(hidden)s::text[] IS NULL OR s.fqdn NOT IN (SELECT unnest(%(hidden)s::text[])))) AS g
), page AS (
    SELECT key, count(*) AS recipes, date_part('epoch', sum(wait)) AS seconds, max(recipe_id) AS example,
           date_part('epoch', percentile_disc(0.5) WITHIN GROUP (ORDER BY wait)) AS p50,
           date_part('epoch', percentile_disc(0.9) WITHIN GROUP (ORDER BY wait)) AS p90
    FROM keyed GROUP BY key
    HAVING (-count(*), key COLLATE "C") > (%(minus_recipes)s, %(key)s)
    ORDER BY 2 DESC, key COLLATE "C" LIMIT %(limit)s
), buckets AS (
    SELECT key, jsonb_object_agg(bucket, recipes) AS buckets FROM (
        SELECT keyed.key, bucket, count(*) AS recipes FROM page JOIN keyed USING (key) GROUP BY keyed.key, bucket) AS b
    GROUP BY key
)
SELECT page.*, buckets.buckets FROM page JOIN buckets USING (key) ORDER BY page.recipes DESC, page.key COLLATE "C"
