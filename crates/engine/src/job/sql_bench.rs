//! The keys of the workload `sql_bench`.

use serde::Deserialize;

/// Which test programs of sql-bench run, and the options of the suite that change what they do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlBenchJob {
    #[serde(default = "every_program")]
    pub groups: Vec<SqlBenchProgram>,
    /// Cut loop counts, as `--small-test`.
    #[serde(default)]
    pub small: bool,
    /// Statements that are not standard SQL, as `--fast`; implies `fast_insert` and `lock_tables`.
    #[serde(default)]
    pub fast: bool,
    /// Appended to every CREATE TABLE; an engine named here also switches behaviour.
    #[serde(default)]
    pub create_options: String,
    #[serde(default)]
    pub loop_count: Option<u64>,
    #[serde(default)]
    pub row_count: Option<u64>,
    #[serde(default)]
    pub field_count: Option<u64>,
    #[serde(default)]
    pub regions: Option<u64>,
    #[serde(default)]
    pub region_groups: Option<u64>,
    #[serde(default)]
    pub small_tables: bool,
    #[serde(default)]
    pub small_key_tables: bool,
    #[serde(default)]
    pub skip_create: bool,
    #[serde(default)]
    pub skip_delete: bool,
    #[serde(default)]
    pub lock_tables: bool,
    #[serde(default)]
    pub fast_insert: bool,
    #[serde(default)]
    pub tcpip: bool,
    /// Seconds after which a loop of reads stops and its time is extrapolated.
    #[serde(default = "ten_minutes")]
    pub time_limit_s: f64,
    /// Draw keys from the job's seed instead of the suite's fixed order.
    #[serde(default)]
    pub random: bool,
    #[serde(default)]
    pub alter_algorithm: Option<AlterAlgorithm>,
}

/// A test program of the suite, under the suite's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SqlBenchProgram {
    AlterTable,
    #[serde(rename = "ATIS")]
    Atis,
    BigTables,
    Connect,
    Create,
    Insert,
    Select,
    Transactions,
    Wisconsin,
}

/// How ALTER TABLE works where the server has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlterAlgorithm {
    /// The whole table is written anew, as servers of the suite's time did.
    Copy,
}

impl SqlBenchProgram {
    /// Every program, in the order in which the suite runs them.
    pub const ALL: [SqlBenchProgram; 9] = [
        SqlBenchProgram::AlterTable,
        SqlBenchProgram::Atis,
        SqlBenchProgram::BigTables,
        SqlBenchProgram::Connect,
        SqlBenchProgram::Create,
        SqlBenchProgram::Insert,
        SqlBenchProgram::Select,
        SqlBenchProgram::Transactions,
        SqlBenchProgram::Wisconsin,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SqlBenchProgram::AlterTable => "alter-table",
            SqlBenchProgram::Atis => "ATIS",
            SqlBenchProgram::BigTables => "big-tables",
            SqlBenchProgram::Connect => "connect",
            SqlBenchProgram::Create => "create",
            SqlBenchProgram::Insert => "insert",
            SqlBenchProgram::Select => "select",
            SqlBenchProgram::Transactions => "transactions",
            SqlBenchProgram::Wisconsin => "wisconsin",
        }
    }
}

fn every_program() -> Vec<SqlBenchProgram> {
    SqlBenchProgram::ALL.to_vec()
}

fn ten_minutes() -> f64 {
    600.0
}
