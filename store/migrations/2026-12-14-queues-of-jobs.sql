-- The queue of each job. All jobs from before this migration are in `root.default`.
ALTER TABLE read.job_documents ADD COLUMN queue text NOT NULL DEFAULT 'root.default';

CREATE INDEX job_documents_queue ON read.job_documents (partition, queue, job_id DESC) WHERE queue <> 'root.default';
