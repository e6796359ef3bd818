-- Jobs and their recipe sets.

-- name: bounds_of_job_search
-- The range of ids in which all matching jobs are, and the positions after which and up to which they were submitted. Ids
-- are not quite in the order of submissions, so the range consists of whole blocks (`job_terms.py`). Jobs of a block are
-- submitted before it is closed, but for late ones; those of the block after the next one from then on. Blocks from
-- `indexed_from` to `open_from` (ids of jobs) have terms.
WITH span AS MATERIALIZED (
    SELECT coalesce((
               SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(since)s::timestamptz
               ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0) AS after_position,
           CASE WHEN %(until)s::timestamptz IS NULL THEN %(at)s::bigint
                ELSE least(%(at)s::bigint, coalesce((
                    SELECT c.last_position FROM log.commits c WHERE c.recorded_at < %(until)s::timestamptz
                    ORDER BY c.recorded_at DESC, c.last_position DESC LIMIT 1), 0)) END AS upto_position
), terms AS MATERIALIZED (
    SELECT 1 + coalesce((SELECT t.block FROM read.job_terms t WHERE t.term = '!'), -1) AS indexed_from,
           (SELECT t.block + 1 FROM read.job_terms t WHERE t.term = '' ORDER BY t.block DESC LIMIT 1) AS open_from
)
SELECT s.after_position, s.upto_position, t.indexed_from * 2048 AS indexed_from,
       coalesce(t.open_from, t.indexed_from) * 2048 AS open_from,
       CASE WHEN s.after_position > 0 AND l.block > t.indexed_from THEN l.block * 2048 ELSE 0 END AS first,
       least(%(before)s::bigint, coalesce((SELECT max(d.job_id) + 1::bigint FROM read.job_documents d), 0),
             (SELECT (c.block + 2) * 2048::bigint FROM read.job_terms c
              WHERE c.term = '' AND c.since_position > s.upto_position AND c.block >= t.indexed_from
              ORDER BY c.since_position, c.block LIMIT 1)) AS before
FROM span s CROSS JOIN terms t
CROSS JOIN LATERAL (
    SELECT least(
        coalesce((SELECT c.block FROM read.job_terms c WHERE c.term = '' AND c.since_position > s.after_position
                  ORDER BY c.since_position, c.block LIMIT 1), t.open_from, 0),
        (SELECT min(late.block) FROM read.job_terms late WHERE late.term = '+' AND late.last_position > s.after_position)
    ) AS block) AS l

-- name: jobs_of_system
-- The last jobs in a range of ids with a recipe that has started on a system.
SELECT DISTINCT s.job_id FROM read.job_systems s
WHERE s.system = %(system)s AND s.job_id >= %(first)s AND s.job_id < %(before)s
ORDER BY s.job_id DESC LIMIT %(count)s

-- name: jobs_in_state
-- The last jobs in a range of ids that are in a state. OFFSET 0 keeps the planner from a scan of the history in the order
-- of jobs.
SELECT so.job_id FROM (
    (SELECT j.job_id FROM read.jobs j
     WHERE (CASE WHEN j.until_position = 9223372036854775807 THEN j.state END) = %(state)s::text
       AND j.until_position = 9223372036854775807 AND j.since_position <= %(at)s
       AND j.job_id >= %(first)s AND j.job_id < %(before)s
     ORDER BY j.job_id DESC LIMIT %(count)s)
    UNION ALL
    (SELECT j.job_id FROM read.jobs j
     WHERE j.state = %(state)s AND j.until_position < 9223372036854775807
       AND int8range(j.since_position, j.until_position) @> %(at)s::bigint OFFSET 0)
) AS so
WHERE so.job_id >= %(first)s AND so.job_id < %(before)s
ORDER BY so.job_id DESC LIMIT %(count)s

-- name: jobs_without_terms
-- The last jobs in a range of ids that may match, by the filters on the columns of `job_documents`.
SELECT d.job_id FROM read.job_documents d
WHERE d.job_id >= %(first)s AND d.job_id < %(before)s
  AND d.since_position > %(after_position)s AND d.since_position <= %(upto_position)s
  AND (%(owner)s::text IS NULL OR d.owner = %(owner)s::text)
  AND (%(group)s::text IS NULL OR d.group_name = %(group)s::text)
  AND (%(partition)s::integer IS NULL OR d.partition = %(partition)s::integer)
  AND (%(whiteboard)s::text IS NULL
       OR strpos(lower(d.whiteboard), lower(%(whiteboard)s::text)) > 0
       OR d.job_id IN (SELECT j.job_id FROM read.jobs j
                       WHERE j.changed IS NOT NULL AND j.job_id >= %(first)s AND j.job_id < %(before)s))
ORDER BY d.job_id DESC LIMIT %(count)s

-- name: blocks_with_terms
-- The jobs of each block that have all terms, the last block first, until there are `count` jobs. Only blocks that have
-- rows of all terms have such jobs.
SELECT c.block, c.jobs::text AS jobs
FROM (
    SELECT b.block, b.jobs, sum(bit_count(b.jobs)) OVER (ORDER BY b.block DESC) - bit_count(b.jobs) AS before
    FROM (
        SELECT t.block, bit_and(t.jobs) AS jobs
        FROM read.job_terms t
        WHERE t.term = ANY (%(terms)s::text[]) AND t.block >= %(first)s / 2048 AND t.block <= (%(before)s - 1) / 2048
        GROUP BY t.block HAVING count(*) = cardinality(%(terms)s::text[])
    ) AS b
) AS c
WHERE c.before < %(count)s AND bit_count(c.jobs) > 0
ORDER BY c.block DESC

-- name: jobs_with_terms
-- Those of the given jobs that have all terms.
SELECT j.job_id
FROM unnest(%(job_ids)s::integer[]) AS j (job_id)
JOIN (
    SELECT t.block, bit_and(t.jobs) AS jobs
    FROM read.job_terms t
    WHERE t.term = ANY (%(terms)s::text[]) AND t.block >= %(first)s / 2048 AND t.block <= (%(before)s - 1) / 2048
    GROUP BY t.block HAVING count(*) = cardinality(%(terms)s::text[])
) AS b ON b.block = j.job_id / 2048
WHERE get_bit(b.jobs, j.job_id %% 2048) = 1
ORDER BY j.job_id DESC

-- name: matching_jobs
-- Those of the given jobs that match all filters, newest first. OFFSET 0 makes the planner look up each job by its id.
SELECT n.job_id
FROM unnest(%(job_ids)s::integer[]) WITH ORDINALITY AS n (job_id, number)
CROSS JOIN LATERAL (
    SELECT
    FROM read.job_documents d CROSS JOIN LATERAL (
        SELECT * FROM read.jobs i WHERE i.job_id = d.job_id AND i.since_position <= %(at)s
        ORDER BY i.since_position DESC LIMIT 1) AS j
    WHERE d.job_id = n.job_id
      AND d.since_position > %(after_position)s AND d.since_position <= %(upto_position)s
      AND (%(owner)s::text IS NULL OR d.owner = %(owner)s::text)
      AND (%(group)s::text IS NULL OR d.group_name = %(group)s::text)
      AND (%(partition)s::integer IS NULL OR d.partition = %(partition)s::integer)
      AND (%(state)s::text IS NULL OR j.state = %(state)s::text)
      AND (%(result)s::text IS NULL OR j.result = %(result)s::text)
      AND (%(whiteboard)s::text IS NULL
           OR strpos(lower(coalesce(j.changed ->> 'whiteboard', d.whiteboard)), lower(%(whiteboard)s::text)) > 0)
      AND (%(product)s::text IS NULL OR %(product)s::text =
           (CASE WHEN j.changed IS NULL THEN d.document ELSE j.changed END) ->> 'product')
      AND (%(system)s::text IS NULL OR EXISTS (
           SELECT FROM read.job_systems s
           WHERE s.system = %(system)s::text AND s.job_id = d.job_id AND s.since_position <= %(at)s OFFSET 0))
      AND (%(task)s::text IS NULL OR EXISTS (
           SELECT FROM read.recipe_details r
           LEFT JOIN LATERAL live.last_change(r.recipe_id, %(at)s) AS changed ON true
           WHERE r.job_id = d.job_id AND r.since_position <= %(at)s
             AND coalesce(changed.tasks, r.tasks) @> jsonb_build_array(jsonb_build_object('name', %(task)s::text))
           OFFSET 0))
    OFFSET 0) AS matching
ORDER BY n.number LIMIT %(limit)s

-- name: jobs
-- Jobs by id. The ids of their recipe sets are JSON text. LIMIT 1 reads one interval of a job, which has several for each
-- of its recipes.
SELECT d.job_id, j.state, j.stage, j.is_open AS open, j.result,
       coalesce(j.changed ->> 'whiteboard', d.whiteboard) AS whiteboard, d.owner,
       d.group_name AS "group", d.partition, d.queue, d.since AS submitted_at,
       array_to_json(ARRAY (
           SELECT DISTINCT r.recipe_set_id FROM read.recipe_details r
           WHERE r.job_id = d.job_id AND r.since_position <= %(at)s ORDER BY 1
       ))::text AS recipe_set_ids
FROM read.job_documents d CROSS JOIN LATERAL (
    SELECT * FROM read.jobs i WHERE i.job_id = d.job_id AND i.since_position <= %(at)s
    ORDER BY i.since_position DESC LIMIT 1) AS j
WHERE d.job_id = ANY (%(job_ids)s) ORDER BY d.job_id DESC

-- name: job
-- The document includes added recipe sets and later changes by users. It is JSON text. The copies are the latest 100. The
-- owner was removed where the versions of the user have a gap after the submission.
SELECT d.job_id, j.state, j.stage, j.is_open AS open, j.result,
       coalesce(j.changed ->> 'whiteboard', d.whiteboard) AS whiteboard, d.owner, d.submitter, d.group_name AS "group", d.partition, d.queue, d.since AS submitted_at, d.origin,
       j.ended AS ended_at, j.kept,
       (SELECT x.until FROM read.documents x
        WHERE x.kind = 'user' AND x.name = d.owner AND x.until_position > d.since_position AND x.until_position <= %(at)s
          AND NOT EXISTS (SELECT FROM read.documents y
                          WHERE y.kind = 'user' AND y.name = d.owner AND y.since_position = x.until_position)
        ORDER BY x.until_position LIMIT 1) AS owner_removed_at,
       ARRAY (SELECT c.job_id FROM read.job_documents c WHERE c.origin = d.job_id AND c.since_position <= %(at)s
              ORDER BY c.job_id DESC LIMIT 100) AS copies,
       (CASE WHEN j.changed IS NULL THEN said.document
             ELSE (said.document - 'product') || jsonb_strip_nulls(j.changed) END)::text AS document
FROM read.job_documents d JOIN read.jobs j
  ON j.job_id = d.job_id AND j.since_position <= %(at)s AND j.until_position > %(at)s
CROSS JOIN LATERAL (
    SELECT CASE WHEN all_sets.documents IS NULL THEN d.document
                ELSE jsonb_set(d.document, '{recipe_sets}', all_sets.documents) END
    FROM (
        SELECT jsonb_agg(coalesce(changed.document, numbered.document) ORDER BY numbered.place) AS documents
        FROM (
            SELECT e.document, row_number() OVER (ORDER BY parts.since_position, e.place) - 1 AS place
            FROM (SELECT 0::bigint AS since_position, d.document -> 'recipe_sets' AS documents
                  UNION ALL
                  SELECT a.since_position, a.documents FROM read.added_sets a
                  WHERE a.job_id = d.job_id AND a.since_position <= %(at)s) AS parts
            CROSS JOIN LATERAL jsonb_array_elements(parts.documents) WITH ORDINALITY AS e (document, place)
            WHERE EXISTS (SELECT FROM read.added_sets a WHERE a.job_id = d.job_id)
               OR EXISTS (SELECT FROM read.changed_sets c WHERE c.job_id = d.job_id)) AS numbered
        LEFT JOIN LATERAL (
            SELECT c.document FROM read.changed_sets c
            WHERE c.job_id = d.job_id AND c.place = numbered.place AND c.since_position <= %(at)s
            ORDER BY c.since_position DESC LIMIT 1) AS changed ON true) AS all_sets) AS said (document)
WHERE d.job_id = %(job_id)s

-- name: deletion
-- The deletion of the results of a job, or of the job of one recipe (the other parameter is null). This does not depend on the moment of the read, because results of the past are deleted, too.
SELECT j.deleted FROM read.jobs j
WHERE j.until_position = 9223372036854775807 AND j.deleted IS NOT NULL
  AND j.job_id = coalesce(%(job_id)s::integer,
                          (SELECT d.job_id FROM read.recipe_details d WHERE d.recipe_id = %(recipe_id)s::integer))

-- name: due_deletions
-- The jobs whose results may be deleted by tags and their days, the first that ended first, after a job that ended at a
-- time; with the lab controllers on whose systems the job has started and, `with_sizes`, the sizes of what is deleted. These
-- read all results of the jobs; without them a query takes about as long for jobs of any size. A clock that is ahead of that
-- of the database has no effect.
SELECT due.job_id, d.owner, d.partition, due.tag, due.days, due.ended AS ended_at, sizes.*,
       ARRAY (SELECT DISTINCT r.lab_controller
              FROM read.recipe_details m JOIN read.recipes r USING (recipe_id)
              WHERE m.job_id = due.job_id AND r.state = ANY (%(started)s::text[]) AND NOT r.awaits_locks
              ORDER BY 1) AS lab_controllers
FROM (
    SELECT of_tag.*
    FROM unnest(%(tags)s::text[], %(days)s::integer[]) AS wanted (tag, days)
    CROSS JOIN LATERAL (
        SELECT j.job_id, wanted.tag, wanted.days, j.ended FROM read.jobs j
        WHERE j.until_position = 9223372036854775807 AND j.ended IS NOT NULL AND j.kept IS NULL AND j.deleted IS NULL
          AND j.retention_tag = wanted.tag
          AND j.ended <= least(now(), %(moment)s::timestamptz) - wanted.days * interval '24 hours'
          AND (j.ended, j.job_id) > (%(after_ended)s::timestamptz, %(after_job)s::integer)
        ORDER BY j.ended, j.job_id LIMIT %(limit)s) AS of_tag
    ORDER BY of_tag.ended, of_tag.job_id LIMIT %(limit)s
) AS due
JOIN read.job_documents d ON d.job_id = due.job_id
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS result_count,
           coalesce(sum(jsonb_array_length(t.logs) + jsonb_array_length(t.log_urls)), 0)::integer AS log_count,
           -- A lab controller may report any size, and no sum of them may stop the deletions.
           least(coalesce(sum(listed.bytes), 0), 9223372036854775807)::bigint AS log_bytes
    FROM read.recipe_details m JOIN read.task_results t USING (recipe_id)
    CROSS JOIN LATERAL (
        SELECT sum((log ->> 'size_bytes')::bigint) AS bytes FROM jsonb_array_elements(t.logs) AS log) AS listed
    WHERE %(with_sizes)s AND m.job_id = due.job_id) AS sizes
ORDER BY due.ended, due.job_id

-- name: due_deletion_counts
-- The number of jobs whose results may be deleted, by tag and its days.
SELECT wanted.tag, of_tag.count::integer AS due_job_count
FROM unnest(%(tags)s::text[], %(days)s::integer[]) AS wanted (tag, days)
CROSS JOIN LATERAL (
    SELECT count(*) FROM read.jobs j
    WHERE j.until_position = 9223372036854775807 AND j.ended IS NOT NULL AND j.kept IS NULL AND j.deleted IS NULL
      AND j.retention_tag = wanted.tag
      AND j.ended <= least(now(), %(moment)s::timestamptz) - wanted.days * interval '24 hours') AS of_tag

-- name: log_deletions
-- The numbers of commands to delete logs that are not done, by lab controller: unfinished ones, and failed ones.
SELECT c.lab_controller,
       (count(*) FILTER (WHERE c.state <> 'failed'))::integer AS waiting_count,
       (count(*) FILTER (WHERE c.state = 'failed'))::integer AS failed_count
FROM read.commands c
WHERE c.kind = 'delete-logs' AND c.state <> 'completed' AND c.until_position = 9223372036854775807
GROUP BY c.lab_controller ORDER BY c.lab_controller

-- name: orphaned_log_deletions
-- Unfinished commands to delete logs of other lab controllers than the given ones, after a command.
SELECT c.command_id, c.lab_controller FROM read.commands c
WHERE c.kind = 'delete-logs' AND c.state IN ('queued', 'running') AND c.until_position = 9223372036854775807
  AND c.command_id > %(after)s AND c.lab_controller <> ALL (%(lab_controllers)s::text[])
ORDER BY c.command_id LIMIT %(limit)s

-- name: queues_with_jobs
-- The given queues of a partition that have unfinished jobs; not `root.default`, which is in no index.
SELECT wanted.queue FROM unnest(%(queues)s::text[]) AS wanted (queue)
WHERE EXISTS (
    SELECT FROM read.job_documents d
    JOIN read.jobs j ON j.job_id = d.job_id AND j.until_position = 9223372036854775807
    WHERE d.partition = %(partition)s AND d.queue = wanted.queue AND d.queue <> 'root.default'
      AND j.state = ANY (%(unfinished)s::text[]))

-- name: results_of_sets
-- The results of the recipe sets of a job, in the order of its document. A set is waived as a whole, or by waivers of all
-- its failures; a cancelled or aborted recipe without a failed task is a failure, too.
SELECT s.recipe_set_id, s.result,
       s.waiver IS NOT NULL OR coalesce(failures.waived_count > 0 AND failures.count = failures.waived_count, false) AS waived
FROM read.recipe_sets s
CROSS JOIN LATERAL (
    SELECT sum(greatest(of_recipe.count, CASE WHEN r.state IN ('cancelled', 'aborted') THEN 1 ELSE 0 END)) AS count,
           sum(of_recipe.waived_count) AS waived_count
    FROM (SELECT recipe_id FROM read.recipe_details WHERE recipe_set_id = s.recipe_set_id OFFSET 0) AS d
    JOIN read.recipes r ON r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
    CROSS JOIN LATERAL (
        SELECT count(*) AS count, count(t.waiver) AS waived_count
        FROM (SELECT * FROM read.tasks WHERE recipe_id = d.recipe_id OFFSET 0) AS t
        WHERE t.since_position <= %(at)s AND t.until_position > %(at)s AND t.result = ANY (%(bad_results)s::text[])
    ) AS of_recipe) AS failures
WHERE s.job_id = %(job_id)s AND s.since_position <= %(at)s AND s.until_position > %(at)s ORDER BY s.recipe_set_id

-- name: recipe_set
SELECT s.recipe_set_id, s.job_id, d.owner, d.group_name AS "group", d.partition, d.queue, s.priority, s.state, s.result,
       s.review, s.waiver
FROM read.recipe_sets s JOIN read.job_documents d USING (job_id)
WHERE s.recipe_set_id = %(recipe_set_id)s AND s.since_position <= %(at)s AND s.until_position > %(at)s

-- name: reviews
-- The recipe sets of a job, or that of one recipe (the other parameter is null), with their reviews and waivers.
SELECT s.recipe_set_id, s.state, s.result, s.review, s.waiver
FROM read.recipe_sets s
WHERE s.since_position <= %(at)s AND s.until_position > %(at)s
  AND (s.job_id = %(job_id)s::integer
       OR s.recipe_set_id = (SELECT d.recipe_set_id FROM read.recipe_details d WHERE d.recipe_id = %(recipe_id)s::integer))
ORDER BY s.recipe_set_id

-- name: unfinished_sets
-- Unfinished recipe sets of a partition, by its unfinished jobs.
SELECT s.recipe_set_id
FROM read.jobs j
JOIN read.job_documents d ON d.job_id = j.job_id AND d.partition = %(partition)s
JOIN read.recipe_sets s ON s.job_id = j.job_id AND s.until_position = 9223372036854775807
WHERE (CASE WHEN j.until_position = 9223372036854775807 THEN j.state END) = ANY (%(unfinished)s::text[])
  AND j.until_position = 9223372036854775807 AND s.state = ANY (%(unfinished)s::text[])
ORDER BY s.recipe_set_id

-- name: uses_of_user
-- What a user has now: unfinished jobs, kept systems of ended recipes, reservations and loans. It is read before a removal.
SELECT 'unfinished job' AS use, so.job_id::text AS name
FROM (
    SELECT j.job_id FROM read.job_documents d
    JOIN read.jobs j ON j.job_id = d.job_id AND j.until_position = 9223372036854775807
    WHERE d.owner = %(user)s
      AND (CASE WHEN j.until_position = 9223372036854775807 THEN j.state END) = ANY (%(unfinished)s::text[])
    ORDER BY j.job_id) AS so
UNION ALL
SELECT 'kept system', s.fqdn
FROM read.recipes r
JOIN read.recipe_details d ON d.recipe_id = r.recipe_id AND d.owner = %(user)s
JOIN read.system_usage s ON s.recipe_id = r.recipe_id AND s.until_position = 9223372036854775807
WHERE r.until_position = 9223372036854775807 AND r.state = 'reserved'
UNION ALL
SELECT 'reservation', fqdn FROM read.systems WHERE until_position = 9223372036854775807 AND reserved_by = %(user)s
UNION ALL
SELECT 'loan', fqdn FROM read.systems WHERE until_position = 9223372036854775807 AND loaned_to = %(user)s

-- name: systems_left
-- Those of these systems that are not Removed. It is read before the removal of their pool.
SELECT fqdn FROM read.system_usage
WHERE fqdn = ANY (%(systems)s::text[]) AND until_position = 9223372036854775807 AND condition <> 'Removed'
ORDER BY fqdn

-- name: jobs_naming_pool
-- Unfinished jobs whose requirements or preferred pools, as submitted, name a pool. It is read before a removal.
SELECT j.job_id
FROM read.jobs j JOIN read.job_documents d ON d.job_id = j.job_id
WHERE (CASE WHEN j.until_position = 9223372036854775807 THEN j.state END) = ANY (%(unfinished)s::text[])
  AND j.until_position = 9223372036854775807
  AND jsonb_path_exists(
      d.document,
      '$.recipe_sets[*].recipes[*].** ? ((@.element == "pool" || @.element == "group") && @.value == $pool || @.autopick.pools[*] == $pool)',
      jsonb_build_object('pool', %(pool)s::text))
ORDER BY j.job_id

-- name: open_jobs
-- Open jobs of a partition.
SELECT d.job_id
FROM read.jobs j
JOIN read.job_documents d ON d.job_id = j.job_id AND d.partition = %(partition)s
WHERE j.until_position = 9223372036854775807 AND j.is_open
ORDER BY d.job_id

-- name: recipe_sets
-- The recipe sets of a job, or one by its id (the other parameter is null), with recipes and tasks, as JSON text:
-- [{"recipe_set_id", …, "recipes": [{…, "tasks": [{"task_id", "name", "state", "result", "waiver"}]}]}].
-- A task has its submitted name. The result of a recipe is the worst of its tasks by `result_order`, which begins with
-- the best, and at least Warn for a cancelled or aborted recipe. The waiver of a failed task is its own, or else that of
-- its set; failed and waived tasks are counted apart.
SELECT coalesce(json_agg(shown ORDER BY shown.recipe_set_id), '[]')::text AS recipe_sets
FROM (
    SELECT s.recipe_set_id, s.priority, s.state, s.result, s.review, s.waiver,
           sum(recipe.failed_task_count) AS failed_task_count, sum(recipe.waived_task_count) AS waived_task_count,
           json_agg(recipe.shown ORDER BY recipe.recipe_id) AS recipes
    FROM read.recipe_sets s
    JOIN (
        SELECT d.recipe_id, d.recipe_set_id, json_build_object(
            'recipe_id', d.recipe_id, 'host_recipe_id', d.host_recipe_id, 'state', r.state, 'awaits_locks', r.awaits_locks,
            'attempt', r.attempt, 'system', r.system,
            'lab_controller', r.lab_controller, 'whiteboard', d.whiteboard, 'role', d.role, 'reason', r.reason,
            'since', to_char(r.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'result', (%(result_order)s::text[])[greatest(
                of_it.worst, 1,
                CASE WHEN r.state IN ('cancelled', 'aborted') THEN array_position(%(result_order)s::text[], 'Warn') END)],
            'tasks', of_it.tasks) AS shown, of_it.failed_task_count, of_it.waived_task_count
        FROM read.recipe_details d
        JOIN read.recipe_sets of_set ON of_set.recipe_set_id = d.recipe_set_id
         AND of_set.since_position <= %(at)s AND of_set.until_position > %(at)s
        JOIN read.recipes r ON r.recipe_id = d.recipe_id AND r.since_position <= %(at)s AND r.until_position > %(at)s
        -- Tasks that a change has replaced have ended.
        LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
        CROSS JOIN LATERAL (
            SELECT max(array_position(%(result_order)s::text[], t.result)) AS worst,
                   count(*) FILTER (WHERE failed.is_it AND failed.waiver IS NULL) AS failed_task_count,
                   count(*) FILTER (WHERE failed.is_it AND failed.waiver IS NOT NULL) AS waived_task_count,
                   coalesce(json_agg(json_build_object(
                       'task_id', t.task_id, 'name', named.task ->> 'name', 'state', t.state, 'result', t.result,
                       'waiver', failed.waiver
                   ) ORDER BY t.task_id), '[]') AS tasks
            FROM jsonb_array_elements(coalesce(changed.tasks, d.tasks)) AS named (task)
            JOIN read.tasks t ON t.task_id = (named.task ->> 'task_id')::integer
             AND t.since_position <= %(at)s AND t.until_position > %(at)s
            CROSS JOIN LATERAL (
                SELECT t.result = ANY (%(bad_results)s::text[]),
                       CASE WHEN t.result = ANY (%(bad_results)s::text[]) THEN coalesce(t.waiver, of_set.waiver) END
            ) AS failed (is_it, waiver)) AS of_it
        WHERE d.job_id = %(job_id)s::integer OR d.recipe_set_id = %(recipe_set_id)s::integer
    ) AS recipe USING (recipe_set_id)
    WHERE s.since_position <= %(at)s AND s.until_position > %(at)s
    GROUP BY s.recipe_set_id, s.priority, s.state, s.result, s.review, s.waiver
) AS shown

-- name: declared_locks_of_set
-- The declared locks of each recipe of a set but guests, whose locks are those of their hosts.
SELECT d.recipe_id, coalesce(changed.locks, d.locks) AS locks, d.since AS submitted_at
FROM read.recipe_details d
LEFT JOIN LATERAL live.last_change(d.recipe_id, %(at)s) AS changed ON true
WHERE d.recipe_set_id = %(recipe_set_id)s AND d.host_recipe_id IS NULL ORDER BY d.recipe_id

-- name: usage_of_queues
-- Systems in use, jobs with systems, and waiting hosts, by queue of a partition. The first part begins with the systems,
-- because few recipes hold one.
SELECT queue, sum(used)::integer AS used, sum(jobs)::integer AS jobs, sum(waiting)::integer AS waiting
FROM (
    SELECT j.queue, count(*) AS used, count(DISTINCT j.job_id) AS jobs, 0 AS waiting
    FROM (
        SELECT fqdn FROM read.systems
        WHERE until_position = 9223372036854775807 AND since_position <= %(at)s
        UNION ALL
        SELECT fqdn FROM read.systems
        WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
    ) AS s
    CROSS JOIN LATERAL (
        SELECT i.recipe_id FROM read.system_usage i WHERE i.fqdn = s.fqdn AND i.since_position <= %(at)s
        ORDER BY i.since_position DESC LIMIT 1) AS u
    JOIN read.recipe_details d ON d.recipe_id = u.recipe_id
    JOIN read.job_documents j ON j.job_id = d.job_id AND j.partition = %(partition)s
    GROUP BY j.queue
    UNION ALL
    SELECT j.queue, 0, 0, count(*)
    FROM (
        SELECT recipe_id FROM read.queue
        WHERE until_position = 9223372036854775807 AND since_position <= %(at)s AND partition = %(partition)s
        UNION ALL
        SELECT recipe_id FROM read.queue
        WHERE until_position < 9223372036854775807 AND int8range(since_position, until_position) @> %(at)s::bigint
          AND partition = %(partition)s
    ) AS waiting
    JOIN read.recipe_details d USING (recipe_id)
    JOIN read.job_documents j USING (job_id)
    GROUP BY j.queue
) AS counted
GROUP BY queue ORDER BY queue
