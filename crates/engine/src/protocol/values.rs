//! The values of one statement's parameters, drawn into buffers that are used again and again.

/// A stretch of the text of [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// One value; texts lie in the buffer of the [`Values`] that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot {
    Null,
    Integer(i64),
    Float(f64),
    Text(Span),
    /// The digits of a decimal number, or SQL that is spliced in as it is: never quoted.
    Decimal(Span),
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Float(f64),
    Text(&'a [u8]),
    /// Sent without quotes.
    Decimal(&'a [u8]),
}

/// Parameters in order. Once the buffers have grown to what the largest statement needs, nothing is
/// allocated any more.
#[derive(Debug, Default)]
pub struct Values {
    slots: Vec<Slot>,
    /// Texts of the slots, and what was left behind in making them.
    text: Vec<u8>,
}

impl Values {
    pub fn clear(&mut self) {
        self.slots.clear();
        self.text.clear();
    }

    #[inline]
    pub fn push(&mut self, slot: Slot) {
        self.slots.push(slot);
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Value<'_>> {
        self.slots.iter().map(|&slot| self.value(slot))
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The slots and the buffer of their texts, to add to both.
    #[inline]
    pub fn parts(&mut self) -> (&mut Vec<Slot>, &mut Vec<u8>) {
        (&mut self.slots, &mut self.text)
    }

    /// What a slot stands for.
    #[inline]
    pub fn value(&self, slot: Slot) -> Value<'_> {
        match slot {
            Slot::Null => Value::Null,
            Slot::Integer(number) => Value::Integer(number),
            Slot::Float(number) => Value::Float(number),
            Slot::Text(span) => Value::Text(&self.text[span.start..span.end]),
            Slot::Decimal(span) => Value::Decimal(&self.text[span.start..span.end]),
        }
    }
}
