-- A cancelled or aborted task, recipe set or job has at least the result Warn. These rows are written as `replay rebuild`
-- writes them from now on, but for the moment of the result where a set went on after one of its recipes was given up.

UPDATE read.tasks SET result = 'Warn'
WHERE state IN ('cancelled', 'aborted') AND result IN ('New', 'None', 'Skip', 'Pass');
UPDATE read.recipe_sets SET result = 'Warn'
WHERE state IN ('cancelled', 'aborted') AND result IN ('New', 'None', 'Skip', 'Pass');
UPDATE read.jobs SET result = 'Warn'
WHERE state IN ('cancelled', 'aborted') AND result IN ('New', 'None', 'Skip', 'Pass');
