-- Statements of the rebuild of the read models.

-- name: one_at_a_time
SELECT pg_try_advisory_lock(%s, %s)

-- name: let_others
SELECT pg_advisory_unlock(%s, %s)

-- name: end_if_hung
SELECT set_config('idle_in_transaction_session_timeout', %s, false)

-- name: become_owner
-- Act as the owner of the schema, who then owns the new tables, so that the next migration may change them.
SELECT set_config('role', pg_get_userbyid(nspowner), false) FROM pg_namespace WHERE nspname = %s

-- name: hold_migrations
SELECT pg_advisory_xact_lock(%s)

-- name: migrations
SELECT name FROM public.labledger_migrations ORDER BY name

-- name: live_position
SELECT position FROM read.progress WHERE name = 'all'

-- name: log_end
SELECT coalesce(max(notification_id), 0) FROM log.events

-- name: commit_end
SELECT commit_end FROM log.events WHERE notification_id = %s

-- name: stand_at
UPDATE read_fresh.progress SET position = %s,
    recorded_at = (SELECT recorded_at FROM log.events WHERE notification_id = %s)
WHERE name = 'all'

-- name: close_hours
-- Store the sums of usage in the hours that are over.
SELECT live.close_hours('1970-01-01 00:00:00+00', date_trunc('hour', recorded_at, 'UTC'))
FROM progress WHERE recorded_at IS NOT NULL

-- name: delete_expired_results
-- The results of jobs up to the position of their deletion. The tables of the others may have no keys yet.
DELETE FROM task_results t USING jobs j, recipe_details d
WHERE j.deleted IS NOT NULL AND j.until_position = 9223372036854775807
  AND d.job_id = j.job_id AND t.recipe_id = d.recipe_id AND t.since_position < (j.deleted ->> 'position')::bigint

-- name: delete_repeated_actors
-- Each of the two processes of a rebuild has stored the first event of an actor among its own.
DELETE FROM actor_parts WHERE ctid IN (
    SELECT r.ctid FROM (
        SELECT ctid, row_number() OVER (PARTITION BY actor, part ORDER BY since_position, ctid) AS number
        FROM actor_parts) AS r
    WHERE r.number > 1)

-- name: join_repeated_terms
-- A term that jobs got after their block was closed has one row from the closing, and one of those jobs.
WITH repeated AS (
    DELETE FROM job_terms WHERE (term, block) IN (SELECT term, block FROM job_terms GROUP BY term, block HAVING count(*) > 1)
    RETURNING *
)
INSERT INTO job_terms (term, block, jobs, since_position, last_position)
SELECT term, block, bit_or(jobs), min(since_position), max(last_position) FROM repeated GROUP BY term, block

-- name: tables
SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r' ORDER BY relname

-- name: largest_first
SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'
ORDER BY pg_relation_size(oid) DESC, relname

-- name: key_of
-- The columns of the primary key, or of a key whose columns may be null.
SELECT array_agg(a.attname::text ORDER BY k.place)
FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE (i.indisprimary OR i.indnullsnotdistinct) AND i.indrelid = format('%%I.%%I', %s::text, %s::text)::regclass

-- name: columns_of
SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
WHERE attrelid = format('%%I.%%I', %s::text, %s::text)::regclass AND attnum > 0 AND NOT attisdropped

-- name: copy_of
-- The statements that create the tables of `live` in the schema `fresh`, without rows. Those that can run after the
-- rows are written name their table. All run with their schema as search_path, so that definitions name no schema, and
-- indexes and keys have the names that migrations use.
WITH tables AS (
    SELECT oid, relname, relacl, relowner, reloptions FROM pg_class
    WHERE relnamespace = to_regnamespace(%(live)s) AND relkind = 'r'
), granted AS (
    SELECT format('SCHEMA %%I', %(fresh)s::text) AS what, '' AS columns, a.*
    FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
    WHERE n.nspname = %(live)s AND a.grantee <> n.nspowner
    UNION ALL
    SELECT format('%%I', t.relname), '', a.* FROM tables t CROSS JOIN LATERAL aclexplode(t.relacl) AS a
    WHERE a.grantee <> t.relowner
    UNION ALL
    SELECT format('%%I', t.relname), format(' (%%I)', c.attname), a.*
    FROM tables t JOIN pg_attribute c ON c.attrelid = t.oid AND NOT c.attisdropped
    CROSS JOIN LATERAL aclexplode(c.attacl) AS a
    WHERE a.grantee <> t.relowner
)
SELECT statement, CASE WHEN step IN (3, 4) THEN relname END FROM (
    SELECT 1 AS step, relname, format('CREATE TABLE %%I (LIKE %%I.%%I INCLUDING ALL EXCLUDING INDEXES)',
                                      relname, %(live)s::text, relname) AS statement FROM tables
    UNION ALL
    SELECT 2, relname, format('ALTER TABLE %%I SET (%%s)', relname, array_to_string(reloptions, ', '))
    FROM tables WHERE reloptions IS NOT NULL
    UNION ALL
    SELECT 2, t.relname, format('ALTER TABLE %%I ALTER COLUMN %%I SET STATISTICS %%s',
                                t.relname, a.attname, a.attstattarget)
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE a.attstattarget >= 0
    UNION ALL
    SELECT 3, t.relname, format('ALTER TABLE %%I ADD CONSTRAINT %%I %%s',
                                t.relname, c.conname, pg_get_constraintdef(c.oid, true))
    FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('p', 'u', 'x')
    UNION ALL
    SELECT 4, t.relname, pg_get_indexdef(i.indexrelid, 0, true) FROM tables t JOIN pg_index i ON i.indrelid = t.oid
    WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
    UNION ALL
    SELECT 5, what, format('GRANT %%s%%s ON %%s TO %%s%%s', privilege_type, columns, what,
                           CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
                           CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM granted
) AS made ORDER BY step, relname, statement

-- name: begin
INSERT INTO progress (name, position, whole_from)
SELECT name, 0, (SELECT coalesce(max(notification_id), 0) FROM log.events) FROM read.progress
