//! Folding of constants: what depends on nothing is evaluated once.

use super::expression::{Expression, Machine, Place, Shared};
use super::unique::Unique;
use super::value::Literal;
use crate::random::Random;

/// The constant that the expression is, or the expression itself.
pub fn fold(expression: Expression) -> Expression {
    if !is_constant(&expression) {
        return expression;
    }
    let shared = Shared {
        values: Vec::new(),
        dictionaries: Vec::new(),
        counters: Vec::new(),
        unique: Unique::new(0),
    };
    let mut text = Vec::new();
    let slot = expression.evaluate(&mut Machine {
        shared: &shared,
        random: &mut Random::stream(0, &[]),
        text: &mut text,
        registers: &mut [],
        turns: &mut [],
        place: Place::default(),
    });
    Expression::Constant(Literal::new(slot, &text))
}

/// An operator without chance or memory, all of whose arguments are constants.
fn is_constant(expression: &Expression) -> bool {
    let all = |arguments: &[Expression]| {
        arguments.iter().all(|argument| matches!(argument, Expression::Constant(_)))
    };
    match expression {
        Expression::Calculate(_, arguments) | Expression::Compare(_, arguments) => {
            all(&arguments[..])
        }
        Expression::And(arguments)
        | Expression::Or(arguments)
        | Expression::Times(arguments)
        | Expression::Decimal(arguments)
        | Expression::Pad(arguments, _)
        | Expression::List(arguments, _) => all(&arguments[..]),
        Expression::If(arguments)
        | Expression::Substring(arguments)
        | Expression::Permute(arguments) => all(&arguments[..]),
        Expression::Not(argument) => matches!(**argument, Expression::Constant(_)),
        Expression::Concat(arguments) => all(arguments),
        _ => false,
    }
}
