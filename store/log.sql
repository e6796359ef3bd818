-- name: append
-- Append, and count the bytes of each author in the same transaction. The lock of log.append serialises the upserts,
-- too. `APPENDS` (sql.py) inserts the parts below and omits unused ones, because each would cost a tenth of the append
-- even without rows.
WITH done AS MATERIALIZED (
    SELECT * FROM log.append(
        %b::text[], %b::text[], %b::bigint[], %b::bytea[], %b::bytea[],
        %b::integer[], %b::text[], %b::bigint[], %b::integer[],
        %b::integer[], %b::text[], %b::bigint[], %b::text[], %b::bytea[])
    WITH ORDINALITY AS d (outcome, first_position, last_position, recorded_at, digest, answer, preceding, request)
), WRITTENPARTS
SELECT d.outcome, d.first_position, d.last_position, d.recorded_at, d.digest, d.answer, d.preceding, BYTES, UNFINISHED
FROM done d ORDER BY d.request

-- name: written_by_one
-- Count for the author of one request.
written AS (
    INSERT INTO live.written AS w (actor, day, events, bytes)
    SELECT a.actor, (d.recorded_at AT TIME ZONE 'UTC')::date, a.events, a.bytes
    FROM done d, (SELECT %b::text AS actor, %b::bigint AS events, %b::bigint AS bytes) AS a
    WHERE d.outcome = 'done' AND a.actor IS NOT NULL
    ON CONFLICT (day, actor) DO UPDATE SET events = w.events + excluded.events, bytes = w.bytes + excluded.bytes
    RETURNING w.bytes
)

-- name: bytes_of_one
(SELECT w.bytes FROM written w)

-- name: written_by_many
-- Count for the authors of several requests.
author AS MATERIALIZED (
    SELECT d.request, a.actor, (d.recorded_at AT TIME ZONE 'UTC')::date AS day, a.events, a.bytes
    FROM unnest(%b::text[], %b::bigint[], %b::bigint[]) WITH ORDINALITY AS a (actor, events, bytes, request)
    JOIN done d USING (request) WHERE d.outcome = 'done' AND a.actor IS NOT NULL
), written AS (
    INSERT INTO live.written AS w (actor, day, events, bytes)
    SELECT a.actor, a.day, sum(a.events), sum(a.bytes) FROM author a GROUP BY a.actor, a.day
    ON CONFLICT (day, actor) DO UPDATE SET events = w.events + excluded.events, bytes = w.bytes + excluded.bytes
    RETURNING w.actor, w.bytes
)

-- name: bytes_of_many
(SELECT w.bytes FROM written w JOIN author a USING (actor) WHERE a.request = d.request)

-- name: append_recipes
-- Count unfinished recipes for requests that begin or finish recipes. The owner of a finished recipe is in its first
-- event, which the writer has read before. It is read once, because that event is long.
, new AS MATERIALIZED (
    SELECT n.request, n.owner, n.recipes
    FROM unnest(%b::integer[], %b::text[], %b::bigint[]) AS n (request, owner, recipes)
    JOIN done d USING (request) WHERE d.outcome = 'done'
), finished AS MATERIALIZED (
    SELECT (SELECT convert_from(e.state, 'UTF8')::jsonb #>> '{data,owner}' FROM log.events e
            WHERE e.originator_id = f.subject AND e.originator_version = 1) AS owner
    FROM unnest(%b::integer[], %b::text[]) AS f (request, subject)
    JOIN done d USING (request) WHERE d.outcome = 'done'
), unfinished AS (
    INSERT INTO live.unfinished AS u (owner, recipes)
    SELECT c.owner, sum(c.recipes)
    FROM (SELECT owner, recipes FROM new UNION ALL SELECT owner, -1 FROM finished) AS c
    WHERE c.owner IS NOT NULL GROUP BY c.owner
    ON CONFLICT (owner) DO UPDATE SET recipes = u.recipes + excluded.recipes
    RETURNING u.owner, u.recipes
)

-- name: unfinished_after
(SELECT max(u.recipes) FROM unfinished u JOIN new n USING (owner) WHERE n.request = d.request)

-- name: append_originals
, originals AS (
    INSERT INTO log.originals (sha256, content)
    SELECT o.sha256, o.content
    FROM unnest(%b::integer[], %b::bytea[], %b::bytea[]) AS o (request, sha256, content)
    JOIN done d USING (request) WHERE d.outcome = 'done'
    ON CONFLICT DO NOTHING
)

-- name: append_power
-- Store the power settings of systems, or delete those without a type.
, new_power AS MATERIALIZED (
    SELECT n.system, n.type, n.address, n.port, n.user_name, n.secret
    FROM unnest(%b::integer[], %b::text[], %b::text[], %b::text[], %b::text[], %b::text[], %b::text[])
        AS n (request, system, type, address, port, user_name, secret)
    JOIN done d USING (request) WHERE d.outcome = 'done'
), power AS (
    INSERT INTO secret.power_settings AS p (system, type, address, port, user_name, secret)
    SELECT n.* FROM new_power n WHERE n.type IS NOT NULL
    ON CONFLICT (system) DO UPDATE SET type = excluded.type, address = excluded.address, port = excluded.port,
        user_name = excluded.user_name, secret = excluded.secret
), unset_power AS (
    DELETE FROM secret.power_settings p
    WHERE p.system = ANY (ARRAY(SELECT n.system FROM new_power n WHERE n.type IS NULL))
)

-- name: append_addresses
, addresses AS (
    INSERT INTO live.addresses (command_id, recorded_at, address)
    SELECT a.command_id, d.recorded_at, a.address
    FROM unnest(%b::integer[], %b::text[], %b::text[]) AS a (request, command_id, address)
    JOIN done d USING (request) WHERE d.outcome = 'done'
)

-- name: original
SELECT content FROM log.originals WHERE sha256 = %s

-- name: written
SELECT day, actor, events, bytes FROM live.written
WHERE day >= %(since)s AND (%(actor)s::text IS NULL OR actor = %(actor)s)
ORDER BY day DESC, bytes DESC, actor LIMIT %(limit)s

-- name: unfinished_of
SELECT recipes FROM live.unfinished WHERE owner = %s

-- name: load
-- The events of many aggregates, each after a version, in version order. OFFSET 0 makes the planner use the index for
-- each aggregate instead of a scan of the whole log.
SELECT e.notification_id, e.commit_end, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state, e.partition
FROM unnest(%s::text[], %s::bigint[]) AS wanted (subject, after)
CROSS JOIN LATERAL (
    SELECT * FROM log.events AS e
    WHERE e.originator_id = wanted.subject AND e.originator_version > wanted.after OFFSET 0
) AS e
ORDER BY e.originator_id, e.originator_version

-- name: existing
SELECT originator_id FROM log.events WHERE originator_id = ANY (%s::text[]) AND originator_version = 1

-- name: first_partitions
SELECT wanted.subject, e.partition
FROM unnest(%s::text[]) AS wanted (subject)
CROSS JOIN LATERAL (
    SELECT partition FROM log.events
    WHERE originator_id = wanted.subject AND originator_version = 1 AND wanted.subject NOT LIKE 'command/%%'
    UNION ALL
    SELECT partition FROM log.events WHERE notification_id =
        CASE WHEN wanted.subject LIKE 'command/%%' THEN substring(wanted.subject FROM 9)::bigint END
    LIMIT 1
) AS e

-- name: page
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id > %(after)s ORDER BY notification_id LIMIT %(limit)s

-- name: page_of
-- One partition at a time, so that the events of other partitions are not even read.
SELECT e.notification_id, e.commit_end, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state,
       e.partition
FROM unnest(%(partitions)s::integer[]) AS wanted (partition)
CROSS JOIN LATERAL (
    SELECT * FROM log.events AS e
    WHERE (e.partition, e.notification_id) > (wanted.partition, %(after)s::bigint)
      AND e.partition <= wanted.partition
    ORDER BY e.partition, e.notification_id LIMIT %(limit)s
) AS e
ORDER BY e.notification_id LIMIT %(limit)s

-- name: all_but
-- In the order of positions without a sort, since a caller may read the whole log; so the rows of other partitions are
-- read, but not returned.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id > %(after)s AND notification_id <= %(upto)s
  AND topic <> ALL (%(excluded_topics)s::text[])
  AND (%(partitions)s::integer[] IS NULL OR partition = ANY (%(partitions)s::integer[]))
ORDER BY notification_id

-- name: moments
SELECT notification_id, recorded_at FROM log.events WHERE notification_id = ANY (%s::bigint[])

-- name: rest_of_commit
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id > %s AND notification_id <= %s ORDER BY notification_id

-- name: at_positions
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id = ANY (%s::bigint[]) ORDER BY notification_id

-- name: directory
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE topic = ANY (%s::text[]) AND notification_id <= %s
ORDER BY notification_id

-- name: has_room
SELECT live.has_room()

-- name: end
SELECT coalesce(max(notification_id), 0) FROM log.events

-- name: end_of
-- The last position that a partition reads: of its own events, or of those of all partitions.
SELECT max(log.last_before(9223372036854775807, wanted.partition)) FROM unnest(%s::integer[]) AS wanted (partition)

-- name: all_between
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id > %(after)s AND notification_id <= %(upto)s
  AND topic <> ALL (%(hidden)s::text[])
ORDER BY notification_id ASC LIMIT %(limit)s

-- name: of_partition
-- All events of one partition, by its index, or those with one of the topics or subjects.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events
WHERE (partition, notification_id) > (%(partition)s::integer, %(after)s::bigint)
  AND (partition, notification_id) <= (%(partition)s::integer, %(upto)s::bigint)
  AND (%(everything)s OR topic = ANY (%(topics)s::text[]) OR originator_id = ANY (%(subjects)s::text[]))
  AND topic <> ALL (%(hidden)s::text[])
ORDER BY partition ASC, notification_id ASC LIMIT %(limit)s

-- name: selected
-- One topic or subject at a time, so that a rare one does not scan the log for its next row. The comparisons of whole
-- rows force the intended index, because the planner cannot know which topics are rare.
SELECT e.notification_id, e.commit_end, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state, e.partition
FROM (
    SELECT found.* FROM unnest(%(topics)s::text[]) AS wanted (topic)
    CROSS JOIN LATERAL (
        SELECT * FROM log.events AS e
        WHERE (e.topic, e.notification_id) > (wanted.topic, %(after)s::bigint)
          AND (e.topic, e.notification_id) <= (wanted.topic, %(upto)s::bigint)
          AND (%(partition)s::integer IS NULL OR e.partition = %(partition)s::integer)
        ORDER BY e.topic ASC, e.notification_id ASC LIMIT %(limit)s
    ) AS found
    UNION ALL
    SELECT found.* FROM unnest(%(subjects)s::text[]) AS wanted (subject)
    CROSS JOIN LATERAL (
        SELECT * FROM log.events AS e
        WHERE (e.originator_id, e.originator_version) > (wanted.subject, log.version_at(wanted.subject, %(after)s))
          AND (e.originator_id, e.originator_version) <= (wanted.subject, log.version_at(wanted.subject, %(upto)s))
          AND (%(of_subject)s::text[] IS NULL OR e.topic = ANY (%(of_subject)s::text[]))
          AND (%(partition)s::integer IS NULL OR e.partition = %(partition)s::integer)
          AND e.topic <> ALL (%(hidden)s::text[])
        ORDER BY e.originator_id ASC, e.originator_version ASC LIMIT %(limit)s
    ) AS found
) AS e
ORDER BY e.notification_id ASC LIMIT %(limit)s

-- name: of_actor
-- The rows of another query by one actor, from the parts of the log in which the actor has events, one part at a time
-- until there are enough. The read models hold these parts up to their position; later parts are read in any case. The
-- number of positions of a part, PART_POSITIONS, is that of `postgres/log_parts.py`.
-- Unseen rows are left out here, so that nothing depends on them, not even the end of a page.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM (
    SELECT part FROM read.actor_parts
    WHERE actor = %(actor)s
      AND part >= (%(after)s::bigint + 1) / PART_POSITIONS AND part <= %(upto)s::bigint / PART_POSITIONS
      AND part < (SELECT position / PART_POSITIONS FROM read.progress WHERE name = 'all')
    UNION ALL
    SELECT later.part
    FROM generate_series(
        (SELECT greatest(position, %(after)s::bigint + 1) / PART_POSITIONS FROM read.progress WHERE name = 'all'),
        %(upto)s::bigint / PART_POSITIONS) AS later (part)
    ORDER BY part ASC
) AS wanted_part
CROSS JOIN LATERAL (
    SELECT * FROM (QUERY) AS of_all
    WHERE convert_from(of_all.state, 'UTF8')::json ->> 'actor' = %(actor)s
      AND of_all.originator_id NOT IN (SELECT unnest(%(unseen)s::text[]))
      AND (of_all.topic <> ALL (%(pool_system_topics)s::text[])
           OR 'system/' || (convert_from(of_all.state, 'UTF8')::json #>> '{data,system}')
              NOT IN (SELECT unnest(%(unseen)s::text[])))
) AS found
ORDER BY wanted_part.part ASC, found.notification_id ASC LIMIT %(limit)s

-- name: bounded
-- The first rows of a query up to a number of bytes, at least one row.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM (
    SELECT inside.*, sum(length(state)) OVER (ORDER BY notification_id ASC ROWS UNBOUNDED PRECEDING) - length(state)
        AS bytes_before
    FROM (QUERY) AS inside
) AS measured
WHERE bytes_before < %(bytes)s ORDER BY notification_id ASC

-- name: span
-- The last position before each of two moments, null for a moment that is null.
SELECT (SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(since)s::timestamptz
        ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1) AS since,
       (SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
        ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1) AS until

-- name: naming
-- The events between two positions whose stored form contains some bytes. Without an index, so the span must be short.
SELECT notification_id, commit_end, recorded_at, originator_id, originator_version, topic, state, partition
FROM log.events WHERE notification_id > %(after)s AND notification_id <= %(upto)s
  AND position(%(text)s::bytea IN state) > 0
ORDER BY notification_id LIMIT %(limit)s

-- name: take_ids
SELECT ARRAY(SELECT nextval('log.job_ids') FROM generate_series(1, %s)),
       ARRAY(SELECT nextval('log.recipe_set_ids') FROM generate_series(1, %s)),
       ARRAY(SELECT nextval('log.recipe_ids') FROM generate_series(1, %s)),
       ARRAY(SELECT nextval('log.task_ids') FROM generate_series(1, %s))

-- name: take_partition_number
SELECT nextval('log.partition_numbers')

-- name: last_job_id
-- The last job id given out, also if no job has it; null before the first.
SELECT last_value FROM pg_catalog.pg_sequences WHERE schemaname = 'log' AND sequencename = 'job_ids'

-- name: commits_of
SELECT command_id, first_position, last_position, recorded_at, digest, answer
FROM log.commits WHERE command_id = ANY (%s::text[])

-- name: take_lease
SELECT live.take_lease(%s, %s, %s)

-- name: renew_lease
UPDATE live.leases SET renewed_at = clock_timestamp() WHERE name = %s AND epoch = %s RETURNING true

-- name: end_hung_holder
SELECT live.end_hung_holder(%s)

-- name: end_hung_writers
SELECT live.end_hung_writers()

-- name: heard
-- The latest contact counts, even if its time is earlier because the clock was set back.
INSERT INTO live.contacts (lab_controller, last_heard_at) VALUES (%s, clock_timestamp())
ON CONFLICT (lab_controller) DO UPDATE SET last_heard_at = excluded.last_heard_at
RETURNING last_heard_at

-- name: last_heard
-- At least one row, for the time.
SELECT clock_timestamp(), c.lab_controller, c.last_heard_at
FROM (SELECT) AS one LEFT JOIN live.contacts AS c ON true

-- name: note_registration
SELECT replaced_by, named_twice FROM live.note_registration(%s, %s, %s, %s, %s, %s)

-- name: registered_running
-- At least one row for a present registration.
SELECT r.fqdn, r.recipe_id
FROM live.registrations p LEFT JOIN live.registered_running r USING (lab_controller)
WHERE p.lab_controller = %s AND p.instance = %s

-- name: existing_partitions
-- The number and name of each partition, without `default`, which needs no creation.
SELECT (convert_from(c.state, 'UTF8')::jsonb #>> '{data,number}')::integer, substr(c.originator_id, length('partition/') + 1) AS name
FROM log.events c
WHERE c.topic = 'partition.created' AND NOT EXISTS (
    SELECT FROM log.events r
    WHERE r.originator_id = c.originator_id AND r.originator_version > c.originator_version
      AND r.topic = 'partition.removed')
ORDER BY name

-- name: add_to_counters
-- Add one batch of a writer; a repetition changes nothing. The order of the rows avoids deadlocks between writers.
-- Writers without a batch for a day are deleted.
WITH gone AS (
    DELETE FROM live.counter_writers WHERE writer IN (
        SELECT writer FROM live.counter_writers WHERE told_at < now() - interval '1 day' AND writer <> %(writer)s
        FOR UPDATE SKIP LOCKED)
), told AS (
    INSERT INTO live.counter_writers AS w (writer, batch, watchers, held_back, partition)
    VALUES (%(writer)s, %(batch)s, %(watchers)s, %(held_back)s::jsonb, %(partition)s::integer)
    ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, watchers = excluded.watchers,
            held_back = excluded.held_back, told_at = now()
        WHERE w.batch < excluded.batch
    RETURNING writer
)
INSERT INTO live.counters AS c (name, labels, value)
SELECT news.name, news.labels::jsonb, news.value
FROM unnest(%(names)s::text[], %(labels)s::text[], %(values)s::double precision[]) AS news (name, labels, value)
WHERE EXISTS (SELECT FROM told)
ORDER BY news.name, news.labels
ON CONFLICT (name, labels) DO UPDATE SET value = c.value + excluded.value
RETURNING name

-- name: take_turn_of_slow_metrics
-- Take the turn if it is due; return the position up to which estimates have been judged. Another process takes it only
-- if the last one has missed its turn for a minute, so that the explaining processes of one serving process suffice.
UPDATE live.slow_metrics SET holder = %(holder)s, next_at = now() + interval '1 minute'
WHERE next_at <= now() - CASE WHEN holder = %(holder)s THEN interval '0' ELSE interval '1 minute' END
RETURNING judged_position

-- name: save_judged_position
UPDATE live.slow_metrics SET judged_position = %(position)s WHERE holder = %(holder)s RETURNING holder

-- name: save_counts_of_reasons
-- The next turn is after some seconds; the counts are exposed until a minute after two such turns were missed.
UPDATE live.slow_metrics SET counts = %(counts)s::jsonb, next_at = now() + make_interval(secs => %(seconds)s),
    counts_until = now() + make_interval(secs => 2 * %(seconds)s + 60)
WHERE holder = %(holder)s RETURNING holder

-- name: newest_snapshot
-- The newest complete snapshot, and its number of pieces.
SELECT last.attempt, last.number + 1 FROM live.snapshots AS last
WHERE last.name = %s AND last.code = %s AND last.position <= %s AND last.is_last
    AND last.number + 1 = (
        SELECT count(*) FROM live.snapshots AS piece
        WHERE (piece.name, piece.attempt) = (last.name, last.attempt))
ORDER BY last.position DESC LIMIT 1

-- name: snapshot_pieces
SELECT content FROM live.snapshots
WHERE name = %s AND attempt = %s AND number >= %s AND number < %s ORDER BY number

-- name: save_snapshot_pieces
-- A repetition after a lost answer changes nothing. The commit does not wait for the disk: if a crash of the server
-- loses a piece, the snapshot is incomplete and is not used.
INSERT INTO live.snapshots (name, attempt, code, position, number, is_last, content)
SELECT %s, %s, %s, %s, piece.number, piece.is_last, piece.content
FROM set_config('synchronous_commit', 'off', true),
    unnest(%s::integer[], %s::boolean[], %s::bytea[]) AS piece (number, is_last, content)
ON CONFLICT (name, attempt, number) DO NOTHING
RETURNING number

-- name: delete_older_snapshots
-- Newer snapshots stay, because another scheduler may have saved one while this one was stopped. The first complete
-- snapshot of this code in each recent span of positions stays, too, for explanations of the past.
WITH kept AS (
    SELECT min(position) AS position FROM live.snapshots
    WHERE name = %(name)s AND code = %(code)s AND is_last AND position > %(position)s - %(reach)s
    GROUP BY position / %(span)s::bigint
)
DELETE FROM live.snapshots
WHERE name = %(name)s AND position < %(position)s
    AND (code <> %(code)s OR position NOT IN (SELECT kept.position FROM kept))
RETURNING number

-- name: missing_migrations
SELECT w.name FROM unnest(%s::text[]) AS w (name)
WHERE NOT EXISTS (SELECT FROM public.labledger_migrations m WHERE m.name = w.name) ORDER BY w.name

-- name: later_migrations
SELECT m.name FROM public.labledger_migrations m WHERE m.name <> ALL (%s::text[]) ORDER BY m.name

-- name: missing_topics
SELECT t.topic FROM unnest(%s::text[]) AS t (topic)
WHERE NOT EXISTS (SELECT FROM log.topics k WHERE k.topic = t.topic) ORDER BY t.topic

-- name: addresses_of
-- The addresses of the requests of some commits, which are found by the index of their times.
SELECT c.last_position, a.address
FROM unnest(%(moments)s::timestamptz[], %(ends)s::bigint[]) AS wanted (recorded_at, last_position)
JOIN log.commits c USING (recorded_at, last_position)
JOIN live.addresses a USING (command_id)
WHERE a.recorded_at >= clock_timestamp() - make_interval(days => %(days)s::integer)

-- name: delete_addresses
DELETE FROM live.addresses WHERE command_id IN (
    SELECT command_id FROM live.addresses
    WHERE recorded_at < clock_timestamp() - make_interval(days => %(days)s::integer)
    ORDER BY recorded_at LIMIT %(limit)s)
RETURNING command_id
