//! What the options of the suite mean to the test programs.

use crate::job::{AlterAlgorithm, SqlBenchJob};

/// The options of a run; those that imply others have been applied.
pub type Options = SqlBenchJob;

/// In the comment of every table that the programs make: such a table may be dropped unasked.
pub const OURS: &str = "made by mydyno";

impl SqlBenchJob {
    /// Applies what options imply.
    pub fn resolved(&self) -> Options {
        let mut options = self.clone();
        options.fast_insert |= options.fast;
        options.lock_tables |= options.fast;
        options
    }

    /// Whether the create options name an engine with transactions.
    pub fn transactional(&self) -> bool {
        ["innodb", "bdb", "gemini", "ndb"].iter().any(|engine| self.names_engine(engine))
    }

    /// Whether the create options hold this word, in any case.
    pub fn names_engine(&self, engine: &str) -> bool {
        self.create_options.to_ascii_lowercase().contains(engine)
    }

    /// The text of a CREATE TABLE; `columns` is what stands between the brackets. The comment goes
    /// before the create options, because partitions must come last.
    pub fn create_table(&self, table: &str, columns: &str) -> String {
        let mut sql = format!("CREATE TABLE {table} ({columns}) COMMENT='{OURS}'");
        if !self.create_options.is_empty() {
            sql.push(' ');
            sql.push_str(&self.create_options);
        }
        sql
    }

    /// `of` loops in a full run, or `small` in a small one.
    pub fn choose(&self, of: u64, small: u64) -> u64 {
        if self.small { small } else { of }
    }

    /// What ends an ALTER TABLE that shall rebuild the table.
    pub fn alter_suffix(&self) -> &'static str {
        match self.alter_algorithm {
            Some(AlterAlgorithm::Copy) => ", ALGORITHM=COPY",
            None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> Options {
        serde_json::from_str::<SqlBenchJob>(json).unwrap().resolved()
    }

    #[test]
    fn fast_implies_fast_inserts_and_locks() {
        let options = options(r#"{"fast": true}"#);
        assert!(options.fast_insert && options.lock_tables);
    }

    #[test]
    fn an_engine_in_the_create_options_switches_transactions_in_any_case() {
        assert!(options(r#"{"create_options": "engine=InnoDB"}"#).transactional());
        assert!(!options(r#"{"create_options": "ENGINE=MyISAM"}"#).transactional());
        assert!(!options("{}").transactional());
    }

    #[test]
    fn create_options_end_every_create_table() {
        let options = options(r#"{"create_options": "ENGINE=Aria"}"#);
        let sql = options.create_table("t", "i int");
        assert_eq!(sql, "CREATE TABLE t (i int) COMMENT='made by mydyno' ENGINE=Aria");
    }
}
