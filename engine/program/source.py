"""A program's source: what stands where, and edits that change it."""

import ast
from functools import lru_cache

from engine.program.edits import Edits, insertion
from engine.program.spans import LINE_END
from engine.program.tree import Placed, Tree
from engine.trace import Edit, Span

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


class Source(Tree):
    """A program's tree with edits to it, all of which go by the text as it was given."""

    def __init__(self, code: str, *, parsed_in_sandbox: bool = True) -> None:
        super().__init__(code, parsed_in_sandbox=parsed_in_sandbox)
        end = LINE_END.search(code)
        self._line_end = end[0] if end is not None else "\n"

    # Parts of lines

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

    def method(self, node: ast.expr, call: str) -> Edits:
        """Calls a method on what an expression gives: `x` to `x.float()`, `a + b` to `(a + b).float()`."""
        if isinstance(node, _ATOMS):
            return (self.after(node, call),)
        if self._is_in_brackets(node):
            span = self.span(node)
            closing = self.lines[span.end_line - 1].index(")", span.end_column)
            return (insertion(span.end_line, closing + 1, call),)
        return (self.before(node, "("), self.after(node, f"){call}"))

    def _is_in_brackets(self, node: ast.expr) -> bool:
        span = self.span(node)
        behind = self.lines[span.end_line - 1][span.end_column :].lstrip()
        ahead = self.lines[span.line - 1][: span.column].rstrip()
        above = self.parents.get(node)
        is_argument = isinstance(above, ast.Call) and node in above.args
        return ahead.endswith("(") and behind.startswith(")") and not is_argument

    def argument_added(self, call: ast.Call, text: str) -> Edit:
        """One more argument at the end of a call."""
        arguments = _arguments(call)
        if arguments:
            return self.after(arguments[-1], f", {text}")
        span = self.span(call)
        return insertion(span.end_line, span.end_column - 1, text)

    def argument_set(self, call: ast.Call, name: str, value: str) -> Edit:
        """A keyword argument with another value, or one more."""
        said = next((word for word in call.keywords if word.arg == name), None)
        text = f"{name}={value}"
        return self.argument_added(call, text) if said is None else self.replace(said, text)

    def argument_removed(self, call: ast.Call, removed: ast.expr | ast.keyword) -> Edits:
        """A call without one of its arguments, and without the comma that held it."""
        arguments = _arguments(call)
        at = arguments.index(removed)
        span = self.span(removed)
        if at > 0:
            before = self.span(arguments[at - 1])
            span = Span(
                line=before.end_line, end_line=span.end_line, column=before.end_column, end_column=span.end_column
            )
        elif len(arguments) > 1:
            behind = self.span(arguments[1])
            span = Span(line=span.line, end_line=behind.line, column=span.column, end_column=behind.column)
        return (Edit(span=span, text=""),)

    # Whole lines

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether no other statement shares its lines."""
        span = self.span(statement)
        behind = self.lines[span.end_line - 1][span.end_column :].strip()
        return not self._margin(statement).strip() and (not behind or behind.startswith("#"))

    def _margin(self, statement: ast.stmt) -> str:
        return self.lines[statement.lineno - 1][: self.span(statement).column]

    def line_above(self, statement: ast.stmt, text: str) -> Edit:
        """A line of its own in front of a statement; where that shares its line with others, it joins them."""
        margin = self._margin(statement)
        return self.before(statement, f"{text}; " if margin.strip() else f"{text}{self._line_end}{margin}")

    def line_before(self, statement: ast.stmt | None, text: str) -> Edits:
        """A line of its own before a statement; nothing when there is no room for one."""
        if statement is None or not self.stands_alone(statement):
            return ()
        return (insertion(statement.lineno, 0, f"{self._margin(statement)}{text}{self._line_end}"),)

    def line_after(self, statement: ast.stmt | None, text: str) -> Edits:
        """A line of its own after a statement; nothing when there is no room for one."""
        if statement is None or not self.stands_alone(statement):
            return ()
        end = self.span(statement).end_line
        return (insertion(end, len(self.lines[end - 1]), f"{self._line_end}{self._margin(statement)}{text}"),)

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

    def removed(self, statement: ast.stmt | None) -> Edits:
        """A statement of one line left out; nothing where it shares its line, or is all that its block has."""
        if statement is None or statement.lineno != statement.end_lineno or not self.stands_alone(statement):
            return ()
        return (self._line_removed(statement.lineno),) if len(self.block(statement)) > 1 else ()

    def decorator_removed(self, decorator: ast.expr) -> Edits:
        """A decorator left out; nothing where it is longer than its line."""
        is_whole = self.lines[decorator.lineno - 1].partition("#")[0].strip() == f"@{self.text(decorator)}"
        return (self._line_removed(decorator.lineno),) if is_whole else ()

    def _line_removed(self, line: int) -> Edit:
        if line < len(self.lines):
            return Edit(span=Span(line=line, end_line=line + 1, column=0, end_column=0), text="")
        before = len(self.lines[line - 2]) if line > 1 else 0
        end = len(self.lines[line - 1])
        return Edit(span=Span(line=max(line - 1, 1), end_line=line, column=before, end_column=end), text="")

    def indent(self, statement: ast.stmt, head: str, last: ast.stmt | None = None) -> Edits:
        """Puts a statement, or those from it to the last one, under a head such as `with torch.no_grad():`; nothing
        when others share their lines."""
        last = last or statement
        if not self.stands_alone(statement) or not self.stands_alone(last):
            return ()
        span = self.span_between(statement, last)
        margin = self._margin(statement)
        inner = [
            insertion(line, len(margin) if self.lines[line - 1].startswith(margin) else 0, "    ")
            for line in range(span.line + 1, span.end_line + 1)
        ]
        return (self.before(statement, f"{head}{self._line_end}{margin}    "), *inner)


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments of a call, in the order of the text."""
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(arguments, key=lambda argument: (argument.lineno, argument.col_offset))


def source_of(code: str, *, parsed_in_sandbox: bool = True) -> Source:
    """The source of a text, made once for all who look at the same program.

    Without its tree when the sandbox has not parsed the text: see `engine.program.tree.parse`."""
    return _made(code, parsed_in_sandbox)


@lru_cache(maxsize=16)
def _made(code: str, parsed_in_sandbox: bool) -> Source:
    return Source(code, parsed_in_sandbox=parsed_in_sandbox)
