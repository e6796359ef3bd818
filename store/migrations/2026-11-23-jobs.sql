-- What people have changed of a job since it was submitted; nobody could so far.

ALTER TABLE read.jobs ADD COLUMN changed jsonb;
