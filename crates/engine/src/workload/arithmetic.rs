//! Arithmetic and comparison of values. Null and texts that spell no number make the result null;
//! so do a division by zero and a whole number beyond 64 bits.

use std::cmp::Ordering;

use super::value::Number;
use crate::protocol::values::Slot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Rounds down, also below 0.
    DivideWhole,
    /// What [`Operation::DivideWhole`] leaves: its sign is the divisor's.
    Remainder,
    Divide,
    Least,
    Most,
}

#[inline]
pub fn calculate(operation: Operation, left: Slot, right: Slot, buffer: &[u8]) -> Slot {
    if let (Slot::Integer(left), Slot::Integer(right)) = (left, right)
        && operation != Operation::Divide
    {
        return whole(operation, left, right).map_or(Slot::Null, Slot::Integer);
    }
    match (Number::of(left, buffer), Number::of(right, buffer)) {
        (Some(Number::Integer(left)), Some(Number::Integer(right)))
            if operation != Operation::Divide =>
        {
            whole(operation, left, right).map_or(Slot::Null, Slot::Integer)
        }
        (Some(left), Some(right)) => mixed(operation, left.as_float(), right.as_float()),
        _ => Slot::Null,
    }
}

#[inline]
fn whole(operation: Operation, left: i64, right: i64) -> Option<i64> {
    match operation {
        Operation::Add => left.checked_add(right),
        Operation::Subtract => left.checked_sub(right),
        Operation::Multiply => left.checked_mul(right),
        Operation::DivideWhole => {
            let quotient = left.checked_div(right)?;
            let rounds_up = left % right != 0 && (left < 0) != (right < 0);
            Some(quotient - i64::from(rounds_up))
        }
        Operation::Remainder => {
            let rest = left.checked_rem(right)?;
            let other_side = rest != 0 && (rest < 0) != (right < 0);
            Some(if other_side { rest + right } else { rest })
        }
        Operation::Least => Some(left.min(right)),
        Operation::Most => Some(left.max(right)),
        Operation::Divide => unreachable!("the caller divides as floats"),
    }
}

fn mixed(operation: Operation, left: f64, right: f64) -> Slot {
    let result = match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
        Operation::DivideWhole => (left / right).floor(),
        Operation::Remainder => left - right * (left / right).floor(),
        Operation::Divide => left / right,
        Operation::Least => left.min(right),
        Operation::Most => left.max(right),
    };
    if result.is_finite() { Slot::Float(result) } else { Slot::Null }
}

/// The order of two values: of numbers when both are numbers or spell one, else of their bytes. Null
/// equals null and has no order to anything else.
pub fn compare(left: Slot, right: Slot, buffer: &[u8]) -> Option<Ordering> {
    match (left, right) {
        (Slot::Null, Slot::Null) => return Some(Ordering::Equal),
        (Slot::Null, _) | (_, Slot::Null) => return None,
        _ => {}
    }
    match (Number::of(left, buffer), Number::of(right, buffer)) {
        (Some(Number::Integer(left)), Some(Number::Integer(right))) => Some(left.cmp(&right)),
        (Some(left), Some(right)) => left.as_float().partial_cmp(&right.as_float()),
        _ => Some(bytes(left, buffer)?.cmp(bytes(right, buffer)?)),
    }
}

/// A number other than 0.
pub fn is_true(slot: Slot, buffer: &[u8]) -> bool {
    match slot {
        Slot::Integer(number) => number != 0,
        other => Number::of(other, buffer).is_some_and(|number| number.as_float() != 0.0),
    }
}

fn bytes(slot: Slot, buffer: &[u8]) -> Option<&[u8]> {
    match slot {
        Slot::Text(span) | Slot::Decimal(span) => Some(&buffer[span.start..span.end]),
        Slot::Null | Slot::Integer(_) | Slot::Float(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_division_rounds_down_and_the_remainder_makes_up_for_it(left: i64, right: i64) {
            let quotient = whole(Operation::DivideWhole, left, right);
            let rest = whole(Operation::Remainder, left, right);
            if right == 0 {
                prop_assert_eq!((quotient, rest), (None, None));
            } else if let (Some(quotient), Some(rest)) = (quotient, rest) {
                prop_assert_eq!(
                    i128::from(quotient) * i128::from(right) + i128::from(rest),
                    i128::from(left)
                );
                prop_assert!(rest == 0 || (rest < 0) == (right < 0));
                prop_assert!(rest.unsigned_abs() < right.unsigned_abs());
            }
        }
    }

    #[test]
    fn a_result_beyond_64_bits_is_null_and_never_wraps() {
        assert_eq!(whole(Operation::Add, i64::MAX, 1), None);
        assert_eq!(whole(Operation::Multiply, i64::MAX, 2), None);
        assert_eq!(whole(Operation::DivideWhole, i64::MIN, -1), None);
        assert_eq!(mixed(Operation::Divide, 1.0, 0.0), Slot::Null);
        assert_eq!(mixed(Operation::DivideWhole, -7.0, 2.0), Slot::Float(-4.0));
    }

    #[test]
    fn texts_compare_as_numbers_only_when_both_spell_one() {
        use crate::protocol::values::Span;
        let text = |start, end| Slot::Text(Span { start, end });
        let buffer = b"10 9 b a";
        assert_eq!(compare(text(0, 2), text(3, 4), buffer), Some(Ordering::Greater));
        assert_eq!(compare(text(0, 2), Slot::Integer(10), buffer), Some(Ordering::Equal));
        assert_eq!(compare(text(5, 6), text(7, 8), buffer), Some(Ordering::Greater));
        assert_eq!(compare(text(5, 6), Slot::Integer(1), buffer), None);
        assert_eq!(compare(Slot::Null, Slot::Null, buffer), Some(Ordering::Equal));
        assert_eq!(compare(Slot::Null, Slot::Integer(0), buffer), None);
    }
}
