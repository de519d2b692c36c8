"""What reaches a model before it is asked for it: rows scaled together with those of the test, windows that hold their
own target or lie beside those of the test, rows that the model was trained on in an earlier fold."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations, product

from engine.findings.diagnosis import MOST_NEAR, Diagnosis, grouped, line, near
from engine.program.names import called, dotted, names_read, plain_names
from engine.program.source import Source
from engine.program.tree import Loop, assigned
from engine.trace import Finding, Op, Tensor

_STATISTICS = ("mean", "std", "min", "max", "amin", "amax")
_MOST_PICKS = 8
_WITHOUT = ("setdiff1d", "delete", "difference")
_STARTS_ANEW = ("load_state_dict", "apply", "reset_parameters", "deepcopy")


def scaled_with_its_tests(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Rows that train a model, scaled by the mean or deviation of a table that also holds rows that only test it."""
    for stat in diagnosis.ops_named(_STATISTICS) if diagnosis.steps else ():
        table, made = diagnosis.input_of(stat), diagnosis.output_of(stat)
        is_of_columns = table is not None and made is not None and made.shape[-1:] == table.shape[1:]
        if table is None or made is None or stat.iteration or len(table.shape) != 2 or not is_of_columns:
            continue
        shares = (op for op in diagnosis.takers.get(made.id, ()) if op.name in ("sub", "div"))
        tables = [each for op in shares for each in _alike(diagnosis, table, op)]
        picks = [op for each in tables for op in diagnosis.takers.get(each, ()) if op.name == "getitem"]
        parts = grouped(picks[:_MOST_PICKS], lambda pick: _is_learnt_from(diagnosis, pick))
        for learnt, test in product(parts.get(True, ()), parts.get(False, ())):
            rows = [_rows(diagnosis, pick) for pick in (learnt, test)]
            is_learnt = rows[1] in [_rows(diagnosis, pick) for pick in parts[True]]
            if all(rows) and not is_learnt and _parted(diagnosis.code, rows):
                yield diagnosis.warning(
                    "scaled_with_its_tests",
                    stat,
                    tensors=(table.id, *stat.outputs[:1]),
                    name=diagnosis.say(table.id),
                    count=str(table.shape[0]),
                    train=diagnosis.code.excerpt(learnt.span),
                    test=diagnosis.code.excerpt(test.span),
                    test_line=line(test.span),
                )
                return


def _alike(diagnosis: Diagnosis, table: Tensor, op: Op) -> list[str]:
    """What was computed, number for number, of a table by an op and those after it."""

    def further(tensor: str) -> Iterator[str]:
        made = (taker.outputs[0] for taker in diagnosis.takers.get(tensor, ()) if taker.outputs)
        return (each for each in made if diagnosis.tensors[each].shape == table.shape)

    return [each for each in near(op.outputs, further) if diagnosis.tensors[each].shape == table.shape]


def _is_learnt_from(diagnosis: Diagnosis, pick: Op) -> bool | None:
    """Whether a pass came back from what was computed of some rows; None where no model took them, or of too many."""
    found = list(diagnosis.computed_from(pick.outputs))
    if any(map(diagnosis.reaches_a_pass, found)):
        return True
    return False if len(found) < MOST_NEAR - 1 and any(op.module is not None for op in found) else None


def _rows(diagnosis: Diagnosis, pick: Op) -> str:
    """The rows that are picked, as they are written."""
    node = diagnosis.code.at(pick.span)
    return ast.unparse(node.slice) if isinstance(node, ast.Subscript) else ""


def _parted(code: Source, rows: Iterable[str]) -> tuple[str, str] | None:
    """The first two of some choices of rows that have none in common."""
    picked = {ast.unparse(node.slice): node for node in code.nodes if isinstance(node, ast.Subscript)}
    values: dict[str, list[ast.expr]] = {}
    for target, value in (pair for each in code.bindings for pair in assigned(each)):
        values.setdefault(dotted(target), []).append(value)

    def choice(written: str) -> ast.expr:
        """What a name stands for; else where the rows are picked of a table, or the name itself."""
        bound = values.get(written, ())
        return bound[0] if len(bound) == 1 else picked.get(written, ast.Name(written))

    chosen = {each: choice(each) for each in rows}
    apart = ((one, other) for one, other in permutations(chosen, 2) if _are_apart(chosen[one], chosen[other], other))
    return next(apart, None)


def _are_apart(one: ast.expr, other: ast.expr, name: str) -> bool:
    """Whether two choices of rows have none in common, as they are written: one begins where the other ends, or is
    what the other, of that name, leaves."""
    match one, other:
        case ast.Subscript(first, ast.Slice(upper=ast.expr() as end)), ast.Subscript(
            second, ast.Slice(lower=ast.expr() as begin)
        ):
            return _same(first, second) and _same(end, begin)
        case ast.Call() as rest, _ if called(rest) in _WITHOUT:
            return name in names_read(rest)
        case ast.UnaryOp(ast.Invert(), taken), _:
            return ast.unparse(taken) == name
        case rest, ast.Subscript(ast.Name(parts), ast.Name(own)):
            unequal = (each for each in ast.walk(rest) if isinstance(each, ast.Compare))
            is_other = any(isinstance(each.ops[0], ast.NotEq) and own in names_read(each) for each in unequal)
            return is_other and parts in names_read(rest)
    return False


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def parted_in_turn(code: Source, loop: Loop) -> tuple[str, str] | None:
    """The names of two choices of rows that have none in common, made anew in each turn of a loop from its target."""
    if not isinstance(loop, ast.For):
        return None
    return _parted(code, sorted(_moving(loop))) or _yielded_apart(code, loop)


def _moving(loop: ast.For) -> set[str]:
    """What a loop makes anew in each turn from its target."""
    moving = {name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)}
    for statement in (each for each in loop.body if isinstance(each, ast.Assign)):
        moving |= {dotted(target) for target, value in assigned(statement) if not moving.isdisjoint(names_read(value))}
    return moving - {""}


def _yielded_apart(code: Source, loop: ast.For) -> tuple[str, str] | None:
    """The same of a loop over what a generator of the program yields two by two."""
    calls = [each for each in ast.walk(loop.iter) if isinstance(each, ast.Call)]
    made = [each for each in code.functions if not {*calls}.isdisjoint(code.calls_to(each))]
    targets = [[dotted(each) for each in node.elts] for node in ast.walk(loop.target) if isinstance(node, ast.Tuple)]
    for given in ast.walk(made[0]) if len(made) == 1 and targets else ():
        inner = code.enclosing(given, ast.For)
        if isinstance(given, ast.Yield) and isinstance(given.value, ast.Tuple) and inner is not None:
            names = dict(zip(map(dotted, given.value.elts), targets[-1], strict=False))
            pair = _parted(code, sorted(names.keys() & _moving(inner)))
            return (names[pair[0]], names[pair[1]]) if pair is not None else None
    return None


def trained_on_its_tests(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model from before the loop over folds, trained further in each: what a fold tests it with, it was trained on in
    those before."""
    code = diagnosis.code
    outermost = [call for call in diagnosis.trace.calls if call.parent is None and call.span is not None]
    spans = {*(call.span for call in outermost), *(step.span for step in diagnosis.steps)}
    runs = {span: code.loops(at) for span in spans if (at := code.statement_at(span)) is not None}
    for loop in (each for each in code.nodes if isinstance(each, ast.For) and diagnosis.has_run(each)):
        steps = [step for step in diagnosis.steps if loop in runs.get(step.span, ())]
        anew = [call for call in code.calls if called(call) in _STARTS_ANEW]
        if len(steps) < 2 or any(loop in code.loops(call) or _is_called_often(code, call) for call in anew):
            continue
        modes = {
            (diagnosis.modules[call.module].path, call.training and call.grad_mode == "grad")
            for call in outermost
            if loop in runs.get(call.span, ())
        }
        both = (path for path, _ in sorted(modes) if {(path, True), (path, False)} <= modes)
        bound = (code.assignments(path) for path in both)
        made = [each[0] for each in bound if len(each) == 1 and each[0].lineno < loop.lineno]
        if made and (pair := parted_in_turn(code, loop)):
            yield diagnosis.warning(
                "trained_on_its_tests",
                made[0],
                model=dotted(made[0].targets[0]),
                train=pair[0],
                test=pair[1],
                loop_line=str(loop.lineno),
            )
            return


def _is_called_often(code: Source, call: ast.Call) -> bool:
    """Whether a call stands in a function that more than one place calls, and may run in any loop."""
    function = code.function(call)
    return function is not None and len(code.calls_to(function)) > 1


def trained_on_all_parts(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loader of the whole set that trains, where what tests is a part that `random_split` took of that set and no
    part ever trains."""
    code = diagnosis.code
    every = ((loop, _loaded(diagnosis, loop)) for loop in code.nodes if isinstance(loop, ast.For))
    loaded = {loop: of for loop, of in every if of is not None and diagnosis.has_run(loop)}
    places = [at for pass_ in diagnosis.ended if diagnosis.steps and (at := code.at(pass_.span)) is not None]
    training = {loop for at in places for loop in code.loops(at)}
    trained = dict(of for loop, of in loaded.items() if loop in training)
    is_alone = all(trained.keys() & {loaded[loop][0] for loop in code.loops(at) if loop in loaded} for at in places)
    for binding in code.bindings if trained and is_alone else ():
        made, parts = binding.value, plain_names(getattr(binding.targets[0], "elts", ()))
        whole = dotted(made.args[0]) if isinstance(made, ast.Call) and made.args else ""
        if not isinstance(made, ast.Call) or called(made) != "random_split" or whole not in trained:
            continue
        tests = [(loop, name) for loop, (name, _) in loaded.items() if loop not in training and name in parts]
        if len({name for _, name in tests}) == 1 and not trained.keys() & {*parts}:
            yield diagnosis.warning(
                "trained_on_all_parts",
                trained[whole],
                whole=whole,
                test=tests[0][1],
                train=next((part for part in parts if part != tests[0][1]), parts[0]),
                split_line=str(binding.lineno),
                test_line=str(tests[0][0].lineno),
            )


def _loaded(diagnosis: Diagnosis, loop: ast.For) -> tuple[str, ast.Call] | None:
    """The set that a loop goes over by a loader, and what made that one."""
    over = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and called(loop.iter) == "enumerate" else loop.iter
    made = diagnosis.value_of(dotted(over)) if isinstance(over, ast.Name) else over
    if not isinstance(made, ast.Call) or called(made) != "DataLoader" or not made.args:
        return None
    function, name = diagnosis.code.function(made), dotted(made.args[0])
    given = function.args.args if function is not None else []
    return (name, made) if name not in [each.arg for each in given] else None


def windows_holding_targets(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Rows cut out of a series, `series[i : i + n]`, kept beside `series[i + n - 1]`, which is the last of them."""
    code = diagnosis.code
    if any(isinstance(each, ast.Slice) and each.upper is not None and _is_minus_one(each.upper) for each in code.nodes):
        return  # windows are cut there
    for pieces in _kept_together(diagnosis):
        kept = {code.text(piece) for piece in pieces}
        for window, target in permutations(pieces, 2):
            match window.slice, target.slice:
                case ast.Slice(upper=ast.expr() as end), ast.expr() as place if not isinstance(place, ast.Slice):
                    ahead = _terms(end)
                case _:
                    continue
            ahead.subtract(_terms(place))
            series, last = code.text(target.value), code.text(end)
            is_last = {name: count for name, count in ahead.items() if count} == {"": 1}
            if not is_last or code.text(window.value) != series or not diagnosis.has_run(target):
                continue
            if f"{series}[{last}]" not in kept:
                yield diagnosis.warning(
                    "window_holds_target",
                    target,
                    fix=(code.replace(target.slice, last),),
                    target=code.excerpt(code.span(target)),
                    window=code.excerpt(code.span(window)),
                    window_line=str(window.lineno),
                    series=series,
                    end=last,
                )


def _is_minus_one(node: ast.expr) -> bool:
    return ast.unparse(node) == "-1"


def _kept_together(diagnosis: Diagnosis) -> Iterator[list[ast.Subscript]]:
    """Parts of something that are appended to lists one after the other, returned together, or collected by
    comprehensions that run alike."""
    alike: dict[str, list[ast.expr]] = {}
    for each in (node for node in diagnosis.code.nodes if isinstance(node, ast.ListComp)):
        alike.setdefault(" ".join(map(ast.unparse, each.generators)), []).append(each.elt)
    groups = list(alike.values())
    for block in diagnosis.code.blocks:
        calls = [each.value for each in block if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
        appended = [call.args[0] for call in calls if called(call) == "append" and call.args]
        returned = [each.value for each in block if isinstance(each, ast.Return)]
        groups.append([*appended, *(each for each in returned if each is not None)])
    for group in groups:
        kept = [part for each in group for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
        plain = [each.args[0] if isinstance(each, ast.Call) and each.args else each for each in kept]
        values = [diagnosis.value_of(each.id) if isinstance(each, ast.Name) else each for each in plain]
        yield [each for each in values if isinstance(each, ast.Subscript)]


def windows_parted_at_random(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Windows of one series, each a step further than the one before, which `random_split` shares out."""
    code = diagnosis.code
    splits = [call for call in code.calls if called(call) == "random_split" and call.args and diagnosis.has_run(call)]
    for loop in (each for each in code.nodes if isinstance(each, ast.For | ast.ListComp) and splits):
        runs = loop.generators[0] if isinstance(loop, ast.ListComp) else loop
        names = _takes_each(runs)
        for window in ast.walk(loop):
            match window:
                case ast.Subscript(ast.Name(series), ast.Slice(ast.expr() as first, ast.expr() as last)):
                    begin, end = _terms(first), _terms(last)
                case _:
                    continue
            moves = [name for name in names if begin[name] == end[name] == 1]
            end.subtract(begin)
            if not moves or +end == Counter({"": 1}):
                continue  # each number stands in one of them alone
            for split in splits:
                if _comes_from(code, split.args[0], loop):
                    yield diagnosis.warning(
                        "windows_parted_at_random",
                        split,
                        window=code.short(window),
                        window_line=str(window.lineno),
                        series=series,
                        counter=moves[0],
                    )
                    return


def _takes_each(runs: ast.For | ast.comprehension) -> set[str]:
    """The counter of a loop over a `range` that leaves nothing out."""
    match runs.iter:
        case ast.Call(func=ast.Name("range"), args=args) if len(args) < 3:
            return {dotted(runs.target)}
    return set()


def _comes_from(code: Source, node: ast.expr, loop: ast.AST) -> bool:
    """Whether something was made of what a loop collects: in its own scope, or returned by the function around it."""
    wanted = set(names_read(node))
    for each in reversed(code.bindings):
        bound = {name.id for name in ast.walk(each.targets[0]) if isinstance(name, ast.Name)}
        if code.function(each) is code.function(node) and not wanted.isdisjoint(bound):
            wanted |= names_read(each.value)
    function, statement = code.function(loop), code.statement(loop)
    if function is not None and code.function(node) is not function:
        return function.name in wanted
    if isinstance(statement, ast.Assign):
        return dotted(statement.targets[0]) in wanted
    calls = (each.func for each in ast.walk(loop) if isinstance(each, ast.Call) and called(each) == "append")
    return any(isinstance(each, ast.Attribute) and dotted(each.value) in wanted for each in calls)


def _terms(node: ast.expr, sign: int = 1) -> Counter[str]:
    """How often a sum holds each of its terms, numbers under the empty name."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            found = _terms(left, sign)
            found.update(_terms(right, sign if isinstance(op, ast.Add) else -sign))
            return found
        case ast.Constant(value=int(value)):
            return Counter({"": sign * value})
    return Counter({ast.unparse(node): sign})
