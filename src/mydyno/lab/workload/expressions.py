"""From an expression in Python's syntax to the engine's.

Only what is listed here means anything; nothing is ever evaluated by Python. What is known before the run
(options, constants) is worked out on the way, so that the engine sees no expression that it need not.
"""

import ast
from collections.abc import Callable

from mydyno.core.nearest import nearest
from mydyno.lab.workload import functions
from mydyno.lab.workload.constants import Constant, Expression, checked, choice, is_constant, operation
from mydyno.lab.workload.written import Written, Wrong

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Div: "/",
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
}
"""The operator, and whether its two sides change places."""


def compile_text(written: Written, text: str, start: int, names: functions.Names) -> Expression:
    """The expression in `text`, which begins at `start` in the text of `written`. Raises Wrong."""
    return _Compiler(written, text, start, names).compile()


class _Compiler:
    def __init__(self, written: Written, text: str, start: int, names: functions.Names) -> None:
        self.written = written
        self.text = text
        self.start = start
        self.names = names

    def compile(self) -> Expression:
        try:
            # In brackets, an expression may go over several lines.
            tree = ast.parse(f"({self.text}\n)", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            offset = getattr(error, "offset", None) or 1
            line = getattr(error, "lineno", None) or 1
            raise self._wrong(
                self._index(line, offset - 1), "this is not an expression", allowed="for example 2 * rows + 1"
            ) from None
        try:
            return self._visit(tree)
        except RecursionError:
            raise self._wrong(0, "the expression is nested too deeply") from None

    def _index(self, line: int, column: int) -> int:
        """The place in the text of a place in what Python was given: one bracket more in front."""
        lines = self.text.split("\n")
        index = sum(len(each) + 1 for each in lines[: line - 1]) + column - (line == 1)
        return max(0, min(index, max(0, len(self.text) - 1)))

    def _at(self, node: ast.AST) -> int:
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        source = (f"({self.text}\n)").split("\n")[line - 1]
        return self._index(line, len(source.encode()[:column].decode(errors="ignore")))

    def _wrong(
        self,
        index: int,
        message: str,
        value: str | None = None,
        allowed: str | None = None,
        nearest: str | None = None,
    ) -> Wrong:
        shown = self.text if value is None else value
        return self.written.at(self.start + index, message, shown, allowed, nearest)

    def _refuse(self, node: ast.AST, message: str, allowed: str | None = None) -> Wrong:
        return self._wrong(self._at(node), message, ast.unparse(node), allowed)

    def _visit(self, node: ast.expr) -> Expression:
        visit: Callable[[ast.expr], Expression] | None = getattr(
            self, f"_{type(node).__name__.lower()}", None
        )
        if visit is None:
            raise self._refuse(
                node,
                "this has no meaning here",
                "numbers, 'texts', names, functions, + - * / // %, comparisons",
            )
        return visit(node)

    def _operate(self, node: ast.expr, name: str, *operands: Expression) -> Expression:
        try:
            return operation(name, *operands)
        except (TypeError, OverflowError) as error:
            raise self._refuse(node, str(error) or "this cannot be worked out") from None

    def _constant(self, node: ast.Constant) -> Expression:
        if isinstance(node.value, bool):
            return int(node.value)
        if node.value is None or isinstance(node.value, int | float | str):
            try:
                return checked(node.value)
            except TypeError as error:
                raise self._refuse(node, str(error)) from None
        raise self._refuse(node, "this has no meaning here", "numbers and 'texts'")

    def _binop(self, node: ast.BinOp) -> Expression:
        name = _OPERATORS.get(type(node.op))
        if name is None:
            raise self._refuse(node, "unknown operator", "+ - * / // %")
        return self._operate(node, name, self._visit(node.left), self._visit(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Expression:
        if isinstance(node.op, ast.Not):
            return self._operate(node, "not", self._visit(node.operand))
        if isinstance(node.op, ast.USub):
            return self._operate(node, "-", 0, self._visit(node.operand))
        raise self._refuse(node, "unknown operator", "- and not")

    def _boolop(self, node: ast.BoolOp) -> Expression:
        name = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = (self._visit(each) for each in node.values)
        for other in others:
            first = self._operate(node, name, first, other)
        return first

    def _compare(self, node: ast.Compare) -> Expression:
        holds: Expression = None
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                one = self._is_among(left, right, isinstance(operator, ast.In))
            else:
                name, swapped = _COMPARISONS.get(type(operator), ("", False))
                if not name:
                    raise self._refuse(node, "unknown comparison", "< <= == != > >= in")
                sides = (self._visit(left), self._visit(right))
                one = self._operate(node, name, *(reversed(sides) if swapped else sides))
            holds = one if left is node.left else self._operate(node, "and", holds, one)
            left = right
        return holds

    def _is_among(self, left: ast.expr, right: ast.expr, wanted: bool) -> Expression:
        if not isinstance(right, ast.Tuple | ast.List):
            raise self._refuse(right, "`in` wants a list", "mode in ('a', 'b')")
        value = self._visit(left)
        if not is_constant(value) and value[0] != "var":
            raise self._refuse(left, "`in` would draw this again for every item", "let it be a name first")
        holds: Expression = 0
        for item in right.elts:
            holds = operation("or", holds, self._operate(right, "==", value, self._visit(item)))
        return holds if wanted else operation("not", holds)

    def _ifexp(self, node: ast.IfExp) -> Expression:
        condition, then, otherwise = (self._visit(each) for each in (node.test, node.body, node.orelse))
        return choice(condition, then, otherwise)

    def _name(self, node: ast.Name) -> Expression:
        name, names = node.id, self.names
        if name in names.registers:
            return ["var", name]
        if name in names.values:
            return ["draw", name]
        if name in names.constants:
            return names.constants[name]
        if name in functions.LITERALS:
            return functions.LITERALS[name]
        if name in names.words:
            return [name]
        raise self._unknown_name(node)

    def _unknown_name(self, node: ast.Name) -> Wrong:
        name, index = node.id, self._at(node)
        if name in self.names.perhaps:
            message = f"{name} is bound on some ways to here only"
            return self._wrong(index, message, name, f"`let: {{{name}: ...}}` before the branches")
        if name in functions.WORDS:
            return self._wrong(index, f"{name} has no meaning here", name, functions.WORDS[name])
        if name in self.names.dictionaries:
            return self._wrong(index, f"{name} is a dictionary", name, f"pick({name}) or next({name})")
        if name in functions.FUNCTIONS:
            return self._wrong(index, f"{name} is a function", name, functions.FUNCTIONS[name].signature)
        close = nearest(name, self.names.all())
        bound = sorted(self.names.values | self.names.registers)
        known = ", ".join(dict.fromkeys((*self.names.constants, *bound)))
        return self._wrong(index, "unknown name", name, known or None, close)

    def _call(self, node: ast.Call) -> Expression:
        if not isinstance(node.func, ast.Name):
            raise self._refuse(node, "this is not a function", "a function's name")
        function = functions.FUNCTIONS.get(node.func.id)
        if function is None:
            name = node.func.id
            known = ", ".join(functions.FUNCTIONS)
            index = self._at(node.func)
            raise self._wrong(index, "unknown function", name, known, nearest(name, functions.FUNCTIONS))
        given = self._arguments(node, function)
        arguments = [
            self._argument(parameter, given[parameter.name]) if parameter.name in given else parameter.default
            for parameter in function.parameters
        ]
        if function.more:
            arguments += [self._visit(each) for each in node.args[len(function.parameters) :]]
        return self._built(node, function, arguments)

    def _arguments(self, node: ast.Call, function: functions.Function) -> dict[str, ast.expr]:
        """Which argument is for which parameter."""
        parameters = [parameter.name for parameter in function.parameters]
        if len(node.args) > len(parameters) and not function.more:
            raise self._miscalled(node, function, len(node.args) + len(node.keywords))
        given = dict(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in parameters:
                message = f"{function.name} has no argument of this name"
                close = nearest(str(keyword.arg), parameters)
                raise self._wrong(self._at(keyword), message, keyword.arg or "**", function.signature, close)
            if keyword.arg in given:
                raise self._refuse(node, f"{keyword.arg} is given twice", function.signature)
            given[keyword.arg] = keyword.value
        if any(parameter.required and parameter.name not in given for parameter in function.parameters):
            raise self._miscalled(node, function, len(node.args) + len(node.keywords))
        return given

    def _miscalled(self, node: ast.Call, function: functions.Function, count: int) -> Wrong:
        least = sum(parameter.required for parameter in function.parameters)
        most = len(function.parameters)
        wanted = (
            f"{least} or more" if function.more else f"{least}" if least == most else f"{least} to {most}"
        )
        plural = "" if wanted == "1" else "s"
        message = f"{function.name} takes {wanted or 'no'} argument{plural}, not {count}"
        return self._refuse(node, message, function.signature)

    def _argument(self, parameter: functions.Parameter, node: ast.expr) -> Expression:
        if parameter.kind in ("dictionary", "value", "counter"):
            return self._named(parameter, node)
        expression = self._visit(node)
        fixed = parameter.kind.startswith("fixed ")
        if fixed and not is_constant(expression):
            raise self._refuse(
                node, f"{parameter.name} must be known before the run", "options and constants"
            )
        if is_constant(expression):
            is_number = isinstance(expression, int | float)
            if parameter.kind.endswith("number") and not is_number:
                raise self._refuse(node, f"{parameter.name} is not a number", "a number")
            if parameter.kind.endswith("text") and not isinstance(expression, str):
                raise self._refuse(node, f"{parameter.name} is not a text", "a text in quotes")
        return expression

    def _named(self, parameter: functions.Parameter, node: ast.expr) -> Expression:
        """A dictionary, a value or a counter: a name, which may stand in quotes."""
        name = node.id if isinstance(node, ast.Name) else getattr(node, "value", None)
        if not isinstance(name, str):
            raise self._refuse(node, f"{parameter.name} is a name", f"the name of a {parameter.kind}")
        if parameter.kind == "counter":
            return name
        if parameter.kind == "dictionary":
            if name not in self.names.dictionaries:
                known = sorted(self.names.dictionaries)
                message, allowed = ("unknown dictionary", ", ".join(known) or "`dictionaries` has none")
                raise self._wrong(self._at(node), message, name, allowed, nearest(name, known))
        elif name not in self.names.values | self.names.registers:
            known = sorted(self.names.values | self.names.registers)
            raise self._wrong(self._at(node), "unknown value", name, ", ".join(known), nearest(name, known))
        return name

    def _built(self, node: ast.Call, function: functions.Function, arguments: list[Expression]) -> Expression:
        if function is functions.DRAW:
            named = {
                parameter.name: argument
                for parameter, argument in zip(function.parameters, arguments, strict=True)
            }
            function = self._distribution(node, named["distribution"])
            arguments = [named[parameter.name] for parameter in function.parameters]
        if function.name in functions.DISTRIBUTIONS or function.name == "letters":
            low, high = arguments[0], arguments[1]
            if isinstance(low, str | None) or isinstance(high, str | None):
                raise self._refuse(node, "the bounds are not numbers", function.signature)
            if is_constant(low) and is_constant(high) and low > high:
                raise self._refuse(node, f"there is nothing from {low} to {high}", "the smaller number first")
        return self._operate(node, function.operator, *arguments)

    def _distribution(self, node: ast.Call, name: str) -> functions.Function:
        for function in functions.DISTRIBUTIONS.values():
            if name in (function.operator, function.name):
                return function
        raise self._wrong(
            self._at(node),
            "unknown distribution",
            name,
            ", ".join(functions.DRAW_NAMES),
            nearest(name, functions.DRAW_NAMES),
        )


def compile_written(written: Written, names: functions.Names, what: str) -> Expression:
    """The expression that a YAML value is: a number as it is, a text as an expression. Raises Wrong."""
    if written.is_list or written.is_mapping:
        raise written.wrong(f"{what} is not an expression", allowed="a number or an expression")
    value = written.scalar
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        try:
            return checked(value)
        except TypeError as error:
            raise written.wrong(str(error)) from None
    if value is None:
        if written.describe():
            return None
        raise written.wrong_key(f"{what} has no value", allowed="a number or an expression")
    return compile_text(written, value, 0, names)


def constant_of(written: Written, names: functions.Names, what: str) -> Constant:
    """As `compile_written`, for what has to be known before the run."""
    expression = compile_written(written, names, what)
    if not is_constant(expression):
        raise written.wrong(f"{what} must be known before the run", allowed="options and constants")
    constant: Constant = expression
    return constant


def number_of(written: Written, names: functions.Names, what: str, at_least: int = 0) -> int:
    """A whole number that is known before the run. Raises Wrong."""
    constant = constant_of(written, names, what)
    if not isinstance(constant, int):
        raise written.wrong(f"{what} is not a whole number", allowed="a whole number")
    if constant < at_least:
        got = "" if str(constant) == written.describe() else f", as it is {constant}"
        raise written.wrong(f"{what} is too small{got}", allowed=f"{at_least:,} or more")
    return constant
