"""The program read for silent mistakes: what stands around a place, and edits that move or add whole lines."""

import ast
from functools import cached_property

from engine.findings.code import Code, insertion
from engine.trace import Edit, Span

Edits = tuple[Edit, ...]

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = ("body", "orelse", "finalbody")


class Reading(Code):
    """A program with its calls and blocks."""

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The whole tree, outer nodes first."""
        return list(ast.walk(self.tree))

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def bindings(self) -> list[ast.Assign]:
        """Every assignment to one target, in the order of the text."""
        found = [node for node in self.nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """Every `a.b`."""
        return [node for node in self.nodes if isinstance(node, ast.Attribute)]

    def call_at(self, span: Span | None) -> ast.Call | None:
        """The call that fills a place."""
        node = self.at(span)
        if isinstance(node, ast.Expr):
            node = node.value
        return node if isinstance(node, ast.Call) else None

    def statement_at(self, span: Span | None) -> ast.stmt | None:
        """The statement that the expression of a place is part of."""
        node = self.at(span)
        return None if node is None else self.statement(node)

    def in_loop(self, node: ast.AST) -> bool:
        """Whether it may run more than once in one run of its function."""
        for above in self.around(node):
            if isinstance(above, _LOOPS):
                return True
            if isinstance(above, _FUNCTIONS):
                return False
        return False

    def runs_once(self, node: ast.AST) -> bool:
        """Whether it is at the level of the program: in no loop, function or condition."""
        return isinstance(self.parents.get(self.statement(node) or node), ast.Module)

    def is_in_function(self, node: ast.AST) -> bool:
        """Whether it waits for a call."""
        return any(isinstance(above, _FUNCTIONS) for above in self.around(node))

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that run one after the other with this one."""
        above = self.parents.get(statement)
        for name in _BLOCKS:
            body = getattr(above, name, None)
            if isinstance(body, list) and statement in body:
                return body
        return [statement]

    def follows(self, first: ast.stmt | None, second: ast.stmt | None) -> bool:
        """Whether the second is a later statement of the first one's block."""
        if first is None or second is None:
            return False
        block = self.block(first)
        return second in block and block.index(first) < block.index(second)

    # Edits

    def argument_added(self, call: ast.Call, text: str) -> Edit:
        """One more argument at the end of a call."""
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        if given:
            return self.after(max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0)), f", {text}")
        span = self.span(call)
        return insertion(span.end_line, span.end_column - 1, text)

    def argument_removed(self, call: ast.Call, removed: ast.expr | ast.keyword) -> Edits:
        """A call without one of its arguments, and without the comma that held it."""
        arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        given = sorted(arguments, key=lambda one: (one.lineno, one.col_offset))
        at = given.index(removed)
        here = self.span(removed)
        if at > 0:
            before = self.span(given[at - 1])
            here = Span(
                line=before.end_line, end_line=here.end_line, column=before.end_column, end_column=here.end_column
            )
        elif len(given) > 1:
            behind = self.span(given[1])
            here = Span(line=here.line, end_line=behind.line, column=here.column, end_column=behind.column)
        return (Edit(span=here, text=""),)

    def stands_alone(self, statement: ast.stmt | None) -> bool:
        """Whether no other statement shares its lines."""
        if statement is None:
            return False
        span = self.span(statement)
        behind = self.lines[span.end_line - 1][span.end_column :].strip()
        return not self._margin(statement).strip() and (not behind or behind.startswith("#"))

    def _margin(self, statement: ast.stmt) -> str:
        return self.lines[statement.lineno - 1][: self.span(statement).column]

    def line_before(self, statement: ast.stmt | None, text: str) -> Edits:
        """A line of its own before a statement; nothing when there is no room for one."""
        if statement is None or not self.stands_alone(statement):
            return ()
        return (insertion(statement.lineno, 0, f"{self._margin(statement)}{text}\n"),)

    def line_after(self, statement: ast.stmt | None, text: str) -> Edits:
        """A line of its own after a statement; nothing when there is no room for one."""
        if statement is None or not self.stands_alone(statement):
            return ()
        end = self.span(statement).end_line
        return (insertion(end, len(self.lines[end - 1]), f"\n{self._margin(statement)}{text}"),)

    def moved(
        self, statement: ast.stmt | None, *, before: ast.stmt | None = None, after: ast.stmt | None = None
    ) -> Edits:
        """A statement of one line put elsewhere in its block; nothing when that is not certain."""
        target = before or after
        if statement is None or target is None or statement.lineno != statement.end_lineno:
            return ()
        if not self.stands_alone(statement) or target not in self.block(statement):
            return ()
        text = self.text(statement)
        put = self.line_before(target, text) if before is not None else self.line_after(target, text)
        return (*put, self._line_removed(statement.lineno)) if put else ()

    def _line_removed(self, line: int) -> Edit:
        if line < len(self.lines):
            return Edit(span=Span(line=line, end_line=line + 1, column=0, end_column=0), text="")
        before = len(self.lines[line - 2]) if line > 1 else 0
        end = len(self.lines[line - 1])
        return Edit(span=Span(line=max(line - 1, 1), end_line=line, column=before, end_column=end), text="")


def dotted(node: ast.AST | None) -> str:
    """`a.b.c` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def called(call: ast.Call) -> str:
    """The last name of what is called: `softmax` of `F.softmax(x)` and of `x.softmax(1)`."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def names_in(node: ast.AST) -> frozenset[str]:
    """The names that are read in it."""
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))


def is_grad_of(node: ast.AST, name: str) -> bool:
    """Whether it is `name.grad`."""
    return isinstance(node, ast.Attribute) and node.attr == "grad" and bool(name) and dotted(node.value) == name


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """One of its keywords."""
    return next((word for word in call.keywords if word.arg == name), None)
