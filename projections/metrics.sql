-- What the metrics are made of: each query is asked at every scrape, and costs what there is now, not what there was.

-- name: systems_by_usage
-- The projector keeps the counts: at each scrape nobody counts systems or recipes.
SELECT condition, usage, open_count AS systems FROM read.system_counts ORDER BY condition, usage

-- name: silent_labs
-- A lab that is disabled gets no recipes whether it is heard or not.
SELECT name AS lab_controller,
       ((document->>'enabled')::boolean AND coalesce((document->>'silent')::boolean, false))::integer AS silent
FROM read.documents WHERE kind = 'lab-controller' AND until_position = 9223372036854775807 ORDER BY name

-- name: recipes_by_state
-- Of unfinished recipes, each state.
SELECT state, open_count AS recipes FROM read.recipe_counts
WHERE state NOT IN ('completed', 'cancelled', 'aborted') ORDER BY state

-- name: oldest_unplaced
-- The oldest is among the first of each priority, whether assigned or not, as the queue is ordered.
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(d.since)), 0)::double precision AS seconds
FROM (VALUES (true), (false)) AS wanted (not_assigned) CROSS JOIN generate_series(-5, -1) AS minus_priority
CROSS JOIN LATERAL (
    SELECT recipe_id FROM read.queue
    WHERE until_position = 9223372036854775807 AND (NOT assigned) = not_assigned AND (-priority) = minus_priority
    ORDER BY submission, recipe_id LIMIT 1) AS first
JOIN read.recipe_details d USING (recipe_id)

-- name: durations
-- How many recipes took so long, and their seconds together. `projections/durations.py` has the bounds of buckets.
SELECT measure, bucket, count, seconds FROM read.durations
WHERE until_position = 9223372036854775807 ORDER BY measure, bucket

-- name: projectors
-- How far behind the log each of them is, and how old the first event is that its read models do not show.
SELECT name AS projector,
       greatest((SELECT coalesce(max(notification_id), 0) FROM log.events) - position, 0) AS events,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - recorded_at) FROM log.events
                 WHERE notification_id > position ORDER BY notification_id LIMIT 1), 0)::double precision AS seconds
FROM read.progress ORDER BY name

-- name: counted
-- By all processes, since the database was made. The buckets of a histogram come together, by their limits: they are
-- most of the rows, and a row of each would cost the reader as much as all the rest.
SELECT name, labels - 'le' AS labels, jsonb_object_agg(coalesce(labels ->> 'le', ''), value) AS by_limit
FROM live.counters GROUP BY name, labels - 'le'

-- name: watchers
-- Of processes that live: each tells every 2 seconds.
SELECT coalesce(sum(watchers), 0) AS watchers FROM live.counter_writers WHERE told_at > now() - interval '10 seconds'
