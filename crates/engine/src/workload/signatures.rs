//! The operators of expressions and the arguments that each takes.

use super::fault::{Fault, fault};

/// Every operator with its arguments.
const OPERATORS: &[(&str, &str)] = &[
    ("var", "name"),
    ("draw", "name"),
    ("row", ""),
    ("connection", ""),
    ("connections", ""),
    ("event", ""),
    ("copy", ""),
    ("uniform", "low, high"),
    ("gaussian", "low, high, draws"),
    ("special", "low, high, draws, window %, share %"),
    ("special-corrected", "low, high, draws, window %, share %"),
    ("special-0.4", "low, high, draws, window %, share %"),
    ("pareto", "low, high, h"),
    ("zipfian", "low, high, exponent"),
    ("nurand", "A, low, high, C"),
    ("exponential", "mean"),
    ("pattern", "text"),
    ("letters", "least, most, alphabet"),
    ("pick", "dictionary"),
    ("next", "dictionary"),
    ("word", "dictionary, index"),
    ("unique", ""),
    ("counter", "name, start, step, copies, copy"),
    ("+", "a, b"),
    ("-", "a, b"),
    ("*", "a, b"),
    ("//", "a, b"),
    ("%", "a, b"),
    ("/", "a, b"),
    ("min", "a, b"),
    ("max", "a, b"),
    ("<", "a, b"),
    ("<=", "a, b"),
    ("==", "a, b"),
    ("!=", "a, b"),
    ("and", "a, b"),
    ("or", "a, b"),
    ("not", "a"),
    ("if", "condition, a, b"),
    ("concat", "a, ..."),
    ("times", "n, text"),
    ("pad", "a, width, character"),
    ("decimal", "a, places"),
    ("substring", "text, from, length"),
    ("permute", "i, n, key"),
    ("list", "n, item, separator"),
];

/// Names of all operators.
pub fn operators() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|(name, _)| *name)
}

/// Checks that there is such an operator and that it takes so many arguments.
pub fn check(operator: &str, given: usize) -> Result<(), Fault> {
    let Some((name, names)) = OPERATORS.iter().find(|(name, _)| *name == operator) else {
        return fault(format!("unknown operator `{operator}`"));
    };
    let wanted = names.split(", ").filter(|name| !name.is_empty()).count();
    if given == wanted || (names.ends_with("...") && given >= 1) {
        return Ok(());
    }
    let takes = match wanted {
        0 => "no argument".to_owned(),
        1 => format!("1 argument ({names})"),
        _ => format!("{wanted} arguments ({names})"),
    };
    fault(format!("`{name}` takes {takes}, has {given}"))
}
