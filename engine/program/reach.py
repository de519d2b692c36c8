"""Which functions of a program a part of it may call, by their names."""

import ast
from collections.abc import Iterable

from engine.program.names import called

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Subscript)


def in_order(node: ast.AST) -> list[ast.AST]:
    """What a node runs, in the order in which Python works it out once, itself last; of a loop the body, without what
    it goes through, of a function what it runs when it is called."""
    found: list[ast.AST] = []
    pending = [(node, False)]
    while pending:
        each, is_done = pending.pop()
        if is_done:
            found.append(each)
        else:
            pending.append((each, True))
            pending += [(part, False) for part in reversed(_parts(each, is_top=each is node))]
    return found


def _parts(node: ast.AST, *, is_top: bool) -> list[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.body] if is_top else []
        case ast.Lambda():
            return [node.body] if is_top else []
        case ast.For() | ast.AsyncFor():
            return [node.target, *node.body] if is_top else [node.iter, node.target, *node.body, *node.orelse]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [*_generators(node.generators, is_top), node.elt]
        case ast.DictComp():
            return [*_generators(node.generators, is_top), node.key, node.value]
        case ast.Assign():
            return [node.value, *node.targets]
    return [*ast.iter_child_nodes(node)]


def _generators(generators: list[ast.comprehension], is_top: bool) -> list[ast.AST]:
    first, *others = generators
    return [*([] if is_top else [first.iter]), *first.ifs, *others]


class Reach:
    """Look-ups in one program; what cannot be followed by name may call whatever is handed around."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        nodes = list(nodes)
        self._functions: dict[str, set[Scope]] = {}
        self._operators: set[Scope] = set()
        self._objects: set[Scope] = set()
        self._calls: dict[Scope, frozenset[Scope]] = {}
        heads = {node.func for node in nodes if isinstance(node, ast.Call)}
        loose = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in nodes
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and node not in heads
        }
        self._stored = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in nodes
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
        } | {node.arg for node in nodes if isinstance(node, ast.arg)}
        for node in nodes:
            if isinstance(node, ast.Lambda):
                self._objects.add(node)
            elif isinstance(node, ast.ClassDef):
                for each in node.body:
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                        if each.name in ("__call__", "forward"):
                            self._objects.add(each)
                        elif each.name.startswith("__") and each.name != "__init__":
                            self._operators.add(each)
                        elif each.name == "__init__":
                            self._functions.setdefault(node.name, set()).add(each)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions.setdefault(node.name, set()).add(node)
                if node.name in loose or node.decorator_list:
                    self._objects.add(node)

    def of(self, part: Iterable[ast.AST]) -> frozenset[Scope]:
        """The functions and lambdas that nodes may call, and those that these call."""
        found: set[Scope] = set()
        pending = {each for node in part for each in self._by(node)}
        while pending:
            found |= pending
            pending = {other for each in pending for other in self._inside(each)} - found
        return frozenset(found)

    def _inside(self, function: Scope) -> frozenset[Scope]:
        if function not in self._calls:
            self._calls[function] = frozenset({each for node in in_order(function) for each in self._by(node)})
        return self._calls[function]

    def _by(self, node: ast.AST) -> set[Scope]:
        if isinstance(node, ast.Call):
            name = called(node)
            is_known = isinstance(node.func, ast.Name | ast.Attribute) and name not in self._stored
            named = set[Scope]().union(self._functions.get(name, ()))
            handed = set[Scope]()
            for each in node.args:
                if isinstance(each, ast.Name | ast.Attribute):
                    handed |= self._functions.get(each.id if isinstance(each, ast.Name) else each.attr, set())
                elif isinstance(each, ast.Lambda):
                    handed.add(each)
            return named | handed | (set() if is_known else self._objects)
        if isinstance(node, ast.Attribute):
            return {each for each in self._functions.get(node.attr, ()) if getattr(each, "decorator_list", ())}
        return self._operators if isinstance(node, _OPERATIONS) else set()
