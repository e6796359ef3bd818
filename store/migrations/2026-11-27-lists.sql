-- The sets of a job are found without looking at its recipes.

DROP INDEX read.recipe_details_job;
CREATE INDEX recipe_details_job ON read.recipe_details (job_id, recipe_set_id);

-- What a kind of documents was is found by when it ended, which for what was true lately is late. A pool has a version
-- for each of its systems: thousands of them stood in the way of the few that are true.
CREATE INDEX documents_until ON read.documents (kind, until_position) WHERE until_position < 9223372036854775807;
