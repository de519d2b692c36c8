"""What was copied and changed by half: a loader of another loader's dataset, a loop that reads what another loop bound,
a name that is given what its neighbour is given."""

import ast
import re
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations, product, takewhile
from typing import TypeGuard

from engine.findings.diagnosis import Diagnosis
from engine.program.names import called, dotted, keyword
from engine.program.tree import blocks_of
from engine.trace import Finding

FEWEST_ALIKE = 3
"""Letters that the names of things begin with that belong together."""
DRAWS_PARTS = ("sampler", "batch_sampler")
"""With one of them two loaders of one dataset take other samples of it."""


def loaders_of_one_dataset(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`test_loader` made of what `train_loader` is made of, while nothing reads the dataset that is called like it."""
    code = diagnosis.code
    loaders = [(each, data) for each in code.bindings if (data := _loaded(each)) and diagnosis.has_run(each)]
    for (first, data), (again, other) in combinations(loaders, 2):
        given, loader, earlier = dotted(data), dotted(again.targets[0]), dotted(first.targets[0])
        if dotted(other) != given or code.function(first) is not code.function(again):
            continue
        for made in _made_like(diagnosis, given, again):
            name = made.id
            own = _words(name) - _words(given)
            most = max(FEWEST_ALIKE - 1, *(_alike(own, _words(each)) for each in (given, earlier)))
            if _alike(own, _words(loader)) > most:
                yield diagnosis.warning(
                    "loader_of_another_set",
                    again,
                    fix=(code.replace(other, name),),
                    loader=loader,
                    given=given,
                    first=earlier,
                    first_line=str(first.lineno),
                    name=name,
                    made_line=str(made.lineno),
                )


def _loaded(statement: ast.Assign) -> ast.expr | None:
    """What a statement makes a loader of, where that takes all of it."""
    call = statement.value
    if (
        not isinstance(call, ast.Call)
        or called(call) != "DataLoader"
        or any(keyword(call, each) for each in DRAWS_PARTS)
    ):
        return None
    word = keyword(call, "dataset")
    data = word.value if word is not None else call.args[0] if call.args else None
    return data if isinstance(data, ast.Name) else None


def _made_like(diagnosis: Diagnosis, name: str, place: ast.stmt) -> Iterator[ast.Name]:
    """What the same call as a name, or one of the same function, was bound to above a place, and of which nothing but
    the length is read."""
    code = diagnosis.code
    of_name = next((each for each in code.bindings if name in _targets(each)), None)
    for each in code.bindings if of_name is not None and code.stores[name] == 1 else ():
        calls = [value for value in (each.value, of_name and of_name.value) if isinstance(value, ast.Call)]
        is_alike = len(calls) == 2 and ast.dump(calls[0].func) == ast.dump(calls[1].func)
        if is_alike and each.lineno < place.lineno and code.function(each) is code.function(place):
            others = (target for other, target in _targets(each).items() if other != name and code.stores[other] == 1)
            yield from (target for target in others if not _is_read(diagnosis, target.id))


def _targets(statement: ast.Assign) -> dict[str, ast.Name]:
    return {node.id: node for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)}


def _is_read(diagnosis: Diagnosis, name: str) -> bool:
    """Whether anything but `len` takes a name."""
    loads = (node for node in diagnosis.code.nodes if isinstance(node, ast.Name) and node.id == name)
    above = [diagnosis.code.parents.get(node) for node in loads if isinstance(node.ctx, ast.Load)]
    return any(not (isinstance(each, ast.Call) and called(each) == "len") for each in above)


def _words(name: str) -> set[str]:
    """What a name is put together of: `mnist_test`, `testLoader`."""
    return {word.lower() for word in re.findall(r"[A-Z]*[a-z]+|[A-Z]+", name)}


def _alike(words: set[str], others: set[str]) -> int:
    """How many letters a word of one name and one of another begin with together."""
    pairs = ([*zip(one, other, strict=False)] for one, other in product(words, others))
    return max((sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], each)) for each in pairs), default=0)


def loops_that_read_another(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`for data, label in valid_loader` whose body reads `labels`, which the loop above bound, and nothing `label`."""
    code = diagnosis.code
    loops = [each for each in code.nodes if isinstance(each, ast.For) and len(_parts(each)) > 1]
    for loop, other in permutations(loops, 2):
        is_beside = code.function(other) is code.function(loop) and not {*code.around(loop)} & {other}
        if not is_beside or loop in code.around(other) or len(_parts(loop)) != len(_parts(other)):
            continue
        for name, meant in zip(_parts(other), _parts(loop), strict=True):
            reads = [each for part in loop.body for each in ast.walk(part) if _reads(each, name)]
            is_idle = not meant.startswith("_") and not any(
                _reads(each, meant) for each in code.nodes if _is_in(diagnosis, each, loop)
            )
            if not reads or not is_idle or not _is_bound_only_by(diagnosis, name, other):
                continue
            calls = [code.span(above) for each in reads if isinstance(above := code.parents.get(each), ast.expr)]
            if any(map(diagnosis.ops_at, calls)) or any(call.span in calls for call in diagnosis.trace.calls):
                yield diagnosis.warning(
                    "batch_of_another_loop",
                    code.statement(min(reads, key=lambda each: each.lineno)),
                    fix=tuple(code.replace(each, meant) for each in reads),
                    name=name,
                    meant=meant,
                    loop_line=str(loop.lineno),
                    other_line=str(other.lineno),
                )


def _parts(loop: ast.For) -> list[str]:
    """The names that a loop takes each of its items apart into; no counter."""
    names = [node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)]
    return names[isinstance(loop.iter, ast.Call) and called(loop.iter) == "enumerate" :]


def _reads(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _is_in(diagnosis: Diagnosis, node: ast.AST, loop: ast.For) -> bool:
    """Whether it stands in the function of a loop, or in one that the loop defines."""
    code = diagnosis.code
    return code.function(node) is code.function(loop) or loop in code.around(node)


def values_of_the_neighbour(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`h, c = h[:, order], h[:, order]`, or two lines so: what `c` was before is read by nothing."""
    code = diagnosis.code
    after = {one: other for node in code.nodes for block in blocks_of(node) for one, other in pairwise(block)}
    for statement in code.bindings:
        one, beside = ([*_given(each)] for each in (statement, after.get(statement)))
        for (target, value), (other, again) in [*combinations(one, 2), *product(one[:1], beside[:1])]:
            names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
            if isinstance(value, ast.Name) or target.id not in names or other.id in {*names, target.id}:
                continue
            before = _unread(diagnosis, other) if ast.dump(value) == ast.dump(again) else None
            if before is not None and diagnosis.ops_at(code.span(again)):
                yield diagnosis.warning(
                    "value_of_the_neighbour",
                    again,
                    fix=tuple(code.replace(each, other.id) for each in ast.walk(again) if _reads(each, target.id)),
                    name=other.id,
                    neighbour=target.id,
                    value=code.short(again),
                    before_line=str(before.lineno),
                )


def _given(statement: ast.stmt | None) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Each name that an assignment binds by itself, with what it is given."""
    match statement:
        case ast.Assign(targets=[ast.Name() as name], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            yield from ((name, value) for name, value in zip(names, values, strict=True) if isinstance(name, ast.Name))


def _unread(diagnosis: Diagnosis, name: ast.Name) -> ast.Name | ast.arg | None:
    """Where what a name stands for before it is bound here came from: the lines above it, of which none reads it."""
    code = diagnosis.code
    block, function = code.block(code.statement(name) or ast.Pass()), code.function(name)
    above = [
        each
        for each in code.nodes
        if isinstance(each, ast.Name | ast.arg) and (each.id if isinstance(each, ast.Name) else each.arg) == name.id
        if each.lineno < name.lineno and (function is None or function in code.around(each))
    ]
    match last := max(above, key=lambda each: (each.lineno, each.col_offset), default=None):
        case ast.arg() if function is not None and function.body == block and not function.args.defaults:
            return last
        case ast.Name(ctx=ast.Store()) if (statement := code.statement(last)) in block:
            return None if isinstance(getattr(statement, "value", None), ast.Constant) else last
    return None


def _is_bound_only_by(diagnosis: Diagnosis, name: str, loop: ast.For) -> bool:
    """Whether nothing else in its function gives a name a value."""
    code, target = diagnosis.code, {*ast.walk(loop.target)}
    own = (node for node in code.nodes if isinstance(node, ast.Name) and node.id == name)
    stores = [node for node in own if not isinstance(node.ctx, ast.Load) and code.function(node) is code.function(loop)]
    return bool(stores) and target.issuperset(stores)
