-- The job that was copied. Jobs from before this migration are no copies.
ALTER TABLE read.job_documents ADD COLUMN origin integer;

CREATE INDEX job_documents_origin ON read.job_documents (origin, job_id DESC) WHERE origin IS NOT NULL;
