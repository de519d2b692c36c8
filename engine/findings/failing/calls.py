"""Calls that do not fit: wrong arguments, brackets too many or too few, modules put together wrongly."""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import takewhile

from msgspec.structs import replace

from engine.devices import MOST_SIMULATED
from engine.findings.diagnosis import listed, numbers_of, says
from engine.findings.failing.case import Case, Rule, a, known, of_first, only_if
from engine.findings.failing.classes import forward_inside, is_function_class, renamed
from engine.findings.failing.dtypes import FLOATS
from engine.findings.leaves import asked_last, meant_as_leaves
from engine.findings.optimizers import parameters
from engine.findings.plain_containers import plain_containers, said_of, wrapped
from engine.findings.unheld import as_parameter
from engine.program.edits import Edits, insertion
from engine.program.names import called, dotted
from engine.program.source import Source
from engine.program.spelling import nearest
from engine.program.tree import defined_in
from engine.trace import Edit, Finding

PROPERTIES = frozenset("shape dtype device T H mT mH grad data ndim is_leaf grad_fn requires_grad".split())
OPTIMIZERS = ("torch.optim.", "optim.")
_CUDA = re.compile(r"cuda:(?P<string>\d)|.*\.cuda\((?P<call>\d)\)")
NOT_MODULES = frozenset("int float bool complex type function method builtin_function_or_method".split())


def module_called(case: Case) -> Finding:
    """`torch([1, 2])`: a module where a function of it is meant."""
    found = known(case.written_as("RECEIVER(...)"))
    if known(case.operand(found.part("RECEIVER"))).type != "torch":
        return case.finding("other_module_called", found.said)
    right = found.as_("RECEIVER.tensor")
    return case.finding("", found.said, suggestion=right, fix=found.instead("RECEIVER.tensor(...)"))


def property_called(case: Case) -> Finding:
    """`x.shape()`, `x.T()`."""
    found = known(case.written_as("RECEIVER.NAME()"))
    only_if(found.said["name"] in PROPERTIES)
    return case.finding("attribute_called", found.said, fix=found.instead("RECEIVER.NAME"))


def value_called(case: Case) -> Finding:
    """Brackets after something that is no function: a tensor meant to be indexed or multiplied."""
    call = known(case.call)
    if isinstance(call.func, ast.Constant) and len(call.args) == 1:
        said = {"written": case.code.short(call), "right": f"{case.code.short(call.func)} * (…)"}
        return case.finding("product_sign", said, fix=(case.code.after(call.func, " * "),))
    operand, type_ = case.operand(call.func), case.groups["type"].rpartition(".")[2]
    only_if(operand is None or operand.type.rpartition(".")[2] == type_)  # else it is a function, and calls something
    is_asked, last = isinstance(call.func, ast.Attribute), dotted(call.func).rpartition(".")[2]
    targets = ((one, target) for one in case.code.bindings for target in one.targets if is_asked)
    made = [one for one, target in targets if isinstance(target, ast.Attribute) and target.attr == last]
    said = {"made_line": str(made[0].lineno) if len(made) == 1 else "", "is_made": str(int(len(made) == 1))}
    said |= {"is_none": str(int(type_ == "NoneType")), "name": case.code.short(call.func)}
    return case.finding("value_called", said)


def step_given_loss(case: Case) -> Finding:
    """`opt.step(loss)`, or a closure that was called instead of handed over."""
    found = known(case.written_as("OWNER.step(GIVEN)"))
    given, owner = found.part("GIVEN"), known(case.operand(found.part("OWNER")))
    name = called(given) if isinstance(given, ast.Call) and not given.args else ""
    is_closure = name in {one.name for one in case.code.functions if isinstance(one, ast.FunctionDef)}
    only_if(is_closure or owner.type != "LBFGS")
    right = f"{found.said['owner']}.step({name if is_closure else ''})"
    said = {**found.said, "right": right, "is_closure": str(int(is_closure))}
    return case.finding("", said, fix=(case.code.replace(found.node, right),))


def function_removed(case: Case) -> Finding:
    """One that PyTorch keeps for its message alone, which says what to write; for some options something else."""
    advice, call = case.groups.pop("advice", ""), known(case.call)
    ways = re.findall(r"(\S[^\n]*?)\s+should be replaced with:\s+(\S[^\n]*)", advice)
    options = {word.arg for word in call.keywords}
    asked = [way for way in ways if options.intersection(re.findall(r"(\w+)=True", way[0]))] or ways[:1]
    named = re.findall(r"torch\.linalg\.\w+", "".join(new for _, new in asked) or advice)
    old, new = asked[0] if asked else ("", "")
    said = {"called": dotted(call.func), "right": known(next(iter(named), None)), "old": old, "new": new}
    return of_first(case.finding("", said, is_shown=str(int(bool(asked)))))


def keyword(case: Case) -> Finding:
    """A keyword that the function does not take."""
    call, name, code = known(case.call), case.groups["name"], case.code
    word = next((word for word in call.keywords if word.arg == name), None)
    suggestion, names = case.facts.get("suggestion", ""), case.facts.get("known", "")
    if word is None:  # handed on inside
        only_if(not code.text(call.func).startswith("np."))  # which asks it of the tensor
        return case.finding(function=code.short(call.func))
    said = {"function": code.short(call.func), "suggestion": suggestion}
    if not suggestion:
        only_if(name not in names.split(", "))  # then something that it calls does not take it
        return case.finding("keyword_other" if names else "", {**said, "known": names}, span=code.span(word))
    is_free = case.facts.get("only") == "yes" and suggestion not in {one.arg for one in call.keywords}
    fix = (code.replace(word, f"{suggestion}={code.text(word.value)}"),) if is_free else ()
    return case.finding("keyword_misspelt", said, span=code.span(word), fix=fix)


def argument_twice(case: Case) -> Finding:
    """A keyword for which a value without a name stands already, as targets given to a DataLoader for `batch_size`."""
    call, code, names = known(case.call), case.code, case.facts.get("known", "").split(", ")
    argument = case.groups["argument"]
    only_if(argument in names)
    place = names.index(argument)
    only_if(place < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args))
    given, fix = call.args[place], list[Edit]()
    tensors = [one for one in call.args if case.tensor_of(one) is not None]
    is_loader = case.groups["function"].startswith("DataLoader.") and argument == "batch_size" and tensors == call.args
    if is_loader and case.has_torch:
        alike = [one for one in code.calls if called(one) == "DataLoader" and len(one.args) == 2]
        for one in (each for each in alike if any(word.arg == argument for word in each.keywords)):
            data = f"torch.utils.data.TensorDataset({', '.join(map(code.text, one.args))})"
            fix.append(Edit(span=code.span_between(*one.args), text=data))
    said = {"function": code.short(call.func), "given": code.short(given), "at": str(place + 1)}
    said |= {"names": ", ".join(names[: place + 1]), "parts": ", ".join(map(code.short, call.args))}
    return case.finding("", said, fix=fix, is_loader=str(int(is_loader)))


def arguments_missing(case: Case) -> Finding:
    """A call with fewer arguments than the function needs."""
    known(case.call)
    function = case.groups["function"]
    missing = ", ".join(re.findall(r"['\"](\w+)['\"]", case.groups["names"]))
    made = _line_of_definition(case, function)
    code, (cls, _, name) = "arguments_missing_own" if made else "", function.rpartition(".")
    operand, written = case.operand(known(case.call).func), called(known(case.call))
    is_inside = not (written in (cls, name) or name == "__init__" or (operand is not None and operand.type == cls))
    is_backward = _is_backward(case, next(iter(case.code.classes(cls)), None), name)
    is_call = not is_inside and not is_backward
    flags = {"is_inside": is_inside and not is_backward, "is_backward": is_backward, "is_call": is_call}
    said = {"missing": missing, "defined_line": made, **{name: str(int(flag)) for name, flag in flags.items()}}
    return case.finding(code, said, function=function.removesuffix(".__init__"))


def _is_backward(case: Case, cls: ast.ClassDef | None, method: str) -> bool:
    """Whether it is the backward of a custom Function, which a pass calls."""
    is_its = cls is not None and method == "backward" and is_function_class(cls)
    return is_its and case.diagnosis.failed_pass() is not None


def _line_of_definition(case: Case, function: str) -> str:
    """Line of the program's own definition of that function; empty for one of a library."""
    cls, _, method = function.rpartition(".")
    inside = [node for scope in case.code.classes(cls) for node in scope.body]
    outside = (node for node in case.code.functions if not isinstance(case.code.parents.get(node), ast.ClassDef))
    found = (node for node in (inside if cls else outside) if isinstance(node, ast.FunctionDef) and node.name == method)
    return next((str(node.lineno) for node in found), "")


def method_takes_less(case: Case) -> Finding:
    """More arguments than a method of the program takes: its definition forgot `self`, or its name is misspelt."""
    cls, _, method = case.groups["function"].rpartition(".")
    definition = known(next(iter(case.code.classes(cls)), None))
    own = defined_in(definition, method)
    if own is None:
        only_if(method == "__init__")
        return init_misspelt(case, definition)
    call, forward = known(case.call), defined_in(definition, "forward")
    if method == "__init__" and forward is not None and call.args and called(call) == cls:
        only_tensors = all(case.tensor_of(arg) is not None for arg in call.args)
        if only_tensors and len(own.args.args) - len(own.args.defaults) == 1:
            right = f"{cls}()({', '.join(map(case.code.short, call.args))})"
            made = (case.code.after(call.func, "()"),)
            return case.finding("model_not_made", cls=cls, right=right, fix=made)
    arguments = [*own.args.posonlyargs, *own.args.args]
    if not _is_of_class(own) and not _has_object(definition, own):
        fix = (case.code.before(arguments[0], "self, "),) if arguments else ()
        return case.finding("self_missing", span=case.code.head(own), fix=fix, function=method, cls=cls)
    first = arguments[0].arg if arguments and "staticmethod" not in map(dotted, own.decorator_list) else ""
    is_backward = _is_backward(case, definition, method)
    said = {"function": f"{cls}.{method}", "first": first, "is_bound": str(int(bool(first)))}
    said |= {"is_backward": str(int(is_backward)), "gradients": str(int(case.groups["given"]) - 1)}
    return case.finding("arguments_many_own", said, defined_line=str(own.lineno))


def _has_object(cls: ast.ClassDef, method: ast.FunctionDef) -> bool:
    """Whether its first parameter stands for the object, as another method's does too, or as one that it sets an
    attribute of."""
    firsts = [each.args.args[0].arg for each in cls.body if isinstance(each, ast.FunctionDef) and each.args.args]
    first = method.args.args[0].arg if method.args.args else ""
    stored = (each for each in ast.walk(method) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return first == "self" or firsts.count(first) > 1 or any(dotted(each.value) == first for each in stored)


def _is_of_class(method: ast.FunctionDef) -> bool:
    return not {"staticmethod", "classmethod"}.isdisjoint(map(dotted, method.decorator_list))


def arguments_many(case: Case) -> Finding:
    """More arguments than a function takes."""
    function = case.groups["function"]
    is_own = function == "<lambda>" or _line_of_definition(case, function)
    only_if(not is_own or dotted(known(case.call).func).rpartition(".")[2] == function)  # else a library calls it
    is_tensor, is_sequential = dotted(known(case.call).func) == "torch.tensor", function == "Sequential.forward"
    flags = {"is_tensor": is_tensor, "is_sequential": is_sequential, "is_other": not is_tensor and not is_sequential}
    said = {name: str(int(is_so)) for name, is_so in {**flags, "is_method": "." in function}.items()}
    return case.finding("", said, function=function.removesuffix(".__init__"))


_NEAR_INIT = {"__int__", "__init_", "_init__", "_init_", "__Init__", "__inti__", "init", "__ini__", "__init"}


def init_misspelt(case: Case, cls: ast.ClassDef) -> Finding:
    """A class whose constructor is called `__int__`, `init` or the like has PyTorch's own instead."""
    methods = (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name in _NEAR_INIT)
    return renamed(case, "init_misspelt", known(next(methods, None)), "__init__", cls)


def never_made(case: Case) -> Finding:
    """A model without parameters, as nobody calls what should have been its constructor."""
    model = known(case.written_as("FUNCTION(MODEL.parameters(), ...)")).part("MODEL")
    operand = case.operand(model)
    name = operand.type if operand is not None else called(a(ast.Call, model))
    cls = known(next(iter(case.code.classes(name)), None))
    outside = (one for one in case.code.calls if case.code.enclosing(one, ast.ClassDef) is not cls)
    only_if(defined_in(cls, "__init__") is None and _NEAR_INIT.isdisjoint(map(called, outside)))
    return init_misspelt(case, cls)


def forward_missing(case: Case) -> Finding:
    """A module without `forward`: misspelt, or a container that is none to call."""
    cls = next(iter(case.code.classes(case.groups["type"])), None)
    if cls is None:
        only_if(case.groups["type"] in ("ModuleList", "ModuleDict"))
        return case.finding("list_called")
    own = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
    suggestion, _ = nearest("forward", own)
    if suggestion:
        return renamed(case, "forward_misspelt", own[suggestion], "forward", cls)
    return forward_inside(case, cls) or case.finding(defined_line=str(cls.lineno))


def super_init(case: Case) -> Finding:
    """A module whose `__init__` never called that of `nn.Module`."""
    function = case.code.function(case.statement) if case.statement is not None else None
    cls = case.code.enclosing(case.statement, ast.ClassDef)
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        classes = case.code.classes(case.facts.get("owner", ""))
        only_if(len(classes) == 1)
        cls, function = classes[0], defined_in(classes[0], "__init__")
    cls, function, at = known(cls), known(function), known(case.failure.span).line
    for node in ast.walk(function):  # `super().__init__` without its brackets
        if isinstance(node, ast.Attribute) and node.attr == "__init__" and "super" in case.code.text(node.value):
            call = case.code.parents.get(node)
            if isinstance(call, ast.Call) and call.lineno > at:
                return case.finding("super_init_late", span=case.code.span(call), cls=cls.name)
            if isinstance(call, ast.Call):  # done, and one above it does not hand it on
                only_if(not call.args or dotted(call.args[0]) != "nn.Module")
                bases = [one for base in cls.bases for one in case.code.classes(dotted(base))]
                cls, function = next(
                    ((one, made) for one in bases if (made := defined_in(one, "__init__"))), (cls, None)
                )
                only_if(function is not None and "super().__init__" not in case.code.text(known(function)))
                break
            fix = (case.code.after(node, "()"),)
            return case.finding("super_init_not_called", span=case.code.span(node), cls=cls.name, fix=fix)
    own, bases = known(function), [one for base in cls.bases for one in case.code.classes(dotted(base))]
    above = next((made for one in bases if (made := defined_in(one, "__init__")) is not None and made is not own), None)
    asked = [arg.arg for arg in above.args.args[1:]][: -len(above.args.defaults) or None] if above is not None else []
    is_given = {arg.arg for arg in own.args.args} >= {*asked}
    right = f"super().__init__({', '.join(asked) if is_given else '...'})"
    first = (case.code.line_above(own.body[0], right),) if is_given else ()
    return case.finding(span=case.code.head(own), cls=cls.name, right=right, fix=first)


def no_device(case: Case) -> Finding:
    """A device that is not here, or that PyTorch calls otherwise; the line may have it from an assignment."""
    made = [one.value for operand in case.failure.operands for one in case.code.assignments(operand.text)]
    places = [case.node, *(value for value in made if not isinstance(value, ast.IfExp))]
    inside = [inner for place in places if place is not None for inner in ast.walk(place)]
    name = case.groups.get("name", "cuda").lower()
    written = [one for one in inside if isinstance(one, ast.Constant) and str(one.value).lower().startswith(name)]
    choice = '"cuda" if torch.cuda.is_available() else "cpu"'
    is_certain = len(written) == 1 and case.has_torch
    return case.finding(fix=(case.code.replace(written[0], choice),) if is_certain else ())


def several_devices(case: Case) -> Finding:
    """A program for several GPUs where there is none: a comment has them simulated."""
    inside = [node for node in case.code.nodes if isinstance(node, ast.Constant | ast.Call)]
    asked = [_CUDA.fullmatch(str(one.value) if isinstance(one, ast.Constant) else ast.unparse(one)) for one in inside]
    last = max((int(found["string"] or found["call"]) for found in asked if found), default=0)
    only_if(0 < last < MOST_SIMULATED and "# devices" not in case.diagnosis.trace.program.code)
    devices = ", ".join(f"cuda:{index}" for index in range(last + 1))
    return case.finding(fix=(insertion(1, 0, f"# devices: {devices}\n"),), devices=devices)


def module_for_parameters(case: Case) -> Finding:
    """A model where an optimizer takes its parameters."""
    found = known(case.written_as("FUNCTION(NAME, ...)"))
    operand = known(case.operand(found.part("NAME")))
    is_of_parts = operand.type in ("Sequential", "ModuleList") and "optimizer can only" in case.failure.message
    only_if(is_of_parts or (operand.type == case.groups["module"] and operand.type not in NOT_MODULES))
    paths = {module.path for module in case.diagnosis.trace.modules}
    only_if(operand.text in paths or dotted(found.part("FUNCTION")).startswith(OPTIMIZERS))
    fix = (case.code.after(found.part("NAME"), ".parameters()"),)
    return case.finding("", {"name": found.said["name"], "module": operand.type}, fix=fix)


def parameters_inside_list(case: Case) -> Finding:
    """What `parameters()` gives, inside a list, where an optimizer takes tensors."""
    given = known(case.written_as("FUNCTION(GIVEN, ...)")).part("GIVEN")
    text, right = case.code.text, ""
    match given:
        case ast.ListComp(elt=ast.Call(func=ast.Attribute(attr="parameters")) as made, generators=[loop]):
            right = (
                f"[parameter for {text(loop.target)} in {text(loop.iter)} for parameter in {text(made)}]"
                if not loop.ifs
                else ""
            )
        case ast.List(elts=parts) if all(isinstance(part, ast.Call) and called(part) == "parameters" for part in parts):
            right = f"[{', '.join(f'*{text(part)}' for part in parts)}]"
    fix = (case.code.replace(given, right),) if right else ()
    return case.finding("", given=case.code.short(given), right=right, is_right=str(int(bool(right))), fix=fix)


def optimizer_not_leaf(case: Case) -> Finding:
    """Computed tensors given to an optimizer: often `.to(…)`, `.double()` or `* 0.1` after creation."""
    names = [node for node in ast.walk(known(case.call)) if isinstance(node, ast.Name | ast.Attribute)]
    given = [(node, case.tensor_of(node)) for node in names]
    found = {ast.unparse(node): tensor for node, tensor in given if tensor is not None and not tensor.is_leaf}
    leaves = meant_as_leaves(case.diagnosis)
    if not found and any(isinstance(node, ast.Call) for node in known(case.call).args):
        # what a method of the program collects
        taken = ((name, case.diagnosis.output_of(op)) for name, (*_, op) in leaves.items())
        found = dict([(name, tensor) for name, tensor in taken if tensor is not None][:1])
    only_if(found)
    (name, tensor), *others = found.items()
    maker = known(case.diagnosis.maker.get(tensor.id))
    meant = [leaves[each] for each in found if each in leaves]
    fix = [edit for one in meant for edit in asked_last(case.diagnosis, *one[:2])] if len(meant) == len(found) else ()
    said = {"name": name, "op": maker.name, "others": listed([f"`{other}`" for other, _ in others])}
    said["is_several"] = str(int(bool(others)))
    return case.finding("", said, span=maker.span, tensors=found.values(), fix=fix)


def optimizer_empty(case: Case) -> Finding:
    """No parameters: all layers are in a plain list, what gave them was gone through before, or there are none."""
    registered = parameters(case.diagnosis)
    hidden = list(plain_containers(case.diagnosis))
    if len(hidden) == 1:
        span, fix = case.code.span(hidden[0].value), wrapped(case.diagnosis, hidden[0])
        return case.finding("optimizer_empty_list", said_of(hidden[0]) | {"is_tensor": "0"}, span=span, fix=fix)
    count = str(len(registered)) if registered else ""
    told = _used_up(case) or _of_plain_tensors(case)
    return told or case.finding("", count=count, is_some=str(int(bool(registered))))


def _of_plain_tensors(case: Case) -> Finding | None:
    """A model whose methods compute with tensors that are attributes of it, and none of them a parameter."""
    code, given = case.code, next(iter(known(case.call).args), None)
    owner = code.receiver(given) if isinstance(given, ast.Call) and called(given) == "parameters" else None
    operand = case.operand(owner)
    model = operand.type if operand is not None else called(owner) if isinstance(owner, ast.Call) else ""
    own = [one for one in code.bindings for cls in code.classes(model) if code.enclosing(one, ast.ClassDef) is cls]
    last = {dotted(one.targets[0]): one for one in own}
    held = {
        name: one
        for name, one in last.items()
        if name.startswith("self.")
        and any(tensor.dtype in FLOATS for tensor in case.diagnosis.bound_to(one.targets[0]))
        and any(dotted(node) == name and code.function(node) is not code.function(one) for node in code.nodes)
    }
    if not held:
        return None
    edits = [as_parameter(case.diagnosis, one.value, is_asked=True) for one in held.values()]
    said = {"model": model, "name": listed([f"`{name}`" for name in held]), "is_tensor": "1"}
    said |= {"type": "tensor", "better": "nn.Parameter"}
    fix = [edit for each in edits for edit in each] if all(edits) else ()
    return case.finding("optimizer_empty_list", said, span=code.span(next(iter(held.values()))), fix=fix)


def _used_up(case: Case) -> Finding | None:
    """An iterator of parameters that another line has gone through."""
    code, given = case.code, next(iter(known(case.call).args), None)
    operand = case.operand(given)
    name = code.stands_for(dotted(given), given) if operand is not None else ""
    made = code.assignments(name) if name else []
    if operand is None or operand.type not in ("generator", "filter", "map") or len(made) != 1:
        return None
    beside = [code.statement_on(frame.span.line) for frame in case.failure.frames if frame.span is not None]
    until = [one.lineno for one in beside if one is not None and code.function(one) is code.function(made[0])]
    reads = [node.lineno for node in code.nodes if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name]
    used = [at for at in reads if until and made[0].lineno < at < until[0]]
    if not used:
        return None
    value = made[0].value
    said = {"name": name, "made": code.short(value), "made_line": str(made[0].lineno), "first_line": str(min(used))}
    return case.finding("optimizer_given_used_up", said, fix=(code.before(value, "list("), code.after(value, ")")))


_KEYS = r"{} key\(s\) in state_dict: (.*?)\.\s"
_SHAPE = r"torch\.Size\((\[[\d, ]*\])\)"
_SHAPES = rf"size mismatch for ([\w.]+): copying a param with shape {_SHAPE} from .*? in current model is {_SHAPE}"


def optimizer_state(case: Case) -> Finding:
    """The state of an optimizer that had another number of parameters."""
    found = known(case.written_as("NAME.load_state_dict(GIVEN)"))
    held, saved = (known(case.facts.get(name)).partition(" = ") for name in ("held", "saved"))
    less = int(held[0]) - int(saved[0])
    ways = {"is_split": less == 0, "is_less": less < 0, "is_more": less > 0}
    counts = {"held": held[0], "saved": saved[0], "held_groups": held[2], "saved_groups": saved[2]}
    return case.finding("", {**found.said, **counts, **{name: str(int(way)) for name, way in ways.items()}})


def state_dict(case: Case) -> Finding:
    """A state_dict whose names or shapes are not those of the model."""
    message = case.failure.message[:4000] + " "
    missing, unexpected = (_quoted(re.search(_KEYS.format(kind), message)) for kind in ("Missing", "Unexpected"))
    shapes = re.findall(_SHAPES, message)
    fits = any(name not in missing for name in _names_in(case, case.groups.get("type") or ""))
    for plain, longer, is_saved in ((missing, unexpected, "1"), (unexpected, missing, "0")):
        prefix = "" if fits and missing else _prefix(plain, longer)
        if prefix:
            first = next(key for key in longer if key.startswith(prefix))
            wrapper = "AveragedModel" if "n_averaged" in longer else _WRAPPERS.get(prefix, "")
            said = {"first": first, "prefix": prefix, "inner": prefix[:-1], "wrapper": wrapper, "is_saved": is_saved}
            said["is_torch"] = str(int(bool(wrapper)))
            return case.finding("state_dict_prefix", said)
    if shapes:
        name, given, wanted = shapes[0]
        return case.finding("state_dict_shape", name=name, given=given, wanted=wanted, count=str(len(shapes)))
    found = case.written_as("FUNCTION(GIVEN, ...)")
    inside = [key for key in unexpected if "model" in key or "state" in key or "net" in key]
    if inside and missing and not any("." in key for key in unexpected) and found is not None:
        fix = (case.code.after(found.part("GIVEN"), f"[{inside[0]!r}]"),) if len(inside) == 1 else ()
        said = {"given": found.said["given"], "key": inside[0], "found": listed(unexpected) or "–"}
        return case.finding("state_dict_inside", said, fix=fix)
    only_if(missing or unexpected)
    return case.finding(missing=listed(missing) or "–", unexpected=listed(unexpected) or "–", fits=str(int(fits)))


_WRAPPERS = {"module.": "DataParallel", "_orig_mod.": "torch.compile"}
"""What holds a model, by what it puts in front of each name."""


def _prefix(plain: list[str], longer: list[str]) -> str:
    """What stands in front of every one of some names in others, which may hold a few more of their own. PyTorch's are
    known without the plain names, too."""
    ends = (key.removesuffix(plain[0]) for key in longer if plain and key.endswith(f".{plain[0]}"))
    of_torch = (one for one in _WRAPPERS if longer and all(key.startswith(one) for key in longer))
    return next((one for one in ends if {one + key for key in plain} <= {*longer}), next(of_torch, ""))


def _names_in(case: Case, type_: str) -> Iterator[str]:
    """The names of the parameters of a class of modules."""
    modules = case.diagnosis.trace.modules
    for holder in (module for module in modules if module.type == type_):
        for module in modules:
            inside = module.path.removeprefix(holder.path)
            if module.path.startswith(holder.path) and inside[:1] in ("", "."):
                yield from (f"{inside}.{member.name}"[1:] for member in module.parameters)


def _quoted(found: re.Match[str] | None) -> list[str]:
    return re.findall(r'"([^"]+)"', found[1]) if found else []


def groups_given(case: Case) -> Finding:
    """Parameters in two groups of an optimizer: what each group was given."""
    given = _params_within(known(case.call))
    lists = [] if given else [one for one in case.code.nodes if isinstance(one, ast.List) and _params_within(one)]
    given = _params_within(lists[0]) if len(lists) == 1 else given
    only_if(len(given) > 1)
    said = {"groups": ", ".join(map(case.code.short, given))}
    is_whole = all(isinstance(one, ast.Call) and called(one) == "parameters" for one in given)
    return case.finding("", said, is_whole=str(int(is_whole)))


def _params_within(root: ast.AST) -> list[ast.expr]:
    """What groups that are written in it hold."""
    groups = [one for one in ast.walk(root) if isinstance(one, ast.Dict)]
    return [value for group in groups for key, value in zip(group.keys, group.values, strict=True) if _is_params(key)]


def _is_params(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "params"


def not_scalar(case: Case) -> Finding:
    """A function handed to `torch.func.grad` that returns more than one number."""
    calls = [one for one in case.code.calls if called(one) in ("grad", "grad_and_value") and one.args]
    here = [one for one in calls if case.node is not None and one in ast.walk(case.node)]
    names = {dotted(one.args[0]) for one in here or calls}
    functions = [one for one in case.code.functions if one.name in names]
    only_if(len(functions) == 1)
    (function,) = functions
    returns = [one for one in ast.walk(function) if isinstance(one, ast.Return) and one.value is not None]
    only_if(len(returns) == 1 and not isinstance(returns[0].value, ast.Tuple))
    value = case.code.short(known(returns[0].value))
    return case.finding(span=case.code.span(returns[0]), function=function.name, value=value, tensors=())


def returns_more(case: Case) -> Finding:
    """A function handed to `torch.func.grad` that returns its loss and something beside it, or no tensor."""
    handed = [one for one in case.code.calls if called(one) in ("grad", "grad_and_value") and one.args]
    pairs = [(one, each) for one in handed for each in case.code.functions if each.name == dotted(one.args[0])]
    only_if(len(pairs) == 1)
    ((call, function),) = pairs
    returns = [one for one in ast.walk(function) if isinstance(one, ast.Return) and one.value is not None]
    only_if(len(returns) == 1)
    value = known(returns[0].value)
    parts = value.elts if isinstance(value, ast.Tuple) else []
    said = {"function": function.name, "value": case.code.short(value), "got": case.groups["got"] or ""}
    said |= {"first": case.code.short(parts[0]) if parts else "", "is_pair": str(int(len(parts) == 2))}
    said |= {"is_more": str(int(len(parts) > 2)), "is_other": str(int(len(parts) < 2)), "call": case.code.short(call)}
    taken = case.statement.targets[0] if isinstance(case.statement, ast.Assign) else None
    is_taken = len(parts) == 2 and called(call) == "grad" and isinstance(taken, ast.Tuple) and len(taken.elts) == 2
    fix = (case.code.argument_added(call, "has_aux=True"),) if is_taken else ()
    return case.finding("", said, span=case.code.span(returns[0]), tensors=(), fix=fix)


def context_not_made(case: Case) -> Finding:
    """`with torch.no_grad:`: the class itself, where `with` needs an object of it."""
    items = [item.context_expr for item in a(ast.With, case.statement).items]
    named = [item for item in items if isinstance(item, ast.Name | ast.Attribute)]
    only_if(len(named) == 1)
    is_sure = dotted(named[0]).rpartition(".")[2] in ("no_grad", "enable_grad", "inference_mode", "detect_anomaly")
    fix = (case.code.after(named[0], "()"),) if is_sure else ()
    said = {"name": case.code.short(named[0]), "is_sure": str(int(is_sure))}
    return case.finding("", said, span=case.code.span(named[0]), fix=fix)


def name_taken(case: Case) -> Finding:
    """A function whose name a line has given to a value: `sum = 0`, `loss = loss(x, y)`."""
    name, scopes = dotted(known(case.call).func), (case.code.function(known(case.call)), None)
    own = [one for one in case.code.bindings if name in [dotted(target) for target in one.targets] and name]
    own = [one for one in own if case.code.function(one) in scopes]
    given = [one for one in own if not isinstance(one.value, ast.Lambda)]
    if hasattr(builtins, name) and given:
        return case.finding("builtin_taken", span=case.code.span(given[0]), name=name)
    again = [one for one in given if isinstance(one.value, ast.Call) and dotted(one.value.func) == name]
    only_if(len(given) > len(again) == 1 and case.tensor_of(again[0].value) is not None)
    made = next(one for one in given if one is not again[0])
    said = {"name": name, "made": case.code.short(made.value), "made_line": str(made.lineno)}
    return case.finding("function_replaced", said, span=case.code.span(again[0]))


def argument_to_add(text: str) -> Rule:
    """A call that lacks an argument."""

    def rule(case: Case) -> Finding:
        call, name = known(case.call), text.partition("=")[0]
        is_new = all(word.arg != name for word in call.keywords)
        return case.finding(fix=(case.code.argument_added(call, text),) if is_new else ())

    return rule


def more_than_tensors(case: Case) -> Finding:
    """A file of more than tensors, and whose object `torch.load` met in it, where it says so."""
    told = argument_to_add("weights_only=False")(case)
    met = re.search(r"Unsupported (?:global: GLOBAL|class) ([\w.]+\w)", case.failure.message)
    said = {"object": met[1] if met is not None else "", "is_met": str(int(met is not None))}
    return replace(told, parameters={**told.parameters, **said}) if told is not None else known(None)


def sequence_empty(case: Case) -> Finding:
    """Sequences of which one is empty: which."""
    found = known(case.written_as("FUNCTION(DATA, LENGTHS, ...)"))
    lengths = numbers_of(case.tensor_of(found.part("LENGTHS")))
    only_if(min(lengths, default=0) == 0)
    empty = [str(at) for at, length in enumerate(lengths) if not length]
    said = {"name": found.said["lengths"], "places": listed(empty), "is_known": str(int(bool(empty)))}
    return case.finding("", said)


def steps_floored(case: Case) -> Finding:
    """A schedule laid out for the whole batches of an epoch, as `//` or `int` counts them, where the last one is
    smaller."""
    code, total = case.code, int(case.groups["total"])
    loops = [one for one in code.loops(known(case.statement)) if isinstance(one, ast.For)]
    inner = known(next(iter(loops), None))
    epoch = [one for one in case.diagnosis.trace.batches if one.epoch == 1 and one.number]
    turned = inner.iter
    data = turned.args[0] if isinstance(turned, ast.Call) and called(turned) == "enumerate" and turned.args else turned
    words = [word for one in code.calls for word in one.keywords]
    plans = [word.value for word in words if word.arg in ("steps_per_epoch", "total_steps")]
    inside = [part for plan in plans for part in ast.walk(plan)]
    inside += [part for name in map(dotted, inside) for one in code.assignments(name) for part in ast.walk(one.value)]
    floors = [one for one in inside if isinstance(one, ast.expr) and _leaves_rest_out(one)]
    counts, last = len(epoch), epoch[-1:]
    only_if(len(floors) == 1 and dotted(data) and case.diagnosis.has_run(floors[0]))
    only_if(last and last[0].number == counts > 1 and last[0].loader == 1 and last[0].count < epoch[0].count)
    only_if(total % (counts - 1) == 0 and total % counts)
    said = {"is_floored": "1", "whole": str(counts - 1), "batches": str(counts), "loader": dotted(data)}
    is_near = code.function(floors[0]) is code.function(inner)
    fix = (code.replace(floors[0], f"len({dotted(data)})"),) if is_near else ()
    return case.finding("", said, span=code.span(floors[0]), fix=fix)


def _leaves_rest_out(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=ast.FloorDiv()):
            return True
        case ast.Call(args=[ast.BinOp(op=ast.Div())]):
            return called(node) in ("int", "floor", "round")
    return False


def steps_planned(case: Case) -> Finding:
    """A schedule stepped beyond its end."""
    return case.finding(is_floored="0", whole="", batches="", loader="")


_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert, ast.Compare, ast.BoolOp)


def gradient_layout(case: Case) -> Finding:
    """Sparse gradients, which an embedding gives where it is asked to, for an optimizer that takes none; or dense ones
    for one that takes no others."""
    asked = [
        (call, word)
        for call in case.code.calls
        for word in call.keywords
        if word.arg == "sparse" and says(call, "sparse") == "True"
    ]
    is_sparse = case.groups["layout"] == "sparse"
    fix = [edit for call, word in asked for edit in case.code.argument_removed(call, word)] if is_sparse else []
    lines = ", ".join(str(call.lineno) for call, _ in asked)
    way = "asked" if is_sparse and asked else "kept" if is_sparse else "dense"
    said = {"is_sparse": str(int(is_sparse)), "is_asked": str(int(way == "asked")), "is_kept": str(int(way == "kept"))}
    return case.finding("", said, lines=lines, tensors=(), fix=fix)


_RELAXED = {"Categorical": "RelaxedOneHotCategorical", "OneHotCategorical": "RelaxedOneHotCategorical"}
_RELAXED |= {"Bernoulli": "RelaxedBernoulli"}


def rsample_missing(case: Case) -> Finding:
    """`rsample` of a distribution whose samples do not follow its parameters smoothly."""
    receiver = known(case.written_as("RECEIVER.rsample(...)")).part("RECEIVER")
    only_if(case.failure.frames and case.failure.frames[-1].file.startswith("torch/distributions/"))
    operand = case.operand(receiver)
    type_ = operand.type if operand is not None else called(a(ast.Call, receiver))
    relaxed, is_choice = _RELAXED.get(type_, ""), _RELAXED.get(type_, "").endswith("Categorical")
    said = {"name": case.code.short(receiver), "type": type_, "relaxed": relaxed}
    said |= {"is_relaxed": str(int(bool(relaxed))), "is_choice": str(int(is_choice))}
    return case.finding("", said, tensors=())


def scaler_without_gradients(case: Case) -> Finding:
    """A step through a scaler, with an optimizer none of whose parameters has a gradient."""
    found, passes = known(case.written_as("SCALER.step(NAME, ...)")), case.diagnosis.trace.passes
    said = {
        **found.said,
        "is_some": str(int(bool(passes))),
        "pass_line": str(passes[-1].span.line) if passes and passes[-1].span else "",
    }
    only_if(not passes or passes[-1].span)
    return case.finding("", said, tensors=())


def value_asked(case: Case) -> Finding:
    """A tensor asked for its value where it stands for many, or for any that will come."""
    is_traced = "symbolically" in case.failure.message
    name = "symbolic_trace" if "symbolic_trace" in map(called, case.code.calls) else "torch.fx"
    call = case.call
    around = takewhile(lambda one: one is not case.statement, case.code.around(call)) if call is not None else ()
    is_asked = any(isinstance(one, _ASKING) for one in (case.statement, *around))
    is_number = call is not None and not is_traced and not is_asked and called(call) in ("item", "tolist", "float")
    places = ast.walk(case.node.slice) if isinstance(case.node, ast.Subscript) else ()
    is_slice = not is_traced and any(isinstance(one, ast.Slice) for one in places)
    is_check = _only_checks(case.statement)
    is_choice = not is_number and not is_slice and not is_check
    flags = {"is_traced": is_traced, "is_number": is_number, "is_slice": is_slice, "is_choice": is_choice}
    flags |= {"is_check": is_check, "is_two_ways": is_traced and is_choice}
    said = {name: str(int(flag)) for name, flag in flags.items()}
    return case.finding("", said, transform=name if is_traced else "vmap")


def _only_checks(statement: ast.stmt | None) -> bool:
    """Whether it stops the program, or says something, where a condition is not as it should be, and no more."""
    match statement:
        case ast.If(body=body, orelse=[]):
            return all(isinstance(one, ast.Raise | ast.Assert) or _is_print(one) for one in body)
    return isinstance(statement, ast.Assert)


def _is_print(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and called(value) in ("print", "warn")


def keys_taken_for_model(case: Case) -> Finding:
    """`net = net.load_state_dict(state)`: what it gives is a list of keys, and the model is loaded in place."""
    code, node = case.code, case.node
    asked = node.value if isinstance(node, ast.Attribute) else node.func if isinstance(node, ast.Call) else None
    loads = [one for one in code.calls if called(one) == "load_state_dict" and case.diagnosis.has_run(one)]
    kept = [one for one in loads if not isinstance(code.parents.get(one), ast.Expr)]
    own = [one for one in kept if one is asked or _bound(code, one) == dotted(asked) != ""] or kept
    only_if(len(own) == 1)
    call, receiver = own[0], known(code.receiver(own[0]))
    name, model, statement = _bound(code, call), code.text(receiver), known(code.statement(call))
    right = code.text(call)
    if name != model and name and not dotted(receiver):  # the model has no other name yet
        given = ", ".join([*map(code.text, call.args), *map(code.text, call.keywords)])
        right = f"{name}.load_state_dict({given})"
        fix: Edits = (code.replace(call, model), *code.line_after(statement, right))
    else:
        fix = (code.replace(statement, right),) if name == model else ()
    said = {"name": name or code.short(asked or call), "model": code.short(receiver), "right": right}
    return case.finding("", said, span=code.span(statement), fix=fix)


def _bound(code: Source, call: ast.Call) -> str:
    """The name that the result of a call is given."""
    statement = code.parents.get(call)
    return dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
