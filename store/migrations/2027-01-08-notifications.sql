-- The notifier: its position in the log, and the messages that it sends. Beside the log, because a message that was
-- sent is no fact about the lab; the choices of people are events (user.notifications-changed).

CREATE TABLE live.notifier (
    is_only      boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    -- The process that is active, and until when no other one takes its place.
    holder       text        NOT NULL DEFAULT '',
    held_until   timestamptz NOT NULL DEFAULT '-infinity',
    -- The database in which the position was stored; another one after a restore. Null before the first start.
    database_id  text,
    position     bigint      NOT NULL DEFAULT 0,
    -- Ends of kept systems that were near at this time have been considered.
    timers_until timestamptz NOT NULL DEFAULT 'epoch'
);
INSERT INTO live.notifier DEFAULT VALUES;
GRANT SELECT, UPDATE ON live.notifier TO labledger_service;

CREATE TABLE live.notifications (
    number          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The same whenever the same message is made again.
    id              text        NOT NULL UNIQUE,
    user_name       text        NOT NULL,
    channel         text        NOT NULL,
    -- A mail address that the job of the user names; null: that of the user.
    address         text,
    kind            text        NOT NULL,
    title           text        NOT NULL,
    event           text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- waiting, sent or given-up
    state           text        NOT NULL DEFAULT 'waiting',
    -- Messages of one lane are sent one after another: all mails, or the webhook of one user.
    lane            text        NOT NULL,
    attempts        integer     NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    last_error      text,
    finished_at     timestamptz
);
CREATE INDEX notifications_due ON live.notifications (next_attempt_at) WHERE state = 'waiting';
CREATE INDEX notifications_lane ON live.notifications (lane) WHERE state = 'waiting';
CREATE INDEX notifications_user ON live.notifications (user_name, number);
CREATE INDEX notifications_unsent ON live.notifications (state) WHERE state <> 'sent';
CREATE INDEX notifications_finished ON live.notifications (finished_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON live.notifications TO labledger_service;

-- URLs and secrets of webhooks. A URL may be a secret, too. Which one counts is in the log.
CREATE TABLE secret.webhooks (
    webhook_id text        PRIMARY KEY,
    user_name  text        NOT NULL,
    url        text        NOT NULL,
    secret     text        NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX webhooks_user ON secret.webhooks (user_name);
GRANT SELECT, INSERT, DELETE ON secret.webhooks TO labledger_service;
