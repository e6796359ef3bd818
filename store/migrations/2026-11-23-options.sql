-- Commands take the options of a recipe from the document of its job, which has all that the job says.

ALTER TABLE read.recipe_details DROP COLUMN kernel_options, DROP COLUMN ks_meta;
