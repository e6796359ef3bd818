-- Queries of the panels and variables of boards, over the functions of the schema `boards`. Grafana replaces its macros
-- and variables (`$…`). An empty list of a variable selects nothing, and is no error.

-- name: labs
SELECT DISTINCT lab FROM boards.systems() ORDER BY 1

-- name: pools
SELECT DISTINCT pool FROM boards.systems(), unnest(pools) AS pool ORDER BY 1

-- name: systems_by_lab
SELECT lab, count(*) AS systems,
       count(*) FILTER (WHERE usage IN ('scheduled', 'waiting', 'installing', 'running')) AS "in use",
       count(*) FILTER (WHERE usage = 'idle' AND condition = 'Automated') AS idle,
       count(*) FILTER (WHERE usage IN ('draining', 'occupied')) AS "draining or occupied",
       count(*) FILTER (WHERE usage = 'disabled') AS disabled,
       count(*) FILTER (WHERE condition = 'Broken') AS broken,
       count(*) FILTER (WHERE condition = 'Manual') AS manual
FROM boards.systems() WHERE condition <> 'Removed' GROUP BY lab ORDER BY lab

-- name: longest_waits
SELECT recipe_id AS recipe, job_id AS job, priority, state, coalesce(lab, '') AS lab,
       coalesce("group", owner) AS "group or owner", submitted, wait_seconds AS wait
FROM boards.unplaced() ORDER BY wait_seconds DESC, recipe_id LIMIT 50

-- name: unplaced_by_priority
SELECT "time", priority AS metric, recipes
FROM boards.unplaced_over_time($__timeFrom(), $__timeTo(), '$__interval') ORDER BY 1, 2

-- name: unplaced_by_group
SELECT coalesce("group", owner) AS "group or owner", count(*) AS recipes, max(wait_seconds) AS "longest wait"
FROM boards.unplaced() GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50

-- name: waits_by_group
SELECT coalesce("group", owner) AS "group or owner", count(*) AS recipes,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds) AS p90, max(seconds) AS longest
FROM boards.waits($__timeFrom(), $__timeTo()) GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 50

-- name: waits_by_pool
SELECT pool, count(*) AS recipes, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds) AS p90, max(seconds) AS longest
FROM boards.waits($__timeFrom(), $__timeTo()), unnest(pools) AS pool GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 50

-- name: share_in_use
SELECT "time", lab AS metric,
       coalesce(sum(systems) FILTER (WHERE usage IN ('scheduled', 'waiting', 'installing', 'running')), 0)
           ::double precision / nullif(sum(systems), 0) AS share
FROM boards.systems_over_time($__timeFrom(), $__timeTo(), '$__interval')
WHERE lab = ANY (ARRAY[$lab]::text[]) AND condition <> 'Removed' GROUP BY 1, 2 ORDER BY 1, 2

-- name: unavailable_over_time
SELECT "time", CASE WHEN condition = 'Automated' THEN usage ELSE condition END AS metric, sum(systems)::bigint AS systems
FROM boards.systems_over_time($__timeFrom(), $__timeTo(), '$__interval')
WHERE lab = ANY (ARRAY[$lab]::text[])
  AND (condition <> 'Automated' OR usage IN ('draining', 'occupied', 'disabled'))
GROUP BY 1, 2 ORDER BY 1, 2

-- name: time_line
-- The number of a state is its place in `STATES` of `machines.py`.
SELECT since AS "time", system AS metric,
       array_position(
           '{idle,pending,scheduled,waiting,installing,running,draining,occupied,disabled,Manual,Broken,Removed}'
               ::text[],
           CASE WHEN condition = 'Automated' THEN usage ELSE condition END) AS state
FROM boards.usage($__timeFrom(), $__timeTo())
WHERE system IN (
    SELECT system FROM boards.systems()
    WHERE lab = ANY (ARRAY[$lab]::text[]) AND pools && ARRAY[$pool]::text[] ORDER BY system LIMIT 40)
ORDER BY 1, 2

-- name: time_by_pool
SELECT pool, sum(seconds) AS seconds,
       coalesce(sum(seconds) FILTER (WHERE usage IN ('scheduled', 'waiting', 'installing', 'running')), 0)
           / nullif(sum(seconds), 0) AS "in use",
       coalesce(sum(seconds) FILTER (WHERE usage IN ('draining', 'occupied', 'disabled')), 0)
           / nullif(sum(seconds), 0) AS unavailable,
       coalesce(sum(seconds) FILTER (WHERE condition = 'Broken'), 0) / nullif(sum(seconds), 0) AS broken
FROM boards.usage($__timeFrom(), $__timeTo()), unnest(pools) AS pool
WHERE lab = ANY (ARRAY[$lab]::text[]) AND pool = ANY (ARRAY[$pool]::text[]) AND condition <> 'Removed'
GROUP BY 1 ORDER BY 1

-- name: time_by_group
SELECT coalesce("group", owner) AS "group or owner", sum(seconds) AS seconds
FROM boards.usage($__timeFrom(), $__timeTo())
WHERE lab = ANY (ARRAY[$lab]::text[]) AND pools && ARRAY[$pool]::text[] AND owner IS NOT NULL
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50

-- name: unavailable
SELECT system, lab, condition, usage, draining, coalesce(reserved_by, '') AS "reserved by", since
FROM boards.systems()
WHERE lab = ANY (ARRAY[$lab]::text[]) AND pools && ARRAY[$pool]::text[]
  AND (condition IN ('Broken', 'Manual') OR draining OR usage IN ('occupied', 'disabled'))
ORDER BY since, system

-- name: provisionings
SELECT $__timeGroupAlias(at, $__interval), CASE WHEN failed THEN 'failed' ELSE 'started' END AS metric,
       count(*) AS recipes
FROM boards.provisionings($__timeFrom(), $__timeTo())
WHERE lab = ANY (ARRAY[$lab]::text[]) GROUP BY 1, 2 ORDER BY 1, 2

-- name: failures_by_lab
SELECT $__timeGroupAlias(at, $__interval), lab AS metric, count(*) AS failures
FROM boards.provisionings($__timeFrom(), $__timeTo())
WHERE failed AND lab = ANY (ARRAY[$lab]::text[]) GROUP BY 1, 2 ORDER BY 1, 2

-- name: provisionings_by_system
SELECT system, lab, count(*) AS provisionings, count(*) FILTER (WHERE failed) AS failures,
       avg(failed::integer)::double precision AS share,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE NOT failed) AS p95
FROM boards.provisionings($__timeFrom(), $__timeTo())
WHERE lab = ANY (ARRAY[$lab]::text[]) GROUP BY 1, 2 ORDER BY 4 DESC, 6 DESC NULLS LAST, 1 LIMIT 50

-- name: under_way
SELECT system, lab, usage, recipe_id AS recipe, since FROM boards.systems()
WHERE usage IN ('waiting', 'installing') AND lab = ANY (ARRAY[$lab]::text[]) ORDER BY since, system LIMIT 100

-- name: last_failures
SELECT at, recipe_id AS recipe, system, lab, stage, coalesce(reason, '') AS reason, seconds
FROM boards.provisionings($__timeFrom(), $__timeTo())
WHERE failed AND lab = ANY (ARRAY[$lab]::text[]) ORDER BY at DESC, recipe_id DESC LIMIT 100
