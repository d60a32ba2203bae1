//! From the expressions of a job to those that are evaluated.

use super::arithmetic::Operation;
use super::expression::{Comparison, Expression, MOST_TEXT};
use super::fault::{At, Fault, fault};
use super::fold::fold;
use super::pattern::{Letters, Pattern};
use super::scope::{COPY, Scope, Site};
use super::signatures::check;
use super::value::Literal;
use crate::distribution::{Picker, Shape, Special};
use crate::job::program::Expr;

/// Most uniform draws that a gaussian value may average.
const MOST_DRAWS: i64 = 1000;
/// Separate copies of a counter.
const MOST_COPIES: i64 = 100_000;

/// Compiles an expression and folds what is constant in it.
pub fn compile(expr: &Expr, scope: &mut Scope<'_>) -> Result<Expression, Fault> {
    Ok(match expr {
        Expr::Null => Expression::Constant(Literal::Null),
        Expr::Integer(number) => Expression::Constant(Literal::Integer(*number)),
        Expr::Float(number) => Expression::Constant(Literal::Float(*number)),
        Expr::Text(text) => Expression::Constant(Literal::Text(text.as_bytes().into())),
        Expr::Call(operator, arguments) => {
            let mut call = Call { operator, arguments, scope };
            fold(call.compile()?)
        }
    })
}

/// One use of an operator.
struct Call<'e, 's, 'j> {
    operator: &'e str,
    arguments: &'e [Expr],
    scope: &'s mut Scope<'j>,
}

impl<'e> Call<'e, '_, '_> {
    fn compile(&mut self) -> Result<Expression, Fault> {
        check(self.operator, self.arguments.len())?;
        if let Some(operation) = operation(self.operator) {
            return Ok(Expression::Calculate(operation, self.all()?));
        }
        if let Some(comparison) = comparison(self.operator) {
            return Ok(Expression::Compare(comparison, self.all()?));
        }
        match self.operator {
            "and" => Ok(Expression::And(self.all()?)),
            "or" => Ok(Expression::Or(self.all()?)),
            "not" => Ok(Expression::Not(Box::new(self.at(0)?))),
            "if" => Ok(Expression::If(self.all()?)),
            "concat" => Ok(Expression::Concat(self.list(0..self.arguments.len())?.into())),
            "times" => Ok(Expression::Times(self.all()?)),
            "decimal" => Ok(Expression::Decimal(self.all()?)),
            "substring" => Ok(Expression::Substring(self.all()?)),
            "permute" => Ok(Expression::Permute(self.all()?)),
            "pad" => {
                let filler = self.text(2)?;
                if filler.chars().count() != 1 {
                    return fault("the filler must be one character").index(3);
                }
                Ok(Expression::Pad(self.first()?, filler.into()))
            }
            "list" => Ok(Expression::List(self.first()?, self.text(2)?.into())),
            "pattern" => Ok(Expression::Pattern(Pattern::new(self.text(0)?))),
            "letters" => match Letters::new(self.text(2)?) {
                Some(letters) => Ok(Expression::Letters(letters, self.first()?)),
                None => fault("the alphabet must have 1 to 128 letters, all of ASCII").index(3),
            },
            "exponential" => Ok(Expression::Exponential(Box::new(self.at(0)?))),
            "gaussian" | "special" | "special-corrected" | "special-0.4" | "uniform" | "pareto"
            | "zipfian" | "nurand" => self.distribution(),
            _ => self.name(),
        }
    }

    /// Operators that are about a name or a place.
    fn name(&mut self) -> Result<Expression, Fault> {
        match self.operator {
            "var" => Ok(Expression::Register(self.scope.variable(self.text(0)?).index(1)?)),
            "draw" => {
                let name = self.text(0)?;
                let (value, keep) = self.scope.value(name).index(1)?;
                self.check_here(name).index(1)?;
                Ok(Expression::Draw { value, keep })
            }
            "row" if self.scope.site() == Site::Step => {
                fault("`row` is for the rows of tables only")
            }
            "row" => Ok(Expression::Row),
            "pick" => Ok(Expression::PickWord(self.dictionary()?)),
            "word" => {
                let dictionary = self.dictionary()?;
                Ok(Expression::Word(dictionary, Box::new(self.at(1)?)))
            }
            other if self.scope.site() == Site::Row => fault(format!(
                "rows cannot use `{other}`: they are the same whatever the load does"
            )),
            "next" => Ok(Expression::NextWord(self.dictionary()?)),
            "connection" => Ok(Expression::Connection),
            "connections" => Ok(Expression::Connections),
            "event" => Ok(Expression::Event),
            "copy" => Ok(Expression::Register(self.scope.register(COPY))),
            "unique" => Ok(Expression::Unique),
            "counter" => {
                let (start, step) = (self.integer(1)?, self.integer(2)?);
                let copies = self.integer(3)?;
                let name = self.text(0)?;
                if !(1..=MOST_COPIES).contains(&copies) {
                    return fault(format!("must be from 1 to {MOST_COPIES}")).index(4);
                }
                let index = self.scope.counter(name, start, step, copies as usize).index(1)?;
                Ok(Expression::Counter(index, Box::new(self.at(4)?)))
            }
            other => unreachable!("{other} is in the table of operators"),
        }
    }

    /// Checks that a named generator uses only what there is in this place.
    fn check_here(&mut self, name: &str) -> Result<(), Fault> {
        let Some(value) = self.scope.unchecked(name) else { return Ok(()) };
        match compile(value, self.scope) {
            Ok(_) => Ok(()),
            Err(inner) => fault(format!("cannot be drawn here: {}", inner.within(name))),
        }
    }

    fn distribution(&mut self) -> Result<Expression, Fault> {
        // The range is the first two arguments, but for nurand the middle ones.
        let range = usize::from(self.operator == "nurand");
        let shape = self.shape()?;
        let low = self.at(range)?;
        let high = self.at(range + 1)?;
        let (Some(low), Some(high)) = (whole(&low), whole(&high)) else {
            return Ok(Expression::PickBetween(shape, Box::new([low, high])));
        };
        match (shape, Picker::new(shape, low, high)) {
            (_, None) => fault(format!("there is no number from {low} to {high}")),
            (Shape::Uniform, Some(_)) => {
                Ok(Expression::Uniform { low, values: (high - low) as u64 + 1 })
            }
            (_, Some(picker)) => Ok(Expression::Pick(Box::new(picker))),
        }
    }

    fn shape(&mut self) -> Result<Shape, Fault> {
        Ok(match self.operator {
            "uniform" => Shape::Uniform,
            "gaussian" => Shape::Gaussian { draws: self.draws()? },
            "special" => Shape::Special(self.special()?),
            "special-corrected" => Shape::SpecialCorrected(self.special()?),
            "special-0.4" => Shape::SpecialLegacy(self.special()?),
            "pareto" => Shape::Pareto { h: self.float_within(2, 0.001, 0.999)? },
            "zipfian" => Shape::Zipfian { exponent: self.float_within(2, 0.0, 20.0)? },
            _ => {
                let a = self.integer(0)?;
                match u64::try_from(a) {
                    Ok(a) if a < 1 << 62 => Shape::NonUniform { a, c: self.integer(3)? },
                    _ => return fault("must be from 0 to 2^62").index(1),
                }
            }
        })
    }

    fn special(&mut self) -> Result<Special, Fault> {
        Ok(Special {
            draws: self.draws()?,
            window_pct: self.float_within(3, 0.0, 100.0)?,
            share_pct: self.float_within(4, 0.0, 100.0)?,
        })
    }

    fn draws(&mut self) -> Result<u32, Fault> {
        match self.integer(2)? {
            draws @ 1..=MOST_DRAWS => Ok(draws as u32),
            draws => fault(format!("must be from 1 to {MOST_DRAWS}, is {draws}")).index(3),
        }
    }

    fn at(&mut self, number: usize) -> Result<Expression, Fault> {
        compile(&self.arguments[number], self.scope).index(number + 1)
    }

    fn list(&mut self, numbers: std::ops::Range<usize>) -> Result<Vec<Expression>, Fault> {
        numbers.map(|number| self.at(number)).collect()
    }

    /// All arguments, as many as the shape of the expression has.
    fn all<const N: usize>(&mut self) -> Result<Box<[Expression; N]>, Fault> {
        let all: [Expression; N] =
            self.list(0..N)?.try_into().expect("the count was checked against the table");
        Ok(Box::new(all))
    }

    /// The first two arguments.
    fn first(&mut self) -> Result<Box<[Expression; 2]>, Fault> {
        Ok(Box::new([self.at(0)?, self.at(1)?]))
    }

    fn text(&self, number: usize) -> Result<&'e str, Fault> {
        match &self.arguments[number] {
            Expr::Text(text) if text.len() <= MOST_TEXT => Ok(text),
            _ => fault("must be a plain text").index(number + 1),
        }
    }

    fn integer(&mut self, number: usize) -> Result<i64, Fault> {
        match whole(&self.at(number)?) {
            Some(value) => Ok(value),
            None => fault("must be a constant whole number").index(number + 1),
        }
    }

    fn float_within(&mut self, number: usize, least: f64, most: f64) -> Result<f64, Fault> {
        let value = match self.at(number)? {
            Expression::Constant(Literal::Integer(value)) => value as f64,
            Expression::Constant(Literal::Float(value)) => value,
            _ => return fault("must be a constant number").index(number + 1),
        };
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        fault(format!("must be from {least} to {most}, is {value}")).index(number + 1)
    }

    fn dictionary(&mut self) -> Result<usize, Fault> {
        self.scope.dictionary(self.text(0)?).index(1)
    }
}

fn whole(expression: &Expression) -> Option<i64> {
    match expression {
        Expression::Constant(Literal::Integer(value)) => Some(*value),
        _ => None,
    }
}

fn operation(operator: &str) -> Option<Operation> {
    Some(match operator {
        "+" => Operation::Add,
        "-" => Operation::Subtract,
        "*" => Operation::Multiply,
        "//" => Operation::DivideWhole,
        "%" => Operation::Remainder,
        "/" => Operation::Divide,
        "min" => Operation::Least,
        "max" => Operation::Most,
        _ => return None,
    })
}

fn comparison(operator: &str) -> Option<Comparison> {
    Some(match operator {
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        "==" => Comparison::Equal,
        "!=" => Comparison::Unequal,
        _ => return None,
    })
}
