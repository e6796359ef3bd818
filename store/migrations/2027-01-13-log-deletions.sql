-- Commands to delete logs that are not done: those of removed lab controllers are ended, and /retention counts them.

-- First the lock that a projector takes first.
LOCK TABLE read.progress IN EXCLUSIVE MODE;
CREATE INDEX commands_log_deletions ON read.commands (lab_controller, command_id)
    WHERE kind = 'delete-logs' AND state <> 'completed' AND until_position = 9223372036854775807;
