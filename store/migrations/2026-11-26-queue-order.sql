-- A page of the queue is found in the order of the queue: of a hundred thousand that wait, the first hundred were sorted
-- out each time.

CREATE INDEX queue_order ON read.queue ((NOT assigned), (-priority), submission, recipe_id)
    WHERE until_position = 9223372036854775807;
