"""CasADi's operations and the C expression of each; {0} and {1} are the operands."""

from __future__ import annotations

import casadi

BINARY = {
    "ADD": "{0} + {1}",
    "SUB": "{0} - {1}",
    "MUL": "{0} * {1}",
    "DIV": "{0} / {1}",
    "POW": "pow({0}, {1})",
    "CONSTPOW": "pow({0}, {1})",
    "ATAN2": "atan2({0}, {1})",
    "FMIN": "fmin({0}, {1})",
    "FMAX": "fmax({0}, {1})",
    "FMOD": "fmod({0}, {1})",
    "COPYSIGN": "copysign({0}, {1})",
    "HYPOT": "hypot({0}, {1})",
    "LT": "(double)({0} < {1})",
    "LE": "(double)({0} <= {1})",
    "EQ": "(double)({0} == {1})",
    "NE": "(double)({0} != {1})",
    "AND": "(double)({0} != 0 && {1} != 0)",
    "OR": "(double)({0} != 0 || {1} != 0)",
    "IF_ELSE_ZERO": "{0} != 0 ? {1} : 0.0",
}
FUNCTIONS = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "floor",
    "ceil",
    "fabs",
    "log1p",
    "expm1",
    "erf",
]
UNARY = {
    "ASSIGN": "{0}",
    "NEG": "-{0}",
    "SQ": "{0} * {0}",
    "TWICE": "2.0 * {0}",
    "INV": "1.0 / {0}",
    "NOT": "(double)({0} == 0)",
    "SIGN": "(double)(({0} > 0) - ({0} < 0))",
    **{function.upper(): function + "({0})" for function in FUNCTIONS},
}
CONDITIONAL_TANH = 999  # tanh of the first operand where the second is not zero

TEMPLATES = {getattr(casadi, f"OP_{name}"): template for name, template in {**UNARY, **BINARY}.items()}
TEMPLATES[CONDITIONAL_TANH] = "{1} != 0 ? tanh({0}) : 0.0"


def is_binary(code: int) -> bool:
    """Whether an operation has two operands."""
    return "{1}" in TEMPLATES[code]
