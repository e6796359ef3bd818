-- The read models: built from the log, and only from it.
--
-- A row of an interval table was true from since_position to before until_position; the open one ends at
-- the largest bigint. Tables without an `until` are facts that never change.

CREATE SCHEMA read;

CREATE TABLE read.progress (
    name        text        PRIMARY KEY,
    position    bigint      NOT NULL,
    recorded_at timestamptz
);
INSERT INTO read.progress (name, position) VALUES ('all', 0);

CREATE TABLE read.job_documents (
    job_id         integer     PRIMARY KEY,
    owner          text        NOT NULL,
    submitter      text        NOT NULL,
    group_name     text,
    whiteboard     text        NOT NULL,
    document       jsonb       NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL
);

CREATE TABLE read.recipe_details (
    recipe_id      integer     PRIMARY KEY,
    recipe_set_id  integer     NOT NULL,
    job_id         integer     NOT NULL,
    owner          text        NOT NULL,
    group_name     text,
    whiteboard     text        NOT NULL,
    role           text,
    distro_tree_id integer,
    kernel_options text        NOT NULL,
    ks_meta        text        NOT NULL,
    tasks          jsonb       NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL
);
CREATE INDEX recipe_details_job ON read.recipe_details (job_id);

CREATE TABLE read.task_results (
    task_id        integer     NOT NULL,
    recipe_id      integer     NOT NULL,
    result         text        NOT NULL,
    message        text        NOT NULL,
    score          double precision,
    log_urls       jsonb       NOT NULL,
    since_position bigint      PRIMARY KEY,
    since          timestamptz NOT NULL
);
CREATE INDEX task_results_recipe ON read.task_results (recipe_id);

CREATE TABLE read.jobs (
    job_id         integer     NOT NULL,
    state          text        NOT NULL,
    result         text        NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (job_id, since_position)
);
CREATE UNIQUE INDEX jobs_open ON read.jobs (job_id) WHERE until_position = 9223372036854775807;

CREATE TABLE read.recipe_sets (
    recipe_set_id  integer     NOT NULL,
    job_id         integer     NOT NULL,
    priority       text        NOT NULL,
    state          text        NOT NULL,
    result         text        NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_set_id, since_position)
);
CREATE UNIQUE INDEX recipe_sets_open ON read.recipe_sets (recipe_set_id)
    WHERE until_position = 9223372036854775807;
CREATE INDEX recipe_sets_job ON read.recipe_sets (job_id);

CREATE TABLE read.recipes (
    recipe_id      integer     NOT NULL,
    state          text        NOT NULL,
    system         text,
    lab_controller text,
    reason         text,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_id, since_position)
);
CREATE UNIQUE INDEX recipes_open ON read.recipes (recipe_id) WHERE until_position = 9223372036854775807;
CREATE INDEX recipes_unfinished ON read.recipes (state)
    WHERE until_position = 9223372036854775807 AND state NOT IN ('completed', 'cancelled', 'aborted');

CREATE TABLE read.tasks (
    task_id        integer     NOT NULL,
    recipe_id      integer     NOT NULL,
    state          text        NOT NULL,
    result         text        NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (task_id, since_position)
);
CREATE UNIQUE INDEX tasks_open ON read.tasks (task_id) WHERE until_position = 9223372036854775807;
CREATE INDEX tasks_recipe ON read.tasks (recipe_id);

-- Unplaced recipes, in the order of the queue.
CREATE TABLE read.queue (
    recipe_id      integer     NOT NULL,
    state          text        NOT NULL,
    assigned       boolean     NOT NULL,
    priority       smallint    NOT NULL,
    submission     bigint      NOT NULL,
    lab_controller text,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (recipe_id, since_position)
);
CREATE UNIQUE INDEX queue_open ON read.queue (recipe_id) WHERE until_position = 9223372036854775807;
-- What is true now or was true lately ends late: those rows are found without the history before them.
CREATE INDEX queue_until ON read.queue (until_position);

CREATE TABLE read.idle_pool (
    fqdn           text        NOT NULL,
    lab_controller text        NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (fqdn, since_position)
);
CREATE UNIQUE INDEX idle_pool_open ON read.idle_pool (fqdn) WHERE until_position = 9223372036854775807;
CREATE INDEX idle_pool_until ON read.idle_pool (until_position);

CREATE TABLE read.system_usage (
    fqdn           text        NOT NULL,
    condition      text        NOT NULL,
    usage          text        NOT NULL,
    recipe_id      integer,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (fqdn, since_position)
);
CREATE UNIQUE INDEX system_usage_open ON read.system_usage (fqdn) WHERE until_position = 9223372036854775807;
CREATE INDEX system_usage_until_position ON read.system_usage (until_position);
CREATE INDEX system_usage_until ON read.system_usage (until);

CREATE TABLE read.systems (
    fqdn           text        NOT NULL,
    version        bigint      NOT NULL,
    lab_controller text        NOT NULL,
    owner          text        NOT NULL,
    condition      text        NOT NULL,
    pools          jsonb       NOT NULL,
    inventory      jsonb       NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (fqdn, since_position)
);
CREATE UNIQUE INDEX systems_open ON read.systems (fqdn) WHERE until_position = 9223372036854775807;

-- Users, groups, pools, lab controllers, distro trees and tokens, by version.
CREATE TABLE read.documents (
    kind           text        NOT NULL,
    name           text        NOT NULL,
    version        bigint      NOT NULL,
    document       jsonb       NOT NULL,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (kind, name, since_position)
);
CREATE UNIQUE INDEX documents_open ON read.documents (kind, name) WHERE until_position = 9223372036854775807;

-- What lab controllers must do. The id of a command is the position of the event it follows from.
CREATE TABLE read.commands (
    command_id     bigint      NOT NULL,
    lab_controller text        NOT NULL,
    kind           text        NOT NULL,
    system         text        NOT NULL,
    recipe_id      integer     NOT NULL,
    state          text        NOT NULL,
    reason         text,
    since_position bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until_position bigint      NOT NULL DEFAULT 9223372036854775807,
    until          timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (command_id, since_position)
);
CREATE UNIQUE INDEX commands_open ON read.commands (command_id) WHERE until_position = 9223372036854775807;
CREATE INDEX commands_lab ON read.commands (lab_controller, command_id)
    WHERE until_position = 9223372036854775807;

GRANT USAGE ON SCHEMA read TO labledger_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA read TO labledger_service;
