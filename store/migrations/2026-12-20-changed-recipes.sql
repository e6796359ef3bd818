-- The requirements, tasks and locks of recipes that people changed, and the documents of their sets after each change. The
-- last change up to a position counts; a recipe without one is as its details say.
CREATE TABLE read.recipe_changes (
    recipe_id      integer     NOT NULL,
    distro_tree_id integer,
    distro         jsonb,
    tasks          jsonb       NOT NULL,
    locks          jsonb       NOT NULL,
    since_position bigint      PRIMARY KEY,
    since          timestamptz NOT NULL
);
CREATE INDEX recipe_changes_recipe ON read.recipe_changes (recipe_id, since_position);

CREATE TABLE read.changed_sets (
    recipe_set_id  integer     NOT NULL,
    job_id         integer     NOT NULL,
    -- The index of the set among those of its job.
    place          integer     NOT NULL,
    document       jsonb       NOT NULL,
    since_position bigint      PRIMARY KEY,
    since          timestamptz NOT NULL
);
CREATE INDEX changed_sets_job ON read.changed_sets (job_id, place, since_position);

ALTER TABLE read.recipe_changes ALTER COLUMN tasks SET STATISTICS 0;
ALTER TABLE read.recipe_changes ALTER COLUMN locks SET STATISTICS 0;
ALTER TABLE read.changed_sets ALTER COLUMN document SET STATISTICS 0;
GRANT SELECT, INSERT, UPDATE, DELETE ON read.recipe_changes, read.changed_sets TO labledger_service;
