//! One condition, ready to be tested on an entry.

use std::collections::HashMap;

use regex::bytes::Regex;

use crate::attribute::Attribute;
use crate::entry::Entry;
use crate::fingerprint::{Id, TableNames, id_of, text_of};
use crate::groups::MOST_FINGERPRINT;
use crate::tags::tag;

#[derive(Clone, Debug)]
pub enum Condition {
    Text {
        of: Text,
        is: TextTest,
    },
    /// What the header does not have fulfils no condition.
    Number {
        of: Attribute,
        order: Order,
        than: u64,
    },
}

/// What of an entry is compared as text; what is not given is empty.
#[derive(Clone, Debug)]
pub enum Text {
    User,
    Host,
    Database,
    Statement,
    Id,
    /// The number of an error, in decimal digits.
    Error,
    /// An attribute in a comment, by its key.
    Tag(Vec<u8>),
    /// With the answers so far, one a fingerprint.
    Fingerprint(HashMap<Id, bool>),
}

#[derive(Clone, Debug)]
pub enum TextTest {
    Equal(String),
    Unequal(String),
    Matching(Regex),
    NotMatching(Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

impl Condition {
    pub fn holds(&mut self, entry: &Entry<'_>, names: TableNames) -> bool {
        match self {
            Self::Text { of, is } => match of {
                Text::User => is.passes(entry.user),
                Text::Host => is.passes(entry.host),
                Text::Database => is.passes(entry.database),
                Text::Statement => is.passes(entry.statement),
                Text::Error if entry.error == 0 => is.passes(b""),
                Text::Error => is.passes(entry.error.to_string().as_bytes()),
                Text::Tag(key) => is.passes(&tag(entry.statement, key).unwrap_or_default()),
                Text::Id => is.passes(id_of(entry, names).to_string().as_bytes()),
                Text::Fingerprint(known) => *known
                    .entry(id_of(entry, names))
                    .or_insert_with(|| is.passes(&text_of(entry, MOST_FINGERPRINT, names).text)),
            },
            Self::Number { of, order, than } => {
                entry.values.get(*of).is_some_and(|number| order.holds(number, *than))
            }
        }
    }
}

impl TextTest {
    fn passes(&self, text: &[u8]) -> bool {
        match self {
            Self::Equal(other) => text == other.as_bytes(),
            Self::Unequal(other) => text != other.as_bytes(),
            Self::Matching(pattern) => pattern.is_match(text),
            Self::NotMatching(pattern) => !pattern.is_match(text),
        }
    }
}

impl Order {
    fn holds(self, number: u64, than: u64) -> bool {
        match self {
            Self::Equal => number == than,
            Self::Unequal => number != than,
            Self::Less => number < than,
            Self::LessOrEqual => number <= than,
            Self::More => number > than,
            Self::MoreOrEqual => number >= than,
        }
    }
}
