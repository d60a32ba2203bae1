//! What a header can say of a statement in numbers and flags, one row an attribute.

use serde::Serialize;

/// What an attribute's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Microseconds.
    Us,
    Count,
    Bytes,
    /// 1 for yes, 0 for no.
    Flag,
}

macro_rules! attributes {
    ($($variant:ident $key:literal $name:literal $unit:ident;)*) => {
        /// One attribute; its number is its place in [`crate::entry::Values`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Attribute { $($variant),* }

        impl Attribute {
            pub const ALL: &[Attribute] = &[$(Attribute::$variant),*];

            /// As logs spell it in front of the colon.
            pub fn key(self) -> &'static str {
                match self { $(Attribute::$variant => $key),* }
            }

            /// As messages and filters spell it.
            pub fn name(self) -> &'static str {
                match self { $(Attribute::$variant => $name),* }
            }

            pub fn unit(self) -> Unit {
                match self { $(Attribute::$variant => Unit::$unit),* }
            }
        }
    };
}

attributes! {
    QueryTime "Query_time" "query_time" Us;
    LockTime "Lock_time" "lock_time" Us;
    RowsSent "Rows_sent" "rows_sent" Count;
    RowsExamined "Rows_examined" "rows_examined" Count;
    // MariaDB, Percona and MySQL's log_slow_extra.
    RowsAffected "Rows_affected" "rows_affected" Count;
    BytesSent "Bytes_sent" "bytes_sent" Bytes;
}

impl Attribute {
    pub const COUNT: usize = Self::ALL.len();
}
