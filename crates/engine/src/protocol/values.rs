//! The values of one statement's parameters, drawn into a buffer that is used again and again.

/// No statement of any workload has more parameters.
const MOST: usize = 8;
/// Room for the texts of one statement; the largest insert needs 180 bytes.
const TEXT: usize = 512;

#[derive(Clone, Copy, Debug)]
enum Slot {
    Integer(i32),
    Text { start: u16, end: u16 },
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Sent as a decimal number, or as MYSQL_TYPE_LONG.
    Integer(i32),
    /// Letters, digits and hyphens only, so it needs no escapes between quotes.
    Text(&'a [u8]),
}

/// Parameters in order. Nothing is allocated after [`Values::default`].
#[derive(Debug)]
pub struct Values {
    slots: [Slot; MOST],
    count: usize,
    text: Vec<u8>,
}

impl Default for Values {
    fn default() -> Self {
        Self { slots: [Slot::Integer(0); MOST], count: 0, text: Vec::with_capacity(TEXT) }
    }
}

impl Values {
    pub fn clear(&mut self) {
        self.count = 0;
        self.text.clear();
    }

    pub fn push_integer(&mut self, value: i32) {
        self.push(Slot::Integer(value));
    }

    pub fn push_text(&mut self, text: &[u8]) {
        self.push_text_with(|out| out.extend_from_slice(text));
    }

    /// Adds a text that `write` appends to the buffer.
    pub fn push_text_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len() as u16;
        write(&mut self.text);
        self.push(Slot::Text { start, end: self.text.len() as u16 });
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = Value<'_>> {
        self.slots[..self.count].iter().map(|slot| match *slot {
            Slot::Integer(value) => Value::Integer(value),
            Slot::Text { start, end } => Value::Text(&self.text[start.into()..end.into()]),
        })
    }

    fn push(&mut self, slot: Slot) {
        self.slots[self.count] = slot;
        self.count += 1;
    }
}
