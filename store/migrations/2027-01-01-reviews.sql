-- Reviews of ended recipe sets, and waivers of their failures, in the read models. Each is a document with the person, the
-- time and the reason; null stands for none. No set was reviewed before this migration.
ALTER TABLE read.recipe_sets ADD COLUMN review jsonb, ADD COLUMN waiver jsonb;

ALTER TABLE read.tasks ADD COLUMN waiver jsonb;
