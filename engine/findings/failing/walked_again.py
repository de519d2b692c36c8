"""Passes over a part of the graph that an earlier one has freed."""

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeGuard

from msgspec.structs import replace

from engine.findings.diagnosis import UNKNOWN, Diagnosis, line, walk
from engine.findings.failing.case import Case, known, only_if
from engine.findings.optimizer_code import models_given
from engine.findings.shared_data import argument_written
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.rewriting import Written, written
from engine.program.tree import Function, defined_in
from engine.trace import Finding, Op, Pass, Span


def second_time(case: Case) -> Finding:
    """A pass over a part of the graph that an earlier one has freed."""
    diagnosis, failed = case.diagnosis, known(case.diagnosis.failed_pass())
    reached = diagnosis.reached_from(root_nodes(failed))
    before = [pass_ for pass_ in diagnosis.trace.passes if _has_freed(diagnosis, pass_, reached)]
    only_if(before)
    first = before[-1]
    shared = last_shared(diagnosis, first, reached)
    found = Walked(diagnosis, first, failed, shared, last_used(diagnosis, shared) if shared is not None else None)
    is_again = {root.node for root in failed.roots} <= {root.node for root in first.roots}
    is_in_loop = case.statement is None or case.code.in_loop(case.statement)
    use, kept = found.use_to_cut(), found.put_in()
    is_two = found.is_of_two_optimizers
    code, where, fix = "", failed.span, found.retained() if len(before) == 1 and not is_two else ()
    said = {"shared": found.name, "shared_line": line(found.place), "first_line": line(first.span)}
    is_stepped = bool(found.stepped_between())
    flags = {"is_stepped": is_stepped and not is_two, "is_two": is_two, "is_whole": not is_stepped and not is_two}
    said |= {name: str(int(flag)) for name, flag in flags.items()}
    if kept is not None:
        code, where, fix = "list_not_emptied", case.code.span(kept.node), found.emptied(kept)
        said |= {"list": kept.said["list"], "value": kept.said["value"]}
    elif first.kind == "grad" and not first.create_graph and _is_in_loss(case, first, failed):
        code, where, fix = "second_backward_after_grad", first.span, found.recorded()
        said["first"] = case.code.excerpt(first.span)
    elif first.span == failed.span and (is_in_loop or not is_again) and found.turn and found.is_for_training:
        is_carried = found.turn == "carried"
        code, where = "second_backward_in_loop" if is_carried else "made_before_loop", found.place or failed.span
        is_fresh = not is_carried and found.is_trained and found.is_reached_anew and not found.is_of_weights
        if code == "made_before_loop" and found.is_trained and found.is_in_init:
            code, is_fresh = "made_in_init", False
        lines = found.lines_before() if found.is_trained and not is_fresh else []
        said |= {"cut": found.detaching(), "is_trained": str(int(found.is_trained)), **found.where_to_cut()}
        said |= {"is_fresh": str(int(is_fresh)), "is_moved": str(int(found.is_trained and not is_fresh))}
        said |= {"shared_lines": ", ".join(lines) or said["shared_line"], "is_several": str(int(len(lines) > 1))}
        leaves = diagnosis.say_all(found.leaves)
        said["leaves"] = "" if found.is_trained or leaves == UNKNOWN else f" ({leaves})"
        fix = found.cut_between_turns() if is_carried else found.detached_before() if is_fresh else ()
        if is_carried and shared is not None and (anew := argument_written(diagnosis, shared)) is not None:
            code, fix, said = "argument_changed", anew.fix, said | anew.said | {"is_followed": "1"}
    elif use is not None:
        code, where, fix = "second_backward_detach", found.outside(use), found.detached(use)
        said |= {"use": case.code.excerpt(where), "use_line": line(where)}
    if (slope := _slope_walked(found, reached)) is not None:
        said |= {"shared": diagnosis.say(slope[0]), "shared_line": line(slope[1].span)}
    tensors = [diagnosis.tensors.get(root.tensor or "") for root in failed.roots]
    told = case.finding(code, said, span=where, tensors=tensors, fix=fix, line=line(failed.span))
    failed_at = (failed.failed_node,) if failed.failed_node is not None else ()
    return replace(told, nodes=(*failed_at, *root_nodes(failed)))


def _slope_walked(found: "Walked", reached: set[str]) -> tuple[str, Pass] | None:
    """A gradient of whose own graph both passes walk a part, where it was made after the last op that they share, and
    the pass that gave it."""
    diagnosis = found.diagnosis
    begin = diagnosis.op_step.get(found.op.id, -1) if found.op is not None else -1
    walked = reached.intersection(visit.node for visit in found.first.visits)
    if all(diagnosis.nodes[node].made_by is None for node in walked):
        return None
    for pass_ in reversed(diagnosis.trace.passes):
        for result in pass_.results if pass_.create_graph and diagnosis.pass_step.get(pass_.id, -1) > begin else ():
            made = diagnosis.tensors.get(result or "")
            if made is not None and made.grad_fn is not None and made.grad_fn.node in reached:
                return made.id, pass_
    return None


def _is_in_loss(case: Case, first: Pass, failed: Pass) -> bool:
    """Whether the gradients of a pass went into what the failed one began at, or `backward()` is yet to come."""
    results = {case.diagnosis.identity(one) for one in first.results if one is not None}
    roots = [root.tensor for root in failed.roots if root.tensor is not None]
    behind = map(case.diagnosis.identity, walk(roots, case.diagnosis.made_from))
    last = case.statement.lineno if case.statement is not None else 0
    later = (call.lineno > last for call in case.code.calls if called(call) == "backward")
    return not results.isdisjoint(behind) or (failed.kind == "grad" and any(later))


def root_nodes(pass_: Pass) -> tuple[str, ...]:
    return tuple(root.node for root in pass_.roots if root.node is not None)


class Walked(NamedTuple):
    """Two passes, and the last op of the part of the graph that both walk."""

    diagnosis: Diagnosis
    first: Pass
    failed: Pass
    op: Op | None
    tensor: str | None
    """What the op gave that the second pass comes from."""

    @property
    def place(self) -> Span | None:
        """Where the shared tensor was made, seen from beside the pass."""
        last = self.diagnosis.op_of_node(self.failed.roots[0].node) if self.failed.roots else None
        return self._called_at(self.op, last if self._named_here else self.op)

    @property
    def name(self) -> str:
        """What the shared tensor is called in the function that runs the pass, or anywhere."""
        return self._named_here or self.diagnosis.say(self.tensor)

    @property
    def _named_here(self) -> str:
        """What the function that runs the pass calls what the op gives, in whatever turn."""
        diagnosis, code = self.diagnosis, self.diagnosis.code
        if self.op is None or self.tensor not in self.op.outputs:
            return ""
        at = self.op.outputs.index(self.tensor)
        ran, own = diagnosis.ops_at(self.op.span), self._given_from(self.op)  # a call may run several alike
        ran = sorted(ran, key=lambda op: self._given_from(op) != own)
        turns = [op.outputs[at] for op in ran if at < len(op.outputs)]
        names = [name for turn in turns if turn in diagnosis.tensors for name in diagnosis.tensors[turn].names]
        statement = code.statement_at(self.failed.span)
        function = code.function(statement) if statement is not None else None
        bound = {dotted(part) for one in code.bindings if code.function(one) is function for part in _bound_by(one)}
        return next((name for name in names if name in bound), "")

    def _given_from(self, op: Op) -> tuple[str, list[tuple[str, int]]]:
        """Its name, and which results of which ops it was given."""
        makers = ((input_, self.diagnosis.maker.get(input_)) for input_ in op.inputs)
        return op.name, [
            (maker.name, maker.outputs.index(input_)) for input_, maker in makers if maker and input_ in maker.outputs
        ]

    @property
    def turn(self) -> Literal["carried", "before", ""]:
        """`carried` from turn to turn, where what made the shared tensor ran again between the passes; made `before`
        the loop that the pass stands in; or neither."""
        diagnosis, code, place = self.diagnosis, self.diagnosis.code, self.place
        begin, end = (diagnosis.pass_step[pass_.id] for pass_ in (self.first, self.failed))
        called = (call.first_op for call in diagnosis.trace.calls if call.span == place)
        ran = (diagnosis.op_step.get(op or "", -1) for op in (*called, *(op.id for op in diagnosis.ops_at(place))))
        if any(begin < at < end for at in ran):
            return "carried"
        here, there = code.statement_at(place), code.statement_at(self.failed.span)
        if here is None or there is None:
            return ""
        if code.function(here) is code.function(there):
            loop = next((above for above in code.around(there) if isinstance(above, ast.For | ast.While)), None)
            return "before" if loop is not None and loop not in code.around(here) else ""
        functions = (above for above in code.runs_in(here) if isinstance(above, Function))
        is_once = not code.loops(here) and all(map(code.only_call, functions))
        return "before" if code.loops(there) and is_once else ""

    def lines_before(self) -> list[str]:
        """The lines of the function that made the shared tensor on which its graph was made."""
        code, here = self.diagnosis.code, self.diagnosis.code.statement_at(self.place)
        last = self.diagnosis.op_of_node(self.failed.roots[0].node) if self.failed.roots else None
        behind = (op for op in self.diagnosis.makers_behind([self.tensor or ""]) if op.nodes)
        made = (code.statement_at(self._called_at(op, last)) for op in behind)
        ways = ((one, *code.runs_in(one)) for one in made if one is not None and here is not None)
        found = (next((one for one in way if self._is_beside(one, here)), None) for way in ways)
        return list(map(str, sorted({one.lineno for one in found if one is not None})))

    def _is_beside(self, node: ast.AST, here: ast.AST | None) -> TypeGuard[ast.stmt]:
        """Whether it is a statement of the same function that is done there, and not one that only defines."""
        function = self.diagnosis.code.function
        is_done = isinstance(node, ast.stmt) and not isinstance(node, Function | ast.ClassDef)
        return is_done and here is not None and function(node) is function(here)

    @property
    def is_kept(self) -> bool:
        """Whether the second pass starts from something newer than the first pass, so that only this is old."""
        roots = (self.diagnosis.maker.get(root.tensor or "") for root in self.failed.roots)
        newest = max((self.diagnosis.op_step[op.id] for op in roots if op is not None), default=0)
        return newest > self.diagnosis.pass_step[self.first.id]

    def outside(self, use: Op) -> Span | None:
        """Where the tensor goes into what uses it, seen from where it was made."""
        return self._called_at(use, self.op)

    def _called_at(self, op: Op | None, beside: Op | None) -> Span | None:
        """The outermost call of a module that ran an op and not the one beside it; else the op's own place."""
        if op is None:
            return None
        at = self.diagnosis.op_at
        for call in self.diagnosis.trace.calls:
            first, last = at.get(call.first_op or "", 0), at.get(call.last_op or "", -1)
            if first <= at[op.id] <= last and not (beside is not None and first <= at[beside.id] <= last):
                return call.span or op.span
        return op.span

    def use_to_cut(self) -> Op | None:
        """The op that should have taken the shared tensor without its history: the step after the first pass tells
        whether that pass was meant to reach what lies behind the tensor; if it was, the second one was not."""
        stepped = self.stepped_between()
        if self.op is None or self.tensor is None or not stepped:
            return None
        behind = set(self.diagnosis.leaves_behind([self.tensor]))
        if not behind & stepped:
            return self._use(self.first)
        is_whole = self._leaves_of(self.first) <= behind <= stepped or (
            behind == stepped and self._is_for_others(behind)
        )
        return self._use(self.failed) if is_whole and not self._leaves_of(self.failed) <= behind else None

    def _is_for_others(self, behind: set[str]) -> bool:
        """Whether one optimizer holds what lies behind the shared tensor, and others all else that the second pass
        reaches: each was to be trained by a loss of its own."""
        diagnosis, code = self.diagnosis, self.diagnosis.code
        leaves = {module.path: diagnosis.leaves_of.get(module.id, set()) for module in diagnosis.trace.modules}
        made = (one.value for one in code.bindings if isinstance(one.value, ast.Call))
        given = (models_given(call) for call in made if called(call)[:1].isupper())
        held = [set().union(*(leaves.get(name, set()) for name in names)) for names in given if names]
        beside = self._leaves_of(self.failed) - behind
        return (
            behind in held
            and bool(beside)
            and all(one == behind or not one & behind for one in held)
            and beside <= set().union(*held)
        )

    def stepped_between(self) -> set[str]:
        """The leaves that were updated after the first pass and before the second."""
        begin, end = (self.diagnosis.pass_step.get(pass_.id, 0) for pass_ in (self.first, self.failed))
        steps = (step for step in self.diagnosis.steps if begin < self.diagnosis.update_step.get(step.id, -1) < end)
        return {leaf for step in steps for leaf in self.diagnosis.changed_by(step)}

    @property
    def is_of_two_optimizers(self) -> bool:
        """Whether the shared tensor comes of models that were each given to an optimizer of its own."""
        diagnosis, behind = self.diagnosis, set(self.leaves)
        leaves = {module.path: diagnosis.leaves_of.get(module.id, set()) for module in diagnosis.trace.modules}
        made = (one.value for one in diagnosis.code.bindings if isinstance(one.value, ast.Call))
        given = (models_given(call) for call in made if called(call)[:1].isupper())
        held = (behind & set().union(*(leaves.get(name, set()) for name in names)) for names in given)
        parts = [part for part in held if part]
        return len(parts) > 1 and behind not in parts

    def _leaves_of(self, pass_: Pass) -> set[str]:
        roots = [root.tensor for root in pass_.roots if root.tensor is not None]
        return set(self.diagnosis.leaves_behind(roots))

    def _use(self, pass_: Pass) -> Op | None:
        """The first op that brings the shared tensor into a pass."""
        in_pass = self.diagnosis.reached_from(root.node for root in pass_.roots if root.node is not None)
        identity = self.diagnosis.identity(self.tensor or "")
        takers = (op for op in self.diagnosis.takers.get(self.tensor or "", ()) if in_pass.intersection(op.nodes))
        return next((op for op in takers if identity in map(self.diagnosis.identity, op.inputs)), None)

    def _names_in(self, span: Span | None) -> list[ast.expr]:
        """Where the shared tensor is written in an expression."""
        code, name = self.diagnosis.code, self.name
        node = code.at(span)
        found = [inner for inner in ast.walk(node) if isinstance(inner, ast.expr)] if node is not None else []
        return [inner for inner in found if isinstance(inner, ast.Name | ast.Attribute) and dotted(inner) == name]

    def detached(self, use: Op) -> Edits:
        """The use of the tensor's values alone."""
        written = self._names_in(self.outside(use))
        return (self.diagnosis.code.after(written[0], ".detach()"),) if len(written) == 1 else ()

    def retained(self) -> Edits:
        """Keeping the graph in the first pass, when no step has changed what it saved since."""
        call = self.diagnosis.code.call_at(self.first.span)
        if call is None or keyword(call, "retain_graph") is not None or self.first.span == self.failed.span:
            return ()
        return () if self.stepped_between() else (self.diagnosis.code.argument_added(call, "retain_graph=True"),)

    def recorded(self) -> Edits:
        """Recording the gradients, which keeps the graph too: in both passes, where both give gradients."""
        spans = dict.fromkeys((self.first.span, *([self.failed.span] if self.failed.kind == "grad" else ())))
        calls = [call for span in spans if (call := self.diagnosis.code.call_at(span)) is not None]
        plain = [call for call in calls if not any(keyword(call, name) for name in ("create_graph", "retain_graph"))]
        return tuple(self.diagnosis.code.argument_added(call, "create_graph=True") for call in plain)

    def put_in(self) -> Written | None:
        """The `append` that kept the shared tensor in a list from before the loop that the pass stands in."""
        code, backward = self.diagnosis.code, self.diagnosis.code.statement_at(self.failed.span)
        if self.op is None or self.op.span is None or backward is None or self.first.span != self.failed.span:
            return None
        loops = set(code.loops(backward))
        for call in code.calls:
            put = written(code, call, "LIST.append(VALUE)")
            if put is None or not loops & set(code.loops(call)) or not self._is_given(put.part("VALUE")):
                continue
            name = dotted(put.part("LIST"))
            made = [one for one in code.bindings if name and name in map(dotted, _bound_by(one))]
            if (
                made
                and not any(loops & set(code.loops(one)) for one in made)
                and f"{name}.clear(" not in self.diagnosis.trace.program.code
            ):
                return put
        return None

    def _is_given(self, value: ast.expr) -> bool:
        """Whether an expression gave the shared tensor."""
        code, op = self.diagnosis.code, self.op
        made = code.at(op.span) if op is not None else None
        return (made is not None and made in ast.walk(value)) or dotted(value) == self.name != ""

    def emptied(self, kept: Written) -> Edits:
        """New lists at the head of the loop, for all that are filled beside this one."""
        code, backward = self.diagnosis.code, self.diagnosis.code.statement_at(self.failed.span)
        statement = code.statement(kept.node)
        loops = code.loops(backward) if backward is not None else []
        shared = [loop for loop in loops if loop in code.loops(kept.node)]
        if statement is None or not shared or code.function(statement) is not code.function(shared[0]):
            return ()
        beside = (written(code, one.value, "LIST.append(VALUE)") for one in code.block(statement) if _is_call(one))
        names = [put.said["list"] for put in beside if put is not None]
        return (code.line_above(shared[0].body[0], f"{', '.join(names)} = {', '.join(['[]'] * len(names))}"),)

    def carried(self) -> list[str]:
        """All that goes from turn to turn with its history: what the new part of the graph takes from before it."""
        diagnosis, begin = self.diagnosis, self.diagnosis.pass_step[self.first.id]
        reached, own = diagnosis.reached_from(root_nodes(self.failed)), self.keeper or self.name
        new = (
            op for op in diagnosis.trace.ops if diagnosis.op_step[op.id] > begin and not reached.isdisjoint(op.nodes)
        )
        taken = dict.fromkeys(input_ for op in new for input_ in op.inputs if diagnosis.is_tracked(input_))
        made = (
            self._replace(op=diagnosis.maker[input_], tensor=input_) for input_ in taken if input_ in diagnosis.maker
        )
        before = (one for one in made if one.op is not None and diagnosis.op_step[one.op.id] < begin)
        names = [one.keeper or one.name for one in before if one.turn == "carried"]
        return sorted(names, key=lambda name: name != own) or [own]

    def detaching(self) -> str:
        """The statement that cuts the history of what goes from turn to turn: of tensors, or of a tuple of them."""
        parts = (name.partition("[") for name in self.carried() if name != UNKNOWN)
        right = {name: _detached(name, bracket) for name, bracket, _ in parts}
        return f"{', '.join(right)} = {', '.join(right.values())}"

    @property
    def keeper(self) -> str:
        """The attribute that a function keeps the shared tensor in, where it has another name for it: `self.memory`."""
        code, here = self.diagnosis.code, self.diagnosis.code.statement_at(self.place)
        kept = (
            dotted(target)
            for one in code.bindings
            if here is not None and code.function(one) is code.function(here) and dotted(one.value) == self.name
            for target in one.targets
            if isinstance(target, ast.Attribute)
        )
        return "" if self._named_here else next(kept, "")

    def where_to_cut(self) -> dict[str, str]:
        """The function that keeps the shared tensor in an attribute, where it is read again after it was set: cut
        there, the turn itself would be cut; and whether its name is one that what runs the pass can cut."""
        code, names = self.diagnosis.code, self.detaching().partition(" = ")[0].split(", ")
        backward = code.statement_at(self.failed.span)
        bound = [{code.function(one) for one in self._bindings(name)} for name in names]
        own = set.intersection(*bound)
        is_far = names[0].isidentifier() and backward is not None and bound[0] and code.function(backward) not in own
        is_far = is_far or (len(names) > 1 and not own) or UNKNOWN in self.carried()
        head = next((found for name in names if (found := self._head(name)) is not None), None)
        said = {"keeper": self.keeper, "head": head.name if head is not None else ""}
        flags = {"is_far": is_far, "is_kept": self.keeper, "is_read": head is not None}
        return said | {flag: str(int(bool(is_so))) for flag, is_so in flags.items()}

    def _bindings(self, name: str) -> list[ast.Assign]:
        return [one for one in self.diagnosis.code.bindings if any(name == dotted(part) for part in _bound_by(one))]

    def _head(self, name: str) -> Function | None:
        """The function that reads an attribute again after it set it."""
        code, made = self.diagnosis.code, self._bindings(name)
        last = max(made, key=lambda one: one.lineno, default=None)
        function = code.function(last) if last is not None and "." in name else None
        end = last.end_lineno or 0 if last is not None else 0
        below = (
            (part for part in ast.walk(function) if isinstance(part, ast.stmt) and part.lineno > end)
            if function
            else ()
        )
        read = (part for one in below for part in ast.walk(one) if isinstance(part, ast.Attribute))
        return function if any(dotted(part) == name and isinstance(part.ctx, ast.Load) for part in read) else None

    def cut_between_turns(self) -> Edits:
        """That statement, behind the last one of the loop that gives the name a value, or behind the pass."""
        code, cut = self.diagnosis.code, self.detaching()
        names = cut.partition(" = ")[0].split(", ")
        backward = code.statement_at(self.failed.span)
        made = [one for name in names for one in self._bindings(name)]
        if backward is None or not made or (len(names) > 1 and self.where_to_cut()["is_far"] == "1"):
            return ()
        last: ast.stmt = max(made, key=lambda one: one.lineno)
        head = next((found for name in names if (found := self._head(name)) is not None), None)
        if head is not None:  # a buffer is a tensor from the start
            buffers = {member.name for module in self.diagnosis.trace.modules for member in module.buffers}
            is_set = buffers.issuperset(name.rpartition(".")[2] for name in names)
            is_first = isinstance(head.body[0], ast.Assign) and is_set and self._ran_once()
            return (code.line_above(head.body[0], cut),) if is_first else ()
        if not names[0].isidentifier():  # an attribute, which may be cut where it is set
            return code.line_after(last, cut) if not code.loops(last) else ()
        if code.function(last) is not code.function(backward) or not set(code.loops(backward)) & set(code.loops(last)):
            return ()
        return code.line_after(max(last, backward, key=lambda one: one.lineno), cut)

    def _ran_once(self) -> bool:
        """Whether what made the shared tensor ran once from the first pass to the second."""
        begin, end = (self.diagnosis.pass_step[pass_.id] for pass_ in (self.first, self.failed))
        turns = self.diagnosis.ops_at(self.op.span) if self.op is not None else ()
        return sum(begin < self.diagnosis.op_step[op.id] < end for op in turns) == 1

    @property
    def leaves(self) -> list[str]:
        """What requires a gradient behind the shared tensor."""
        return self.diagnosis.leaves_behind([self.tensor] if self.tensor is not None else [])

    @property
    def is_for_training(self) -> bool:
        """Whether the turns carry something on or move something: else their gradients themselves may be wanted, as
        the rows of a Jacobian are."""
        code = self.diagnosis.code
        steps = any(called(call) == "step" for call in code.calls)
        return self.turn == "carried" or steps or bool(self.diagnosis.moved)

    @property
    def is_trained(self) -> bool:
        """Whether a step, or an update by hand, might change what lies behind the shared tensor."""
        moved = self.diagnosis.held | self.diagnosis.moved
        return not moved or not moved.isdisjoint(self.leaves)

    @property
    def is_reached_anew(self) -> bool:
        """Whether what the second pass alone was computed with leads it to all that the shared tensor comes from: then
        the values of that may be all that is meant, as in an advantage or a target."""
        diagnosis, begin = self.diagnosis, self.diagnosis.pass_step[self.first.id]

        def of_turn(node: str) -> list[str]:
            op = diagnosis.op_of_node(node)
            return diagnosis.next_nodes(node) if op is not None and diagnosis.op_step[op.id] > begin else []

        reached = (diagnosis.nodes[node].variable for node in walk(root_nodes(self.failed), of_turn))
        anew = {diagnosis.identity(leaf) for leaf in reached if leaf is not None}
        return bool(self.leaves) and anew.issuperset(self.leaves)

    @property
    def is_of_weights(self) -> bool:
        """Whether the shared tensor is computed from what learns alone, as a penalty is: without its history it would
        be a constant."""
        diagnosis, is_leaf = self.diagnosis, self.diagnosis.is_tracked_leaf
        behind = walk([self.tensor or ""], lambda one: () if is_leaf(one) else diagnosis.made_from(one))
        return all(is_leaf(one) or diagnosis.made_from(one) for one in behind)

    @property
    def is_in_init(self) -> bool:
        """Whether the shared tensor was made in the constructor of a module."""
        made = self.diagnosis.code.statement_at(self.place)
        function = self.diagnosis.code.function(made) if made is not None else None
        cls = self.diagnosis.code.enclosing(function, ast.ClassDef) if function is not None else None
        is_init = function is not None and function.name == "__init__"
        return is_init and isinstance(cls, ast.ClassDef) and defined_in(cls, "forward") is not None

    def detached_before(self) -> Edits:
        """The shared tensor without its history, where a statement of its own made it."""
        made = self.diagnosis.code.statement_at(self.place)
        is_own = isinstance(made, ast.Assign) and [*map(dotted, made.targets)] == [self.name]
        return self.diagnosis.code.method(made.value, ".detach()") if isinstance(made, ast.Assign) and is_own else ()


def _detached(name: str, bracket: str) -> str:
    """A tensor without its history, or a tuple of such."""
    part = name.rpartition(".")[2][:1]
    return f"tuple({part}.detach() for {part} in {name})" if bracket else f"{name}.detach()"


def _is_call(statement: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _bound_by(statement: ast.Assign) -> Iterator[ast.AST]:
    """What an assignment writes to."""
    for target in statement.targets:
        yield from ast.walk(target)


def last_used(diagnosis: Diagnosis, shared: Op) -> str | None:
    """The output that was used last: of a recurrent layer the state goes on, not the result of the turn."""
    own = {diagnosis.identity(output): output for output in shared.outputs}
    for op in reversed(diagnosis.trace.ops[diagnosis.op_at[shared.id] :]):
        for input_ in op.inputs:
            is_own = diagnosis.identity(input_) in own and op.id != shared.id
            if is_own and diagnosis.is_tracked(input_):
                return input_
    return shared.outputs[0] if shared.outputs else None


def _has_freed(diagnosis: Diagnosis, pass_: Pass, nodes: set[str]) -> bool:
    """Whether a pass went through some of the nodes and kept nothing of them."""
    visited = (visit.node for visit in pass_.visits if not pass_.failed and not pass_.retain_graph)
    return any(node in nodes and diagnosis.nodes[node].variable is None for node in visited)


def last_shared(diagnosis: Diagnosis, first: Pass, reached: set[str]) -> Op | None:
    """The last op of the part of the graph that both passes walk: where the new graph hangs on the old one."""
    ops = [
        op for visit in first.visits if visit.node in reached and (op := diagnosis.op_of_node(visit.node)) is not None
    ]
    return max(ops, key=lambda op: diagnosis.op_at[op.id], default=None)
