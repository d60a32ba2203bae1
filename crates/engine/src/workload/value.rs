//! Values while a program runs: what registers and dictionaries hold, and how texts become numbers.

use crate::protocol::literal::{write_float, write_integer};
use crate::protocol::values::{Slot, Span};

/// A value that lives longer than a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    Integer(i64),
    Float(f64),
    Text(Box<[u8]>),
    Decimal(Box<[u8]>),
}

impl Literal {
    /// Takes a value out of the buffer that it was made in.
    pub fn new(slot: Slot, buffer: &[u8]) -> Self {
        match slot {
            Slot::Null => Literal::Null,
            Slot::Integer(number) => Literal::Integer(number),
            Slot::Float(number) => Literal::Float(number),
            Slot::Text(span) => Literal::Text(buffer[span.start..span.end].into()),
            Slot::Decimal(span) => Literal::Decimal(buffer[span.start..span.end].into()),
        }
    }

    #[inline]
    pub fn load(&self, buffer: &mut Vec<u8>) -> Slot {
        match self {
            Literal::Null => Slot::Null,
            Literal::Integer(number) => Slot::Integer(*number),
            Literal::Float(number) => Slot::Float(*number),
            Literal::Text(text) => Slot::Text(append(text, buffer)),
            Literal::Decimal(text) => Slot::Decimal(append(text, buffer)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Content {
    #[default]
    Null,
    Integer(i64),
    Float(f64),
    Text,
    Decimal,
}

/// A named place of a connection; its buffer is used again for each text that it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Register {
    content: Content,
    text: Vec<u8>,
}

impl Register {
    #[inline]
    pub fn store(&mut self, slot: Slot, buffer: &[u8]) {
        self.content = match slot {
            Slot::Null => Content::Null,
            Slot::Integer(number) => Content::Integer(number),
            Slot::Float(number) => Content::Float(number),
            Slot::Text(span) => self.keep(Content::Text, &buffer[span.start..span.end]),
            Slot::Decimal(span) => self.keep(Content::Decimal, &buffer[span.start..span.end]),
        };
    }

    /// Takes a column as the server sent it.
    pub fn store_column(&mut self, column: Option<&[u8]>) {
        self.content = match column {
            None => Content::Null,
            Some(text) => self.keep(Content::Text, text),
        };
    }

    pub fn store_integer(&mut self, number: i64) {
        self.content = Content::Integer(number);
    }

    fn keep(&mut self, content: Content, text: &[u8]) -> Content {
        self.text.clear();
        self.text.extend_from_slice(text);
        content
    }

    #[inline]
    pub fn load(&self, buffer: &mut Vec<u8>) -> Slot {
        match self.content {
            Content::Null => Slot::Null,
            Content::Integer(number) => Slot::Integer(number),
            Content::Float(number) => Slot::Float(number),
            Content::Text => Slot::Text(append(&self.text, buffer)),
            Content::Decimal => Slot::Decimal(append(&self.text, buffer)),
        }
    }
}

#[inline]
fn append(text: &[u8], buffer: &mut Vec<u8>) -> Span {
    let start = buffer.len();
    buffer.extend_from_slice(text);
    Span { start, end: buffer.len() }
}

/// A number for arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// The number that a value is, or that its text spells; `None` for everything else.
    #[inline]
    pub fn of(slot: Slot, buffer: &[u8]) -> Option<Self> {
        match slot {
            Slot::Integer(number) => Some(Number::Integer(number)),
            Slot::Float(number) => Some(Number::Float(number)),
            Slot::Null => None,
            Slot::Text(span) | Slot::Decimal(span) => Self::parse(&buffer[span.start..span.end]),
        }
    }

    #[cold]
    fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?.trim();
        // Rust would also read "inf" and "nan".
        if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
            return None;
        }
        let integer = text.parse().ok().map(Number::Integer);
        integer.or_else(|| text.parse().ok().map(Number::Float))
    }

    pub fn as_float(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Float(number) => number,
        }
    }

    /// The whole number at or below it; `None` beyond 64 bits.
    pub fn floor(self) -> Option<i64> {
        match self {
            Number::Integer(number) => Some(number),
            Number::Float(number) => {
                let floor = number.floor();
                (floor >= i64::MIN as f64 && floor < i64::MAX as f64).then_some(floor as i64)
            }
        }
    }
}

impl From<Number> for Slot {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(number) => Slot::Integer(number),
            Number::Float(number) => Slot::Float(number),
        }
    }
}

/// Moves the text of a value made since the buffer had the length `mark` to that place, as unquoted
/// text, and drops what was left behind in making it. Null has no text.
pub fn settle_as_text(slot: Slot, mark: usize, buffer: &mut Vec<u8>) -> Option<Span> {
    match slot {
        Slot::Null => {
            buffer.truncate(mark);
            return None;
        }
        Slot::Integer(number) => {
            buffer.truncate(mark);
            write_integer(number, buffer);
        }
        Slot::Float(number) => {
            buffer.truncate(mark);
            write_float(number, buffer);
        }
        Slot::Text(span) | Slot::Decimal(span) => {
            if span.start > mark {
                buffer.copy_within(span.start..span.end, mark);
            }
            buffer.truncate(mark + span.end - span.start);
        }
    }
    Some(Span { start: mark, end: buffer.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_when_they_spell_one() {
        let number = |text: &str| {
            let span = Span { start: 0, end: text.len() };
            Number::of(Slot::Text(span), text.as_bytes())
        };
        assert_eq!(number("42"), Some(Number::Integer(42)));
        assert_eq!(number("-7"), Some(Number::Integer(-7)));
        assert_eq!(number("12.50"), Some(Number::Float(12.5)));
        assert_eq!(number("1e3"), Some(Number::Float(1000.0)));
        for text in ["", "abc", "inf", "NaN", "1 2", "0x10"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_register_gives_back_what_it_was_given() {
        let mut register = Register::default();
        let mut buffer = Vec::new();
        let values = [
            Literal::Text(b"a long text".as_slice().into()),
            Literal::Integer(i64::MIN),
            Literal::Decimal(b"1.50".as_slice().into()),
            Literal::Float(0.5),
            Literal::Text(b"".as_slice().into()),
            Literal::Null,
        ];
        for value in values {
            let slot = value.load(&mut buffer);
            register.store(slot, &buffer);
            let loaded = register.load(&mut buffer);
            assert_eq!(Literal::new(loaded, &buffer), value);
        }
        register.store_column(Some(b"12"));
        assert_eq!(
            Literal::new(register.load(&mut buffer), &buffer),
            Literal::Text(b"12"[..].into())
        );
        register.store_column(None);
        assert_eq!(register.load(&mut buffer), Slot::Null);
    }
}
