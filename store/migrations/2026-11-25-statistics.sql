-- Nobody looks for rows by what stands in a document: to sample and sort a lab's inventories took longer than
-- everything else that ANALYZE does here together.

ALTER TABLE read.systems ALTER COLUMN inventory SET STATISTICS 0;
ALTER TABLE read.documents ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE read.job_documents ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE read.jobs ALTER COLUMN changed SET STATISTICS 0;
ALTER TABLE read.recipe_details
    ALTER COLUMN tasks SET STATISTICS 0,
    ALTER COLUMN distro SET STATISTICS 0,
    ALTER COLUMN reservesys SET STATISTICS 0;
ALTER TABLE read.task_results ALTER COLUMN log_urls SET STATISTICS 0;
