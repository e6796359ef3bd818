-- The attempt of a recipe, and whether it waits because its set was preempted. No recipe was preempted before this
-- migration. Commands about recipes name the attempt; it is null for commands about reservations.
ALTER TABLE read.recipes
    ADD COLUMN attempt   integer NOT NULL DEFAULT 1,
    ADD COLUMN preempted boolean NOT NULL DEFAULT false;

ALTER TABLE read.commands ADD COLUMN attempt integer;

UPDATE read.commands SET attempt = 1 WHERE recipe_id IS NOT NULL;
