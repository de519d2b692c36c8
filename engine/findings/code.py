"""The program as text and syntax tree: what stands at a place, and edits to it."""

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from engine.program.source import shorten
from engine.program.tree import parse
from engine.trace import Edit, Span

Placed = ast.expr | ast.stmt | ast.keyword | ast.arg

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


class Code:
    """Look-ups in one program, whose text the sandbox has parsed already."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.lines = text.split("\n")
        self._points: dict[int, list[int]] = {}

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one for what cannot be parsed here."""
        return parse(self._text) or ast.Module(body=[], type_ignores=[])

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _by_span(self) -> dict[Span, ast.expr | ast.stmt]:
        found: dict[Span, ast.expr | ast.stmt] = {}
        for node in ast.walk(self.tree):  # outer nodes first; an expression wins over the statement it is alone in
            if isinstance(node, ast.expr) or (isinstance(node, ast.stmt) and self.span(node) not in found):
                found[self.span(node)] = node
        for node in [*found.values()]:
            if isinstance(node, ast.Call | ast.Attribute) and (place := self._from_its_name(node)) is not None:
                found.setdefault(place, node)
        return found

    def _from_its_name(self, node: ast.Call | ast.Attribute) -> Span | None:
        """Where Python says that an attribute or method call is whose receiver ends on a line before: it begins at the name
        (`update_start_location_to_match_attr` in CPython's compiler)."""
        name = node.func if isinstance(node, ast.Call) else node
        if not isinstance(name, ast.Attribute) or name.end_lineno in (None, node.lineno):
            return None
        whole, name_at = self.span(node), self.span(name)
        return Span(
            line=name_at.end_line,
            column=name_at.end_column - len(name.attr),
            end_line=whole.end_line,
            end_column=whole.end_column,
        )

    def at(self, span: Span | None) -> ast.expr | ast.stmt | None:
        """What is written at exactly that place."""
        return self._by_span.get(span) if span is not None else None

    def span(self, node: Placed) -> Span:
        """Where a node is written."""
        end_line = node.end_lineno or node.lineno
        return Span(
            line=node.lineno,
            end_line=end_line,
            column=self._column(node.lineno, node.col_offset),
            end_column=self._column(end_line, node.end_col_offset or 0),
        )

    def _column(self, line: int, offset: int) -> int:
        """Bytes of UTF-8 to code points."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if text.isascii():
            return offset
        if line not in self._points:
            self._points[line] = [0, *accumulate(byte & 0xC0 != 0x80 for byte in text.encode())]
        points = self._points[line]
        return points[min(offset, len(points) - 1)]

    def text(self, node: Placed) -> str:
        """The code of a node as it is written."""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        first, *inner, last = self.lines[span.line - 1 : span.end_line]
        return "\n".join([first[span.column :], *inner, last[: span.end_column]])

    def short(self, node: Placed) -> str:
        """The same on one line, shortened for a sentence."""
        return shorten(self.text(node))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """A node's parents, innermost first."""
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement an expression is part of."""
        return next((one for one in (node, *self.around(node)) if isinstance(one, ast.stmt)), None)

    def statement_on(self, line: int) -> ast.stmt | None:
        """The innermost statement that covers a line."""
        found: ast.stmt | None = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
                found = node
        return found

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function whose body a node is in."""
        return next((one for one in self.around(node) if isinstance(one, ast.FunctionDef)), None)

    def classes(self, name: str) -> list[ast.ClassDef]:
        """Class definitions of that name."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef) and node.name == name]

    def assignments(self, target: str) -> list[ast.Assign]:
        """Assignments to that one name or attribute, in the order of the text."""
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and ast.unparse(node.targets[0]) == target
        ]
        return sorted(found, key=lambda node: node.lineno)

    def is_bound(self, name: str) -> bool:
        """Whether the program gives that name a meaning anywhere."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=found, ctx=ast.Store()) if found == name:
                    return True
                case ast.alias() if (node.asname or node.name).partition(".")[0] == name:
                    return True
                case ast.FunctionDef(name=found) | ast.ClassDef(name=found) | ast.arg(arg=found) if found == name:
                    return True
        return False

    # Edits

    def replace(self, node: Placed, text: str) -> Edit:
        """Writes something else in a node's place."""
        return Edit(span=self.span(node), text=text)

    def before(self, node: Placed, text: str) -> Edit:
        """Inserts in front of a node."""
        span = self.span(node)
        return insertion(span.line, span.column, text)

    def after(self, node: Placed, text: str) -> Edit:
        """Inserts behind a node."""
        span = self.span(node)
        return insertion(span.end_line, span.end_column, text)

    def method(self, node: ast.expr, call: str) -> tuple[Edit, ...]:
        """Calls a method on what an expression gives: `x` to `x.float()`, `a + b` to `(a + b).float()`."""
        if isinstance(node, _ATOMS) or self._is_in_brackets(node):
            end = self._after_brackets(node)
            return (insertion(*end, call),)
        return (self.before(node, "("), self.after(node, f"){call}"))

    def _is_in_brackets(self, node: ast.expr) -> bool:
        span = self.span(node)
        behind = self.lines[span.end_line - 1][span.end_column :].lstrip()
        ahead = self.lines[span.line - 1][: span.column].rstrip()
        above = self.parents.get(node)
        is_argument = isinstance(above, ast.Call) and (
            node in above.args or any(node is k.value for k in above.keywords)
        )
        return ahead.endswith("(") and behind.startswith(")") and not is_argument

    def _after_brackets(self, node: ast.expr) -> tuple[int, int]:
        span = self.span(node)
        if isinstance(node, _ATOMS):
            return span.end_line, span.end_column
        line = self.lines[span.end_line - 1]
        return span.end_line, line.index(")", span.end_column) + 1

    def line_above(self, statement: ast.stmt, text: str) -> Edit:
        """Inserts a line of its own before a statement."""
        span = self.span(statement)
        return insertion(span.line, span.column, f"{text}\n{' ' * span.column}")

    def indent(self, statement: ast.stmt, head: str) -> tuple[Edit, ...]:
        """Puts a statement under a head such as `with torch.no_grad():`; none when others share its line."""
        span = self.span(statement)
        margin = self.lines[span.line - 1][: span.column]
        behind = self.lines[span.end_line - 1][span.end_column :].strip()
        if margin.strip() or (behind and not behind.startswith("#")):
            return ()
        inner = [insertion(line, 0, "    ") for line in range(span.line + 1, span.end_line + 1)]
        return (insertion(span.line, span.column, f"{head}\n{margin}    "), *inner)


def insertion(line: int, column: int, text: str) -> Edit:
    """An edit that only adds."""
    return Edit(span=Span(line=line, end_line=line, column=column, end_column=column), text=text)


def applied(code: str, fix: tuple[Edit, ...]) -> str:
    """The program with all edits made."""
    lines = code.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    order = sorted(fix, key=lambda one: (one.span.line, one.span.column), reverse=True)
    for edit in order:
        start = starts[edit.span.line - 1] + edit.span.column
        end = starts[edit.span.end_line - 1] + edit.span.end_column
        code = code[:start] + edit.text + code[end:]
    return code
