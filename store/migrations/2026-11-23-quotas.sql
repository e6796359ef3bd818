-- Counts for quotas: bytes of log by actor and day, and unfinished recipes by owner. The statement that appends to the
-- log changes them in the same transaction, so they hold for all processes and survive restarts.

-- One row is updated by each commit of its actor: free space on the page keeps these updates out of the index.
CREATE TABLE live.written (
    actor  text   NOT NULL,
    day    date   NOT NULL,
    events bigint NOT NULL,
    bytes  bigint NOT NULL,
    PRIMARY KEY (day, actor)
) WITH (fillfactor = 50);

CREATE TABLE live.unfinished (
    owner   text   PRIMARY KEY,
    recipes bigint NOT NULL
) WITH (fillfactor = 50);

-- No append may end between this count and the first append that maintains it.
LOCK TABLE log.writer IN EXCLUSIVE MODE;
INSERT INTO live.unfinished (owner, recipes)
SELECT convert_from(e.state, 'UTF8')::jsonb #>> '{data,owner}', count(*)
FROM log.events e
WHERE e.topic = 'recipe.new' AND NOT EXISTS (
    SELECT FROM log.events f
    WHERE f.originator_id = e.originator_id
      AND f.topic IN ('recipe.completed', 'recipe.cancelled', 'recipe.aborted'))
GROUP BY 1;

GRANT SELECT, INSERT, UPDATE ON live.written, live.unfinished TO labledger_service;
