-- The partition of each job, of its recipes, and of their rows in the queue. All jobs from before this migration are in
-- the first partition.
ALTER TABLE read.job_documents ADD COLUMN partition integer NOT NULL DEFAULT 1;
ALTER TABLE read.recipe_details ADD COLUMN partition integer NOT NULL DEFAULT 1;
ALTER TABLE read.queue ADD COLUMN partition integer NOT NULL DEFAULT 1;

CREATE INDEX job_documents_partition ON read.job_documents (partition, job_id);

-- The queue of each partition has its own part of the index; a page of all partitions merges these parts.
DROP INDEX read.queue_order;
CREATE INDEX queue_order ON read.queue (partition, (NOT assigned), (-priority), submission, recipe_id)
    WHERE until_position = 9223372036854775807;
