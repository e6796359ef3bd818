-- The metrics that take longer than a scrape may, as the serving process whose turn it is last computed them.
CREATE TABLE live.slow_metrics (
    is_only         boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    -- The process that computes them, and when its next turn is.
    holder          text        NOT NULL DEFAULT '',
    next_at         timestamptz NOT NULL DEFAULT '-infinity',
    -- Recipes that started up to this position have been sampled.
    judged_position bigint      NOT NULL DEFAULT 0,
    -- Unplaced recipes: a list of objects with reason, priority and recipes.
    counts          jsonb       NOT NULL DEFAULT '[]',
    counts_until    timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO live.slow_metrics DEFAULT VALUES;
GRANT SELECT, UPDATE ON live.slow_metrics TO labledger_service;
