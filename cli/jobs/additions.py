"""Addition of locks, dependencies and reasons to a job in a file, and replacement of its queue or partition.

XML is changed only at these places, and the lines stay, so that messages of the server name the lines of the
file. A file that is no valid XML or JSON stays unchanged: the server reports its faults.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.parsers import expat

from lxml import etree

from api.intake.json_text import parse_json
from api.intake.xml_job import JOB, read_xml
from api.intake.xml_own import own
from api.intake.xml_text import parse_xml
from cli.arguments.declarations import DeclarationOptions
from domain.contention.algebra import merge
from domain.contention.documents import locks_to_json, raising, read_locks
from domain.errors import FaultyInput

Document = dict[str, Any]

# The name of an element as expat reports it: namespace and local name, separated by a blank.
_LOCKS, _QUEUE, _PARTITION = (
    own(name).removeprefix("{").replace("}", " ") for name in ("locks", "queue", "partition")
)
_JOB = ["job"]
_REPLACING = {_QUEUE: "queue", _PARTITION: "partition"}
_RECIPE = ["job", "recipeSet", "recipe"]


def with_declarations(content: bytes, is_json: bool, added: DeclarationOptions) -> bytes:
    """Return a job, or in JSON several jobs, with declarations beside those that it has.

    A given queue or partition replaces that of the job.
    """
    try:
        return _in_json(content, added) if is_json else _in_xml(content, added)
    except FaultyInput:
        return content


def _in_json(content: bytes, added: DeclarationOptions) -> bytes:
    document = parse_json(content)
    for job in _objects(document["jobs"]) if "jobs" in document else [document]:
        _add_to_job(job, added)
    return json.dumps(document, ensure_ascii=False).encode()


def _add_to_job(job: Document, added: DeclarationOptions) -> None:
    for name, values in added.of_job().items():
        present = job.get(name)
        if name in added.replacing():
            job[name] = values
        elif present is None or isinstance(present, list):
            job[name] = [*(present or ()), *values]
    for recipe in _recipes(job):
        if added.locks:
            recipe["locks"] = _merged(recipe.get("locks"), added)


def _recipes(job: Document) -> Iterator[Document]:
    """Yield the hosts among the recipes, whose locks cover their guests."""
    for recipe_set in _objects(job.get("recipe_sets")):
        yield from _objects(recipe_set.get("recipes"))


def _objects(items: Any) -> list[Document]:
    """Return the objects of a list, none of any other value."""
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _merged(present: Any, added: DeclarationOptions) -> Document:
    """Return the locks of a recipe with the added ones. Raises FaultyInput for faulty present ones."""
    declared = raising(lambda report: read_locks(present or {}, ("locks",), report))
    return locks_to_json(merge(declared, *added.locks))


class _Places(NamedTuple):
    """Byte positions in the XML of a job.

    `recipes` has for each recipe the begin and end of its own `<locks>`; if it has none, both are the place
    for one. `replacing` has those of the job's own queue and partition by field. `job_end` is the place for
    further elements of the job.
    """

    recipes: list[tuple[int, int]]
    replacing: dict[str, tuple[int, int]]
    job_end: int


def _in_xml(content: bytes, added: DeclarationOptions) -> bytes:
    document, walk = read_xml(parse_xml(content), "job", content)
    if walk.faults:
        return content
    places = _places(content)
    at_end = (places.job_end, places.job_end)
    changes = [
        (*places.replacing.get(name, at_end), _elements({name: value}))
        for name, value in added.of_job().items()
    ]
    if added.locks:
        locks = ({"locks": _merged(recipe.get("locks"), added)} for recipe in _recipes(document))
        in_recipes = ({"recipe_sets": [{"recipes": [each]}]} for each in locks)
        texts = (_elements(each, own("locks")) for each in in_recipes)
        changes += [(*place, text) for place, text in zip(places.recipes, texts, strict=True)]
    for begin, end, text in sorted(changes, reverse=True):
        kept_lines = b"\n" * content.count(b"\n", begin, end)
        content = content[:begin] + text + kept_lines + content[end:]
    return content


def _elements(fields: Mapping[str, Any], tag: str | None = None) -> bytes:
    """Return the children of a job with these fields as XML, or its elements of one tag."""
    root = etree.Element("job")
    JOB.write(fields, root)
    return b"".join(etree.tostring(each, encoding="utf-8") for each in (root.iter(tag) if tag else root))


def _places(content: bytes) -> _Places:
    """Return the places in well-formed XML. Raises FaultyInput for an empty job or recipe, which has none."""
    parser = expat.ParserCreate("utf-8", " ")
    path: list[str] = []
    begins: list[int] = []
    recipes: list[tuple[int, int]] = []
    own_locks: list[tuple[int, int]] = []
    replacing: dict[str, tuple[int, int]] = {}
    job_end = last_begin = 0

    def start(name: str, _: Any) -> None:
        nonlocal last_begin
        last_begin = parser.CurrentByteIndex
        path.append(name)
        begins.append(last_begin)

    def end(_: str) -> None:
        nonlocal job_end
        begin, close = begins.pop(), parser.CurrentByteIndex
        # For an empty element, expat reports the position after it.
        is_empty = begin == last_begin and content.startswith(b"/>", close - 2)
        after = close if is_empty else content.index(b">", close) + 1
        if path == [*_RECIPE, _LOCKS]:
            own_locks.append((begin, after))
        elif path[:-1] == _JOB and path[-1] in _REPLACING:
            replacing[_REPLACING[path[-1]]] = begin, after
        elif path in (_RECIPE, _JOB) and is_empty:
            raise FaultyInput(())
        elif path == _RECIPE:
            recipes.append(own_locks.pop() if own_locks else (close, close))
        elif path == _JOB:
            job_end = close
        path.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(content, True)
    return _Places(recipes, replacing, job_end)
