"""The runner of the docs on a page with planted faults."""

from __future__ import annotations

import pytest

from tests.docs.commands import outcomes, recorded
from tests.docs.demo import demo

CORRECT = """
```console
$ labledger submit replay/samples/kernel-smoke.xml
job 1 submitted: recipe set 1, recipe 1 (labledger watch 1)
$ number=1
$ labledger job $number --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["owner"])'
admin
```

<!-- exits: 1 -->
```console
$ labledger job 9
Error: …
Run `labledger jobs` to list what exists.
```

<!-- until: recipe/1 -->
```console
$ labledger events --follow --types job.submitted,recipe.new
…
^C
```

<!-- terminal: bob -->
<!-- exits: 1 -->
```console
$ labledger jobs --url http://127.0.0.1:8080
…
```
"""

FAULTY = """
```console
$ labledger job 1 | head -1
job 2
$ labledger job 9
Error: …
$ labledger jubs
$ echo new
?
$ labledger --help
…
Nothing of the kind
…
```
"""


@pytest.mark.soak
def test_page__with_planted_faults__each_is_found_in_its_line() -> None:
    page = CORRECT + FAULTY
    with demo() as made:
        everything = outcomes(made, page, record=True)
    found = [outcome for outcome in everything if outcome.fault]
    first = page.splitlines().index("$ labledger job 1 | head -1") + 1
    assert [outcome.command.line - first for outcome in found] == [0, 2, 4, 5, 7], "\n\n".join(
        map(str, found)
    )
    words = {outcome.command.text: str(outcome) for outcome in found}
    assert "+job 1" in words["labledger job 1 | head -1"]
    assert "exit status 1, not 0" in words["labledger job 9"]
    assert "exit status 2, not 0" in words["labledger jubs"]
    said = recorded(page, everything)
    assert "$ labledger job 1 | head -1\njob 1\n" in said
    assert "$ echo new\nnew\n" in said
    # The output of a command that failed is not recorded.
    assert "$ labledger job 9\nError: …\n$ labledger jubs\n$ echo" in said
    assert said.startswith(CORRECT)
