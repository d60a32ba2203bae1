//! One statement of a slow log, as it is in the bytes that were read.

use std::fmt;

use crate::attribute::Attribute;

/// Microseconds since 1970, UTC.
pub type Time = i64;

/// What the header says in numbers; what it does not say is not there, which is not 0.
#[derive(Clone, Copy)]
pub struct Values {
    numbers: [u64; Attribute::COUNT],
    given: u64,
}

// One bit an attribute.
const _: () = assert!(Attribute::COUNT <= 64);

impl Default for Values {
    fn default() -> Self {
        Self { numbers: [0; Attribute::COUNT], given: 0 }
    }
}

impl Values {
    /// Forgets all of them; cheaper than a new one.
    #[inline]
    pub fn clear(&mut self) {
        self.given = 0;
    }

    #[inline]
    pub fn set(&mut self, attribute: Attribute, number: u64) {
        self.numbers[attribute as usize] = number;
        self.given |= 1 << attribute as u8;
    }

    #[inline]
    pub fn get(&self, attribute: Attribute) -> Option<u64> {
        (self.given >> attribute as u8 & 1 == 1).then(|| self.numbers[attribute as usize])
    }

    /// Those that are given, in the order of [`Attribute::ALL`].
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Attribute, u64)> + '_ {
        let mut left = self.given;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let place = left.trailing_zeros() as usize;
                left &= left - 1;
                (Attribute::ALL[place], self.numbers[place])
            })
        })
    }
}

// What is not given has a number of an entry before, which must not be seen.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given && self.iter().eq(other.iter())
    }
}

impl Eq for Values {}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

/// What kind of entry was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Statement,
    /// `# administrator command: Ping`, whose [`Entry::statement`] is `Ping`.
    AdministratorCommand,
}

/// What is in front of an entry's statement, as it was logged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw<'a> {
    /// The lines that begin with `#`.
    pub header: &'a [u8],
    /// `use` and `SET`.
    pub preamble: &'a [u8],
    /// Whether they have the time and the database, which are those of entries before otherwise.
    pub has_time: bool,
    pub has_database: bool,
}

/// One entry of a slow log. Texts are bytes: nothing promises that a log is UTF-8. What is not given is empty.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The offset of its first byte in its (uncompressed) source.
    pub at: u64,
    /// The number of that line in its source, from 1.
    pub line: u64,
    /// When it was run; taken from the entries before it where it does not say so itself.
    pub time: Option<Time>,
    pub user: &'a [u8],
    /// The client's host name, or its address where there is no name.
    pub host: &'a [u8],
    /// Taken from the entries before it where it does not say so itself.
    pub database: &'a [u8],
    pub values: &'a Values,
    pub kind: Kind,
    /// Without its closing semicolon, and never empty.
    pub statement: &'a [u8],
    /// The error's number; 0 where there was none, or the log has none.
    pub error: u64,
    pub raw: Raw<'a>,
    /// Bytes that `statement` goes on for beyond what was kept of it; 0 for all but the longest. The parser
    /// leaves it 0: the pipeline knows.
    pub beyond: u64,
}
