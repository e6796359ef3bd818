-- The reason of the event that a command follows from, null for the start of a recipe or its completion. It is known for
-- former commands about recipes, not for those about reservations.
ALTER TABLE read.commands ADD COLUMN cause_reason text;

UPDATE read.commands c SET cause_reason = r.reason
FROM read.recipes r
WHERE c.kind <> 'provision' AND r.recipe_id = c.recipe_id AND r.since_position = c.command_id;
