-- The last change of a recipe up to a position; no row if it has not been changed until then. A function of one query
-- without settings becomes part of the query that calls it, and so costs no more than its text. It returns columns, not
-- the row type, because a rebuild replaces the table.
CREATE FUNCTION live.last_change(of_recipe integer, upto bigint)
RETURNS TABLE (recipe_id integer, distro_tree_id integer, distro jsonb, tasks jsonb, locks jsonb)
LANGUAGE sql STABLE AS $$
    SELECT c.recipe_id, c.distro_tree_id, c.distro, c.tasks, c.locks FROM read.recipe_changes c
    WHERE c.recipe_id = of_recipe AND c.since_position <= upto ORDER BY c.since_position DESC LIMIT 1
$$;

REVOKE ALL ON FUNCTION live.last_change FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live.last_change TO labledger_service;
