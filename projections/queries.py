"""Questions to the read models, by name. A row has the columns that the query selects, under their names.

`at` is a log position, as `Reader.as_of` gives it: answers are what was true then. What has not ended has no
end (null): its interval is open, which tables write as an `until_position` of 9223372036854775807.
A `version` is that of the aggregate; it comes from the log where the aggregate also moves without its row
here. Guest recipes are in every list of recipes but the queue, and name their host.

What an answer hands on untouched is JSON text: nobody makes values of it only to write them again.
"""

from __future__ import annotations

from pathlib import Path

from postgres.named_sql import named_queries

QUERIES = {
    name: query
    for about in ("positions", "systems", "jobs", "recipes", "directory", "metrics")
    for name, query in named_queries(Path(__file__).with_name(f"{about}.sql")).items()
}
