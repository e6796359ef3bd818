-- The number of recipes by state and of systems by condition and usage, kept by the projector: /metrics counts nothing.
-- A row stays when its number is 0. Each page of the log updates some of them: free space keeps the rows on their page.

CREATE TABLE read.recipe_counts (
    state      text   PRIMARY KEY,
    open_count bigint NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE read.system_counts (
    condition  text   NOT NULL,
    usage      text   NOT NULL,
    open_count bigint NOT NULL,
    PRIMARY KEY (condition, usage)
) WITH (fillfactor = 10);

-- No projector may write between this count and the first page that maintains it.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
INSERT INTO read.recipe_counts
SELECT state, count(*) FILTER (WHERE until_position = 9223372036854775807) FROM read.recipes GROUP BY state;
INSERT INTO read.system_counts
SELECT condition, usage, count(*) FILTER (WHERE until_position = 9223372036854775807) FROM read.system_usage
GROUP BY condition, usage;

GRANT SELECT, INSERT, UPDATE, DELETE ON read.recipe_counts, read.system_counts TO labledger_service;
