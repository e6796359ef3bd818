-- Results have a path and facts about their logs. What a lab controller reported before has neither.

ALTER TABLE read.task_results
    ADD COLUMN path text NOT NULL DEFAULT '',
    ADD COLUMN logs jsonb NOT NULL DEFAULT '[]';
ALTER TABLE read.task_results ALTER COLUMN logs SET STATISTICS 0;
