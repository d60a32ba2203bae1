//! Steps that several programs share.

use super::bench::{Bench, Stop};

/// The longest multi-row INSERT, in bytes: the suite's limit for a statement.
const INSERT_BYTES: usize = 1_000_000;
/// Server: no such table to drop.
const UNKNOWN_TABLE: u16 = 1051;

impl Bench {
    /// Sends the DROP TABLE with which the programs begin; mostly there is no such table.
    pub fn drop_if_there(&mut self, table: &str) -> Result<(), Stop> {
        match self.try_query(&format!("DROP TABLE {table}"))? {
            Err(error) if error.code != UNKNOWN_TABLE => Err(Stop::Failed(error.to_string())),
            _ => Ok(()),
        }
    }

    /// Drops a table, or several with commas between them.
    pub fn drop_table(&mut self, tables: &str) -> Result<(), Stop> {
        self.query(&format!("DROP TABLE {tables}")).map(drop)
    }

    /// Does the work in one transaction, or, unless `wanted`, as it is.
    pub fn in_transaction(
        &mut self,
        wanted: bool,
        work: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if !wanted {
            return work(self);
        }
        self.query("SET autocommit=0")?;
        work(self)?;
        self.query("COMMIT")?;
        self.query("SET autocommit=1").map(drop)
    }

    /// LOCK TABLES with this list, when the options ask for locks.
    pub fn lock(&mut self, tables: &str) -> Result<(), Stop> {
        match self.options().lock_tables {
            true => self.query(&format!("LOCK TABLES {tables}")).map(drop),
            false => Ok(()),
        }
    }

    /// Ends what [`Bench::lock`] began.
    pub fn unlock(&mut self) -> Result<(), Stop> {
        match self.options().lock_tables {
            true => self.query("UNLOCK TABLES").map(drop),
            false => Ok(()),
        }
    }

    /// What the suite does under `--fast` after it has changed much: an operation of its own.
    pub fn optimize(&mut self, tables: &str) -> Result<(), Stop> {
        if !self.options().fast {
            return Ok(());
        }
        self.operation("book-keeping", 1, |bench| {
            bench.query(&format!("OPTIMIZE TABLE {tables}")).map(drop)
        })
    }

    /// Inserts rows, each `(value, ...)`, in statements of almost a million bytes.
    pub fn insert_packed(
        &mut self,
        table: &str,
        rows: impl Iterator<Item = String>,
    ) -> Result<(), Stop> {
        let head = format!("INSERT INTO {table} VALUES ");
        let mut sql = head.clone();
        let mut packed = 0;
        for row in rows {
            if packed > 0 && sql.len() + 1 + row.len() >= INSERT_BYTES {
                self.expect(&sql, packed)?;
                sql.truncate(head.len());
                packed = 0;
            }
            if packed > 0 {
                sql.push(',');
            }
            sql.push_str(&row);
            packed += 1;
        }
        if packed > 0 {
            self.expect(&sql, packed)?;
        }
        Ok(())
    }
}
