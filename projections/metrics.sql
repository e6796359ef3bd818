-- Queries of the metrics. Each runs at every scrape; its cost depends on the present state, not on the history.

-- name: systems_by_usage
-- The projector maintains the counts, so that a scrape counts no rows. The usage of idle Automated systems that take
-- nothing new is the reason.
SELECT condition, coalesce(unavailable, usage) AS usage, open_count AS systems FROM read.system_counts
ORDER BY condition, usage

-- name: silent_labs
-- A disabled lab does not count as silent, because it gets no recipes anyway.
SELECT name AS lab_controller,
       ((document->>'enabled')::boolean AND coalesce((document->>'silent')::boolean, false))::integer AS silent
FROM read.documents WHERE kind = 'lab-controller' AND until_position = 9223372036854775807 ORDER BY name

-- name: recipes_by_state
-- The number of unfinished recipes by state.
SELECT state, open_count AS recipes FROM read.recipe_counts
WHERE state NOT IN ('completed', 'cancelled', 'aborted') ORDER BY state

-- name: locks_by_level
-- The number of resource locks that recipes hold and await. The projector maintains the counts.
SELECT level, state, open_count AS locks FROM read.lock_counts ORDER BY level, state

-- name: oldest_unplaced
-- The oldest recipe of each priority that has any: the first one, assigned or not, in the order of the queue of a
-- partition. The queue of a removed partition is empty.
SELECT ('{Low,Medium,Normal,High,Urgent}'::text[])[-minus_priority] AS priority,
       extract(epoch FROM clock_timestamp() - min(d.since))::double precision AS seconds
FROM (
    SELECT 1 AS partition
    UNION SELECT (document ->> 'number')::integer FROM read.documents
    WHERE kind = 'partition' AND until_position = 9223372036854775807 AND document ? 'number') AS existing
CROSS JOIN (VALUES (true), (false)) AS wanted (not_assigned) CROSS JOIN generate_series(-5, -1) AS minus_priority
CROSS JOIN LATERAL (
    SELECT recipe_id FROM read.queue
    WHERE until_position = 9223372036854775807 AND partition = existing.partition
      AND (NOT assigned) = not_assigned AND (-priority) = minus_priority
    ORDER BY submission, recipe_id LIMIT 1) AS first
JOIN read.recipe_details d USING (recipe_id) GROUP BY minus_priority ORDER BY minus_priority

-- name: durations
-- The number of recipes in each bucket, and their sum of seconds. `projections/durations.py` has the bounds of buckets,
-- and the labels.
SELECT measure, label, bucket, count, seconds FROM read.durations
WHERE until_position = 9223372036854775807 ORDER BY measure, label, bucket

-- name: projectors
-- The lag of each projector, in events, and as the age of the first event that is not projected.
SELECT name AS projector,
       greatest((SELECT coalesce(max(notification_id), 0) FROM log.events) - position, 0) AS events,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - recorded_at) FROM log.events
                 WHERE notification_id > position ORDER BY notification_id LIMIT 1), 0)::double precision AS seconds
FROM read.progress ORDER BY name

-- name: notifications_by_state
-- Notifications that are not sent. Both states together have few rows.
SELECT state, count(*) AS notifications FROM live.notifications WHERE state IN ('waiting', 'given-up') GROUP BY state ORDER BY state

-- name: ldap_sync_failed
-- Whether the last LDAP sync did not succeed; false a day after the last one was due, as then there is no LDAP any more.
SELECT (fault IS NOT NULL AND due_at > now() - interval '1 day')::integer AS failed FROM live.ldap_sync

-- name: ldap_sync_age
-- The time since the last LDAP sync that succeeded; 0 before the first one, and a day after the last one was due.
SELECT CASE WHEN due_at > now() - interval '1 day' AND isfinite(succeeded_at)
    THEN extract(epoch FROM now() - succeeded_at)::float8 ELSE 0 END AS seconds
FROM live.ldap_sync

-- name: counted
-- The counters of all processes, since the database was created. One row has all buckets of a histogram, by limit,
-- because a row for each would double the cost of reading.
SELECT name, labels - 'le' AS labels, jsonb_object_agg(coalesce(labels ->> 'le', ''), value) AS by_limit
FROM live.counters GROUP BY name, labels - 'le'

-- name: unplaced_by_reason
-- The unplaced recipes by current reason and priority, as last counted: no row if that is too long ago, and one of nulls
-- if there are no unplaced recipes.
SELECT counted.reason, counted.priority, counted.recipes
FROM live.slow_metrics LEFT JOIN LATERAL jsonb_to_recordset(counts) AS counted (reason text, priority text, recipes integer) ON true
WHERE counts_until > now() ORDER BY 1, 2

-- name: watchers
-- The watchers of live processes, which report every 2 seconds.
SELECT coalesce(sum(watchers), 0) AS watchers FROM live.counter_writers WHERE told_at > now() - interval '10 seconds'
