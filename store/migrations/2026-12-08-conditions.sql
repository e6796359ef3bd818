-- Whether a job states dependencies or reasons, so that pages of the queue need not read the documents of all their jobs.
ALTER TABLE read.job_documents ADD COLUMN has_conditions boolean GENERATED ALWAYS AS (
    document @? '$ ? (exists (@.depends_on) || exists (@.reasons)
                      || exists (@.recipe_sets[*] ? (exists (@.depends_on) || exists (@.reasons))))'
) STORED;
