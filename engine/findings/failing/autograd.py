"""Errors of autograd that raise outside the engine: leaves, seeds, `autograd.grad`, assigned gradients, NaN found by
anomaly mode."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from engine.findings.diagnosis import by_number, extent, is_alike, line, walk
from engine.findings.failing.case import Case, a, known, only_if
from engine.findings.nonfinite import trouble
from engine.ops import COPIES, DETACHES, VIEWS
from engine.program.edits import Edits
from engine.program.names import called, dotted, is_grad_of, keyword
from engine.program.rewriting import not_in_place
from engine.trace import Finding, Op, Tensor


def leaf_written(case: Case) -> Finding:
    """A leaf, or a view of one, changed in place while recording."""
    statement, base = known(case.statement), case.first.base
    call = case.layer_made or case.call
    word = keyword(call, "inplace") if call is not None else None
    if call is not None and word is not None:  # its result is what the program goes on with
        is_used = not isinstance(statement, ast.Expr) or case.layer_made is not None
        fix = _not_asked_in_place(case, call) if is_used else ()
    else:
        is_learnt = any(one.requires_grad for one in case.inputs()[1:])  # it would not be recorded either
        fix = _without_grad(case, statement) if case.has_torch and not is_learnt else ()
    leaf = case.diagnosis.say(base if base in case.diagnosis.tensors else case.first.id)
    is_asked = str(int(word is not None))
    return case.finding("", {"name": leaf, "is_asked": is_asked}, tensors=(case.first,), fix=fix)


def _not_asked_in_place(case: Case, call: ast.Call) -> Edits:
    """`inplace=True` taken from a call, and from those of its function that are given the same name: they would change
    what this one then makes."""
    code, given = case.code, next(iter(call.args), None)
    alike = [call]
    if isinstance(given, ast.Name):
        scope = code.function(call)
        alike = [each for each in code.calls if [*map(dotted, each.args[:1])] == [given.id]]
        alike = [each for each in alike if code.function(each) is scope]
    words = ((each, word) for each in alike if (word := keyword(each, "inplace")) is not None)
    return tuple(edit for each, word in words for edit in code.argument_removed(each, word))


def _without_grad(case: Case, statement: ast.stmt) -> Edits:
    """The statement, and those after it that write into the same whole, under `no_grad`."""
    target, block = _written_part(statement), case.code.block(statement)
    later = block[block.index(statement) + 1 :] if target and statement in block else []
    last = [statement, *takewhile(lambda one: _written_part(one) == target, later)][-1]
    return case.code.indent(statement, "with torch.no_grad():", last)


def _written_part(statement: ast.stmt) -> str:
    """What a statement writes a part of."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=whole)]) | ast.AugAssign(target=ast.Subscript(value=whole)):
            return dotted(whole)
    return ""


def tracked_already(case: Case) -> Finding:
    """`y.requires_grad = True` of what was computed from something tracked: the line is not needed, unless the `.grad`
    of `y` itself is read."""
    only_if(case.failure.message.endswith("leaf variables."))  # to switch it off PyTorch has a hint
    found = known(case.written_as("NAME.requires_grad = VALUE"))
    name, tensor = found.said["name"], case.tensor_of(found.part("NAME"))
    is_read = any(is_grad_of(one, name) for one in case.code.attributes)
    fix = () if is_read else case.code.removed(case.statement)
    return case.finding("", found.said, is_on="1", tensors=(tensor,), fix=fix)


def no_derivative(case: Case) -> Finding:
    """A pass that comes to an op PyTorch has no derivative of, such as `//`."""
    node = known(known(case.diagnosis.failed_pass()).failed_node)
    op = known(case.diagnosis.op_of_node(node))
    return case.finding(span=op.span, op=op.name, tensors=())


def hooked_in_place(case: Case) -> Finding:
    """What a layer with a full backward hook gave, written over: the hook made it a view."""
    made = known(case.layer_made)
    word = known(keyword(made, "inplace"))
    return case.finding(span=case.code.span(made), fix=case.code.argument_removed(made, word))


def input_handed_on(case: Case) -> Finding:
    """What a custom Function gave, written over, where that is its input itself or a view of it."""
    statement, name = known(case.statement), case.groups["function"]
    made = [one for one in case.code.functions if getattr(one, "name", "") == "forward"]
    forward = next((one for one in made if getattr(case.code.parents.get(one), "name", "") == name), None)
    fix = not_in_place(case.code, statement) if isinstance(statement, ast.AugAssign | ast.Expr) else ()
    said = {"name": case.say(case.first), "right": fix[0].text if fix else "", "is_known": str(int(bool(fix)))}
    return case.finding("", said, forward_line=str(known(forward).lineno), fix=fix, tensors=(case.first,))


def result_named(case: Case) -> Finding:
    """A result that a module computes with a graph, put where its parameter is: it wants a name of its own."""
    found, code = known(case.written_as("OWNER.ATTRIBUTE = VALUE")), case.code
    function = a(ast.FunctionDef, code.function(found.part("OWNER")))
    made = known(case.tensor_of(found.part("VALUE")))
    only_if(made.requires_grad and function.name == "forward")
    name, statement = found.said["attribute"], known(case.statement)
    rest = [one for one in code.attributes if dotted(one) == f"{found.said['owner']}.{name}"]
    last = (statement.end_lineno or 0, function.end_lineno or 0)
    later = [one for one in rest if last[0] < one.lineno <= last[1]]
    is_plain = code.parents.get(statement) is function and all(isinstance(one.ctx, ast.Load) for one in later)
    fix = (code.replace(statement, found.as_(f"{name} = VALUE")), *(code.replace(one, name) for one in later))
    said = {**found.said, "name": found.as_("OWNER.ATTRIBUTE")}
    is_free = is_plain and not code.is_bound(name)
    return case.finding("parameter_for_result", said, tensors=(made,), fix=fix if is_free else ())


def grad_assigned(case: Case) -> Finding:
    """A `.grad` of another shape than its tensor, or that is no tensor."""
    found = known(case.written_as("NAME.GRAD = VALUE"))
    set_here = [one.value for one in case.code.bindings if dotted(one.targets[0]).endswith(".grad")]
    zeros = [given for given in set_here if isinstance(given, ast.Constant) and given.value == 0]
    fix = tuple(case.code.replace(zero, "None") for zero in zeros) if found.part("VALUE") in zeros else ()
    return case.finding("", found.said, fix=fix)


def seed_shape(case: Case) -> Finding:
    """The vector given to backward has another shape than the output."""
    call = known(case.call)
    match call:
        case ast.Call(func=ast.Attribute(value=receiver)) if not dotted(receiver).endswith("autograd"):
            output = receiver
        case _:
            output = known(next(iter(call.args), None))
    shapes = {name: f"[{case.groups[name]}]" for name in ("given", "wanted")}
    return case.finding("", shapes, name=case.code.short(output))


def unused_in_grad(case: Case) -> Finding:
    """`autograd.grad` of a tensor that took no part, or that nobody tracks."""
    call, tensor = known(case.call), _asked_in_vain(case)
    only_if(called(call) == "grad")
    given = call.args[0] if call.args else known(keyword(call, "outputs")).value
    maker = case.diagnosis.maker.get(tensor.id)
    made = maker.span if case.rule == "grad_asked_untracked" and maker is not None else None
    identity = case.diagnosis.identity(tensor.id)
    here = (one.text for one in case.failure.operands if case.diagnosis.identity(one.tensor or "") == identity)
    name = next(here, "") or case.diagnosis.say(tensor.id)
    original = _alike_behind(case, tensor)
    said = {"name": name, "output": case.code.short(given), **_cut_behind(case, identity)}
    said |= {"is_copied": str(int(bool(original))), "original": original}
    return case.finding("", said, span=made, tensors=(tensor,))


def _alike_behind(case: Case, asked: Tensor) -> str:
    """The leaf of which the one that is asked about has all the numbers, and that the output was computed from."""
    diagnosis, failed, range_ = case.diagnosis, case.diagnosis.failed_pass(), extent(asked)
    if failed is None or range_ is None or range_[0] == range_[1]:
        return ""
    behind = walk((root.tensor for root in failed.roots if root.tensor is not None), diagnosis.made_from)
    leaves = (diagnosis.tensors[each] for each in behind if diagnosis.is_tracked_leaf(each))
    alike = (each for each in leaves if each.shape == asked.shape and is_alike(each, asked))
    return next((diagnosis.say(each.id) for each in alike), "")


def _cut_behind(case: Case, asked: str) -> dict[str, str]:
    """The op nearest to what was to be differentiated that took over the values of a tensor without its history."""
    diagnosis, failed = case.diagnosis, case.diagnosis.failed_pass()
    roots = [root.tensor for root in failed.roots if root.tensor is not None] if failed is not None else []
    loose = (op for op in diagnosis.makers_behind(roots) if op.name in COPIES | DETACHES and op.span is not None)
    cuts = (op for op in loose if asked in map(diagnosis.identity, walk(op.inputs, diagnosis.made_from)))
    cut = next(cuts, None) if not diagnosis.trace.gaps else None
    return {
        "is_cut": str(int(cut is not None)),
        "cut": case.code_excerpt(cut.span) if cut is not None else "",
        "cut_line": line(cut.span) if cut is not None else "",
    }


def unused_part(case: Case) -> Finding:
    """`t = points[:, 1:]` is asked about, and the output was computed from `points`."""
    tensor, failed = _asked_in_vain(case), known(case.diagnosis.failed_pass())
    maker = known(case.diagnosis.maker.get(tensor.id))
    whole = known(case.diagnosis.input_of(maker))
    roots = [root.tensor for root in failed.roots if root.tensor is not None]
    behind = set(map(case.diagnosis.identity, walk(roots, case.diagnosis.made_from)))
    only_if(case.diagnosis.identity(whole.id) in behind and case.diagnosis.identity(tensor.id) not in behind)
    said = {"name": case.diagnosis.say(tensor.id), "whole": case.diagnosis.say(whole.id), "made_line": line(maker.span)}
    output, cut = case.diagnosis.say(roots[0]), case.code.at(maker.span)
    if isinstance(cut, ast.Subscript):  # a function has its own name for it
        said["whole"] = dotted(cut.value) or said["whole"]
    only_if(said["name"] != said["whole"])
    return case.finding("unused_part_in_grad", said, span=maker.span, output=output, tensors=(tensor, whole))


def through_checkpoint(case: Case) -> Finding:
    """`autograd.grad` through a checkpoint whose backward is a pass of its own."""
    checkpoints = [one for one in case.code.calls if called(one) in ("checkpoint", "checkpoint_sequential")]
    only_if(len(checkpoints) == 1)
    (made,) = checkpoints
    fix = (case.code.argument_set(made, "use_reentrant", "False"),)
    return case.finding(span=case.code.span(made), fix=fix, asking=case.code_excerpt(case.failure.span), tensors=())


def _asked_in_vain(case: Case) -> Tensor:
    """The input of the failed pass that took no part, or that is not tracked."""
    asked = [case.diagnosis.tensors.get(one or "") for one in known(case.diagnosis.failed_pass()).inputs or ()]
    untracked = [one for one in asked if one is not None and not one.requires_grad]
    at = int(case.groups.get("at", "0"))
    return known(next(iter((asked if "at" in case.groups else untracked)[at:]), None))


def inference(case: Case) -> Finding:
    """A tensor made in inference mode, or a view of one, cannot be saved for backward."""
    makers = (op for tensor in case.inputs() for op in _viewed(case, tensor) if op.grad_mode == "inference")
    op = known(next(makers, None))
    tensor = known(case.diagnosis.output_of(op))
    return case.finding("", case.about(tensor), span=op.span, tensors=(tensor,))


def _viewed(case: Case, tensor: Tensor) -> Iterator[Op]:
    """What made a tensor, or that which it is a view of."""
    for op in case.makers(tensor):
        yield op
        if op.name not in VIEWS and op.name != "getitem":
            return


def deepcopied(case: Case) -> Finding:
    """`deepcopy` of a computed tensor."""
    found = known(case.written_as("MODULE.deepcopy(NAME, ...)", "deepcopy(NAME, ...)"))
    tensor = known(case.tensor_of(found.part("NAME")))
    return case.finding(name=found.said["name"], tensors=(tensor,), fix=found.instead("NAME.detach().clone()"))


def holder_copied(case: Case) -> Finding:
    """`deepcopy` of an object that keeps a computed tensor in an attribute of its own."""
    name = case.code.short(a(ast.Call, case.call).args[0])
    computed = [one for one in case.diagnosis.trace.tensors if one.grad_fn is not None and one.requires_grad]
    kept = {name: one for one in computed for name in one.names if name.startswith("self.")}
    if len(kept) != 1:
        return case.finding("deepcopy_of_holder", name=name)
    (held, tensor), *_ = kept.items()
    stores, maker = case.code.assignments(held), case.diagnosis.maker.get(tensor.id)
    made = case.code.statement_at(maker.span) if maker is not None else None
    where = case.code.span(made if made in stores else stores[-1]) if stores else None
    said = {"name": name, "held": held, "is_several": str(int(len(stores) > 1))}
    return case.finding("deepcopy_of_state", said, span=where, tensors=(tensor,))


def written_under_vmap(case: Case) -> Finding:
    """One tensor for all samples, into which each sample's own numbers were to be written."""
    whole = case.diagnosis.tensors.get(case.first.base or "", case.first)
    maker = known(case.diagnosis.maker.get(whole.id))
    return case.finding(span=maker.span, name=case.diagnosis.say(whole.id), tensors=(whole,))


def anomaly(case: Case) -> Finding:
    """The first NaN of a backward pass, which anomaly mode stops at: the op that made it, or the infinity before it."""
    failed, tensors = known(case.diagnosis.failed_pass()), case.diagnosis.tensors
    infinite = (visit.node for visit in failed.visits if any(trouble(tensors.get(one or "")) for one in visit.left))
    reached = case.diagnosis.reached_from(root.node for root in failed.roots if root.node is not None)
    named = [one for one in reached if case.diagnosis.nodes[one].type == case.groups["node"]]
    node = next(infinite, None) or max(named, key=by_number, default=None)
    op = known(case.diagnosis.op_of_node(node))
    given = case.diagnosis.input_of(op)
    only_if(not trouble(given))  # else it is what came before that is to blame
    said = {"op": op.name, **case.about(given), "pass_line": line(case.failure.span)}
    return case.finding("", said, span=known(op.span), tensors=(given,))
