//! One query of the suite.

/// A query and the rows that it finds in the generated data.
pub struct Query {
    pub sql: &'static str,
    pub rows: u64,
}

pub const fn query(rows: u64, sql: &'static str) -> Query {
    Query { sql, rows }
}
