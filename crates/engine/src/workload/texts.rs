//! The operators that make texts.

use super::expression::{Expression, MOST_TEXT, Machine};
use crate::protocol::literal::write_integer;
use crate::protocol::values::{Slot, Span};

/// More places after the point than any server's DECIMAL has.
const MOST_PLACES: i64 = 38;

impl Expression {
    pub(super) fn evaluate_text(&self, machine: &mut Machine<'_>) -> Slot {
        let start = machine.text.len();
        let made = match self {
            Expression::Letters(letters, lengths) => {
                let count = machine.length_between(lengths);
                count.map(|count| letters.write(count, machine.random, machine.text))
            }
            Expression::Concat(parts) => {
                parts.iter().try_for_each(|part| machine.append_text(part).map(drop))
            }
            Expression::Times(arguments) => machine.repeat(arguments),
            Expression::Pad(arguments, filler) => machine.pad(arguments, filler),
            Expression::Substring(arguments) => machine.cut(arguments),
            Expression::List(arguments, separator) => machine.list(arguments, separator),
            Expression::Decimal(arguments) => {
                return machine.decimal(arguments).map_or(Slot::Null, Slot::Decimal);
            }
            other => unreachable!("{other:?} is evaluated elsewhere"),
        };
        match made {
            Some(()) => Slot::Text(Span { start, end: machine.text.len() }),
            None => Slot::Null,
        }
    }
}

impl Machine<'_> {
    /// A count from an expression: 0 for what is negative.
    fn count(&mut self, expression: &Expression) -> Option<usize> {
        let mark = self.text.len();
        let count = self.integer(expression)?;
        self.text.truncate(mark);
        Some(count.clamp(0, MOST_TEXT as i64) as usize)
    }

    fn length_between(&mut self, [least, most]: &[Expression; 2]) -> Option<usize> {
        let least = self.count(least)?;
        let most = self.count(most)?.max(least);
        Some(least + self.random.below((most - least) as u64 + 1) as usize)
    }

    fn repeat(&mut self, [count, text]: &[Expression; 2]) -> Option<()> {
        let count = self.count(count)?;
        let span = self.append_text(text)?;
        let length = span.end - span.start;
        if count == 0 {
            self.text.truncate(span.start);
        } else if length * count > MOST_TEXT {
            return None;
        }
        for _ in 1..count {
            self.text.extend_from_within(span.start..span.end);
        }
        Some(())
    }

    /// Pads to a width in characters on the left.
    fn pad(&mut self, [value, width]: &[Expression; 2], filler: &str) -> Option<()> {
        let width = self.count(width)?;
        let span = self.append_text(value)?;
        let characters = String::from_utf8_lossy(&self.text[span.start..span.end]).chars().count();
        let missing = width.saturating_sub(characters);
        if missing * filler.len() > MOST_TEXT {
            return None;
        }
        for _ in 0..missing {
            self.text.extend_from_slice(filler.as_bytes());
        }
        self.text[span.start..].rotate_left(span.end - span.start);
        Some(())
    }

    /// Keeps `length` characters from the place `from`, counted from 0.
    fn cut(&mut self, [text, from, length]: &[Expression; 3]) -> Option<()> {
        let from = self.count(from)?;
        let length = self.count(length)?;
        let span = self.append_text(text)?;
        let bytes = &self.text[span.start..span.end];
        let (start, end) = match str::from_utf8(bytes) {
            Ok(text) if !text.is_ascii() => {
                let place =
                    |number| text.char_indices().nth(number).map_or(text.len(), |(at, _)| at);
                (place(from), place(from.saturating_add(length)))
            }
            _ => (from.min(bytes.len()), from.saturating_add(length).min(bytes.len())),
        };
        self.text.copy_within(span.start + start..span.start + end, span.start);
        self.text.truncate(span.start + end - start);
        Some(())
    }

    fn list(&mut self, [count, item]: &[Expression; 2], separator: &str) -> Option<()> {
        let count = self.count(count)?;
        for number in 0..count {
            if number > 0 {
                self.text.extend_from_slice(separator.as_bytes());
            }
            self.append_text(item)?;
            if self.text.len() > MOST_TEXT {
                return None;
            }
        }
        Some(())
    }

    /// Puts a point before the last `places` digits of a whole number.
    fn decimal(&mut self, [number, places]: &[Expression; 2]) -> Option<Span> {
        let number = self.integer(number)?;
        let places = self.integer(places)?.clamp(0, MOST_PLACES) as usize;
        let start = self.text.len();
        write_integer(number, self.text);
        let first = start + usize::from(number < 0);
        // At least one digit before the point.
        while self.text.len() - first <= places {
            self.text.insert(first, b'0');
        }
        if places > 0 {
            self.text.insert(self.text.len() - places, b'.');
        }
        Some(Span { start, end: self.text.len() })
    }
}
