-- Documents by kind and name, tokens included, and commands to lab controllers.

-- name: documents
-- Open intervals have an index of their own, so that the query does not scan closed ones for them. The lab controllers
-- of a partition are its `labs`; of `default` all but the few `other_labs`. `containing` are parts of documents, one of
-- which is in each document found.
SELECT name, version, document FROM (
    SELECT name, version, document FROM read.documents
    WHERE kind = %(kind)s AND until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT name, version, document FROM read.documents
    WHERE kind = %(kind)s AND until_position < 9223372036854775807 AND until_position > %(at)s
      AND since_position <= %(at)s
) AS found
WHERE name > %(after)s
  AND (%(labs)s::text[] IS NULL OR name = ANY (%(labs)s::text[]))
  AND (%(other_labs)s::text[] IS NULL OR name <> ALL (%(other_labs)s::text[]))
  AND (%(containing)s::text[] IS NULL OR document @> ANY (%(containing)s::text[]::jsonb[]))
ORDER BY name LIMIT %(limit)s

-- name: moved_labs
-- The lab controllers that are not in `default`, with the numbers of their partitions, 0 for none.
SELECT name, (document ->> 'partition')::integer AS partition FROM (
    SELECT name, document FROM read.documents
    WHERE kind = 'lab-controller' AND until_position = 9223372036854775807 AND since_position <= %(at)s
    UNION ALL
    SELECT name, document FROM read.documents
    WHERE kind = 'lab-controller' AND until_position < 9223372036854775807 AND until_position > %(at)s
      AND since_position <= %(at)s
) AS found
WHERE document ->> 'partition' <> '1' ORDER BY name

-- name: document
SELECT name, version, document FROM (
    SELECT * FROM read.documents WHERE kind = %(kind)s AND name = %(name)s AND since_position <= %(at)s
    ORDER BY since_position DESC LIMIT 1) AS last
WHERE until_position > %(at)s

-- name: tokens
-- All tokens, those of a user, or one by its id, without the secret. Those of a user begin at a position, because an
-- earlier user may have had the same name.
SELECT d.name AS token_id, d.document ->> 'user' AS "user", d.document ->> 'role' AS role,
       d.document ->> 'lab_controller' AS lab_controller,
       (SELECT min(f.since) FROM read.documents f WHERE f.kind = 'token' AND f.name = d.name) AS created_at,
       (d.document ->> 'expires_at')::timestamptz AS expires_at,
       coalesce((d.document ->> 'revoked')::boolean, false) AS revoked
FROM read.documents d
WHERE d.kind = 'token' AND d.since_position <= %(at)s AND d.until_position > %(at)s AND d.name > %(after)s
  AND (%(user)s::text IS NULL OR d.document ->> 'user' = %(user)s::text AND %(user_since)s <=
       (SELECT min(f.since_position) FROM read.documents f WHERE f.kind = 'token' AND f.name = d.name))
  AND (%(token_id)s::text IS NULL OR d.name = %(token_id)s::text)
ORDER BY d.name LIMIT %(limit)s

-- name: commands
-- The commands to a lab controller after a command, with all data to execute them; with `unfinished` only those that
-- are not finished. A command to provision has the `guests` that start with the recipe, each {"recipe_id", "guestname",
-- "guestargs", "distro_tree_id", "tree", "distro", "tasks"}, and the `members` of its recipe set. `recipe_id` and the
-- data of the recipe are null if a person has the system. A command to delete logs has the job, and its `recipe_ids` that
-- have started in this lab.
-- `cause_reason` says why a command ends something. Recipes, trees and guests are as of the command, so that a repeated
-- query has the same result after later changes and removals.
-- `then` says that `at` is in the past, so that the present state of a command does not tell whether it was unfinished.
SELECT c.command_id, c.kind, c.system, c.recipe_id, so.state, c.attempt, c.cause_reason, c.distro_tree_id, t.document AS tree,
       CASE WHEN changed.recipe_id IS NULL THEN d.distro ELSE changed.distro END AS distro,
       coalesce(c.job_id, d.job_id) AS job_id, l.recipe_ids, d.recipe_set_id, coalesce(changed.tasks, d.tasks) AS tasks, coalesce(g.guests, '[]') AS guests, coalesce(s.members, '[]') AS members
FROM read.commands c
JOIN read.commands so
  ON so.command_id = c.command_id AND so.since_position <= %(at)s AND so.until_position > %(at)s
LEFT JOIN read.recipe_details d ON d.recipe_id = c.recipe_id
LEFT JOIN LATERAL live.last_change(c.recipe_id, c.command_id) AS changed ON true
LEFT JOIN read.documents t ON t.kind = 'distro-tree' AND t.name = c.distro_tree_id::text
 AND t.since_position <= c.command_id AND t.until_position > c.command_id
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
        'recipe_id', gd.recipe_id, 'guestname', gd.guestname, 'guestargs', gd.guestargs,
        'distro_tree_id', gtree.id, 'tree', gt.document,
        'distro', CASE WHEN ge.recipe_id IS NULL THEN gd.distro ELSE ge.distro END,
        'tasks', coalesce(ge.tasks, gd.tasks)) ORDER BY gd.recipe_id) AS guests
    FROM read.recipe_details gd
    LEFT JOIN LATERAL live.last_change(gd.recipe_id, c.command_id) AS ge ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN ge.recipe_id IS NULL THEN gd.distro_tree_id ELSE ge.distro_tree_id END AS id) AS gtree
    JOIN read.recipes gr ON gr.recipe_id = gd.recipe_id AND gr.state NOT IN ('completed', 'cancelled', 'aborted')
     AND gr.since_position <= c.command_id AND gr.until_position > c.command_id
    LEFT JOIN read.documents gt ON gt.kind = 'distro-tree' AND gt.name = gtree.id::text
     AND gt.since_position <= c.command_id AND gt.until_position > c.command_id
    WHERE gd.host_recipe_id = c.recipe_id AND c.kind = 'provision') AS g ON true
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
        'recipe_id', m.recipe_id, 'host_recipe_id', m.host_recipe_id, 'guestname', m.guestname, 'role', m.role,
        'system', mr.system, 'tasks', ARRAY (
            SELECT jsonb_build_object('id', task -> 'task_id', 'role', task -> 'role')
            FROM jsonb_array_elements(coalesce(me.tasks, m.tasks)) AS task WHERE task ->> 'role' IS NOT NULL)) ORDER BY m.recipe_id) AS members
    FROM read.recipe_details m
    LEFT JOIN LATERAL live.last_change(m.recipe_id, c.command_id) AS me ON true
    JOIN read.recipes mr ON mr.recipe_id = m.recipe_id
     AND mr.since_position <= c.command_id AND mr.until_position > c.command_id
    WHERE m.recipe_set_id = d.recipe_set_id AND c.kind = 'provision') AS s ON true
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT ld.recipe_id ORDER BY ld.recipe_id) AS recipe_ids
    FROM read.recipe_details ld JOIN read.recipes lr USING (recipe_id)
    WHERE ld.job_id = c.job_id AND lr.lab_controller = c.lab_controller AND c.kind = 'delete-logs'
      AND lr.state IN ('waiting', 'installing', 'running', 'reserved') AND NOT lr.awaits_locks) AS l ON true
WHERE c.lab_controller = %(lab_controller)s AND c.command_id > %(after)s
  AND (%(then)s OR NOT %(unfinished)s OR c.state IN ('queued', 'running'))
  AND (NOT %(unfinished)s OR so.state IN ('queued', 'running')) AND c.until_position = 9223372036854775807
ORDER BY c.command_id LIMIT %(limit)s

-- name: commands_by_id
SELECT command_id, lab_controller, kind, system, recipe_id FROM read.commands
WHERE command_id = ANY (%(command_ids)s::bigint[]) AND until_position = 9223372036854775807

-- name: recipes_in_documents
-- The parts of the job documents for these host recipes, each with its `guests`, and with the ids of the guests in the
-- same order. Recipes are numbered in the order of the document. Each document is read once for all its recipes.
SELECT h.recipe_id, said.recipe, octet_length(said.recipe::text) AS size_bytes,
       ARRAY (SELECT g.recipe_id FROM read.recipe_details g
              WHERE g.host_recipe_id = h.recipe_id ORDER BY g.recipe_id) AS guest_ids
FROM (
    SELECT recipe_id, job_id, row_number() OVER (PARTITION BY job_id ORDER BY recipe_id) AS place
    FROM read.recipe_details WHERE job_id = ANY (%(job_ids)s::integer[]) AND host_recipe_id IS NULL) AS h
JOIN (
    SELECT s.job_id, r.recipe - 'host_requires' - 'distro_requires' AS recipe,
           row_number() OVER (PARTITION BY s.job_id ORDER BY s.place, r.place) AS place
    FROM (
        SELECT d.job_id, e.recipe_set,
               row_number() OVER (PARTITION BY d.job_id ORDER BY d.since_position, e.place) - 1 AS place
        FROM (
            SELECT job_id, 0::bigint AS since_position, document -> 'recipe_sets' AS recipe_sets
            FROM read.job_documents WHERE job_id = ANY (%(job_ids)s::integer[])
            UNION ALL
            SELECT job_id, since_position, documents FROM read.added_sets
            WHERE job_id = ANY (%(job_ids)s::integer[])) AS d
        CROSS JOIN LATERAL jsonb_array_elements(d.recipe_sets) WITH ORDINALITY AS e (recipe_set, place)) AS s
    LEFT JOIN LATERAL (
        SELECT c.document FROM read.changed_sets c WHERE c.job_id = s.job_id AND c.place = s.place
        ORDER BY c.since_position DESC LIMIT 1) AS changed ON true
    CROSS JOIN LATERAL jsonb_array_elements(coalesce(changed.document, s.recipe_set) -> 'recipes')
        WITH ORDINALITY AS r (recipe, place)) AS said USING (job_id, place)
WHERE h.recipe_id = ANY (%(recipe_ids)s::integer[])
