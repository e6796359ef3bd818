-- Sets of many recipes, guests, and what people do to systems. Nothing that is in the log already knows of these,
-- so the defaults say what building the read models anew would.

-- The version of a system moves with its usage, which is another table: readers take it from the log.
ALTER TABLE read.systems
    DROP COLUMN version,
    ADD COLUMN draining                boolean NOT NULL DEFAULT false,
    ADD COLUMN reserved_by             text,
    ADD COLUMN reserved_until          timestamptz,
    ADD COLUMN reserved_distro_tree_id integer;
-- The systems of a lab that is enabled or disabled.
CREATE INDEX systems_lab ON read.systems (lab_controller) WHERE until_position = 9223372036854775807;

ALTER TABLE read.recipe_details
    ADD COLUMN distro         jsonb,
    ADD COLUMN host_recipe_id integer,
    ADD COLUMN guestname      text,
    ADD COLUMN guestargs      text,
    ADD COLUMN reservesys     jsonb;
CREATE INDEX recipe_details_set ON read.recipe_details (recipe_set_id);
CREATE INDEX recipe_details_host ON read.recipe_details (host_recipe_id) WHERE host_recipe_id IS NOT NULL;

-- A command for a person's reservation has no recipe to take the distro tree from.
ALTER TABLE read.commands
    ALTER COLUMN recipe_id DROP NOT NULL,
    ADD COLUMN distro_tree_id integer;
UPDATE read.commands c SET distro_tree_id = d.distro_tree_id
FROM read.recipe_details d WHERE d.recipe_id = c.recipe_id AND c.kind = 'provision';
-- What a lab controller has not done yet, however much it has done.
CREATE INDEX commands_unfinished ON read.commands (lab_controller, command_id)
    WHERE until_position = 9223372036854775807 AND state IN ('queued', 'running');

-- A pool's version now counts the systems that come and go.
UPDATE read.documents p SET version = (
    SELECT max(e.originator_version) FROM log.events e
    WHERE e.originator_id = 'pool/' || p.name
      AND e.notification_id <= (SELECT position FROM read.progress WHERE name = 'all'))
WHERE p.kind = 'pool' AND p.until_position = 9223372036854775807;
