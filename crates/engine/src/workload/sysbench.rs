//! The modern OLTP scripts of sysbench 1.0.20, with their schema, statement mix and order.

use std::io::Write;

use super::{Action, Cursor, Policy, ROWS_SEED, SYSBENCH_RETRIES, Statement, Table, Workload};
use crate::distribution::Picker;
use crate::job::{SysbenchJob, SysbenchScript};
use crate::protocol::values::Values;
use crate::random::Random;

const GROUP_DIGITS: usize = 11;
const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;

/// Kinds of statements, in the order of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    Insert,
    Commit,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Begin => "begin",
            Kind::PointSelect => "point_select",
            Kind::SimpleRange => "simple_range",
            Kind::SumRange => "sum_range",
            Kind::OrderRange => "order_range",
            Kind::DistinctRange => "distinct_range",
            Kind::IndexUpdate => "index_update",
            Kind::NonIndexUpdate => "non_index_update",
            Kind::Delete => "delete",
            Kind::Insert => "insert",
            Kind::Commit => "commit",
        }
    }

    /// BEGIN and COMMIT have one statement; the others one for each table.
    fn has_table(self) -> bool {
        !matches!(self, Kind::Begin | Kind::Commit)
    }

    fn sql(self, table: u32) -> String {
        let t = table_name(table);
        match self {
            Kind::Begin => "BEGIN".to_owned(),
            Kind::PointSelect => format!("SELECT c FROM {t} WHERE id=?"),
            Kind::SimpleRange => format!("SELECT c FROM {t} WHERE id BETWEEN ? AND ?"),
            Kind::SumRange => format!("SELECT SUM(k) FROM {t} WHERE id BETWEEN ? AND ?"),
            Kind::OrderRange => format!("SELECT c FROM {t} WHERE id BETWEEN ? AND ? ORDER BY c"),
            Kind::DistinctRange => {
                format!("SELECT DISTINCT c FROM {t} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Kind::IndexUpdate => format!("UPDATE {t} SET k=k+1 WHERE id=?"),
            Kind::NonIndexUpdate => format!("UPDATE {t} SET c=? WHERE id=?"),
            Kind::Delete => format!("DELETE FROM {t} WHERE id=?"),
            Kind::Insert => format!("INSERT INTO {t} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
            Kind::Commit => "COMMIT".to_owned(),
        }
    }
}

/// One statement of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    kind: Kind,
    /// Index of the kind's statement for the first table.
    first_statement: usize,
    /// The group of statements of one kind shares a table, chosen by its first statement.
    chooses_table: bool,
}

pub(super) struct Sysbench {
    kinds: Vec<&'static str>,
    statements: Vec<Statement>,
    steps: Vec<Step>,
    ids: Picker,
    tables: u32,
    table_size: u32,
    range_size: u32,
    policy: Policy,
    prepared: bool,
    storage_engine: String,
}

impl Sysbench {
    pub(super) fn new(job: &SysbenchJob) -> Self {
        let mut compiled = Self {
            kinds: Vec::new(),
            statements: Vec::new(),
            steps: Vec::new(),
            ids: Picker::new(job.distribution, 1, job.table_size),
            tables: job.tables,
            table_size: job.table_size,
            range_size: job.range_size,
            policy: Policy::retrying(&SYSBENCH_RETRIES),
            prepared: job.prepared,
            storage_engine: job.storage_engine.clone(),
        };
        let transactional = !job.skip_trx && job.script != SysbenchScript::OltpPointSelect;
        for group in groups(job, transactional) {
            compiled.add(group);
        }
        compiled
    }

    /// Adds a group: `repeats` times the kinds of the group in turn.
    fn add(&mut self, (kinds, repeats): (&'static [Kind], u32)) {
        if repeats == 0 {
            return;
        }
        let first: Vec<usize> = kinds.iter().map(|&kind| self.add_statements(kind)).collect();
        for repeat in 0..repeats {
            for (place, &kind) in kinds.iter().enumerate() {
                let chooses_table = repeat == 0 && place == 0 && kind.has_table();
                self.steps.push(Step { kind, first_statement: first[place], chooses_table });
            }
        }
    }

    fn add_statements(&mut self, kind: Kind) -> usize {
        let first = self.statements.len();
        let tables = if kind.has_table() { self.tables } else { 1 };
        for table in 0..tables {
            self.statements.push(Statement::new(self.kinds.len(), kind.sql(table)));
        }
        self.kinds.push(kind.name());
        first
    }

    fn draw_id(&self, random: &mut Random) -> i32 {
        self.ids.draw(random) as i32
    }

    fn push_range(&self, random: &mut Random, values: &mut Values) {
        let low = self.draw_id(random);
        values.push_integer(low);
        // Not clipped at the end of the table, as in the original.
        values.push_integer(low.saturating_add(self.range_size as i32 - 1));
    }
}

/// The groups of a transaction in order. The statements of a group share one table.
fn groups(job: &SysbenchJob, transactional: bool) -> Vec<(&'static [Kind], u32)> {
    let point_selects: (&'static [Kind], u32) = (&[Kind::PointSelect], job.point_selects);
    let ranges: [(&'static [Kind], u32); 4] = [
        (&[Kind::SimpleRange], job.simple_ranges),
        (&[Kind::SumRange], job.sum_ranges),
        (&[Kind::OrderRange], job.order_ranges),
        (&[Kind::DistinctRange], job.distinct_ranges),
    ];
    let writes: [(&'static [Kind], u32); 3] = [
        (&[Kind::IndexUpdate], job.index_updates),
        (&[Kind::NonIndexUpdate], job.non_index_updates),
        (&[Kind::Delete, Kind::Insert], job.delete_inserts),
    ];
    let reading =
        matches!(job.script, SysbenchScript::OltpReadOnly | SysbenchScript::OltpReadWrite);
    let writing =
        matches!(job.script, SysbenchScript::OltpWriteOnly | SysbenchScript::OltpReadWrite);

    let mut groups = Vec::new();
    if job.script == SysbenchScript::OltpPointSelect {
        // The script sets point_selects to 1 whatever was asked.
        return vec![(&[Kind::PointSelect], 1)];
    }
    if transactional {
        groups.push((&[Kind::Begin][..], 1));
    }
    if reading {
        groups.push(point_selects);
    }
    if reading && job.range_selects {
        groups.extend(ranges);
    }
    if writing {
        groups.extend(writes);
    }
    if transactional {
        groups.push((&[Kind::Commit][..], 1));
    }
    groups
}

impl Workload for Sysbench {
    fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn cursor(&self, _connection: u32, _connections: u32) -> Cursor {
        Cursor::default()
    }

    #[inline]
    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action {
        let Some(&step) = self.steps.get(cursor.step) else {
            return Action::End { counts: true };
        };
        cursor.step += 1;
        if step.chooses_table && self.tables > 1 {
            cursor.table = random.below(u64::from(self.tables)) as u32;
        }
        match step.kind {
            Kind::Begin | Kind::Commit => return Action::Send(step.first_statement),
            Kind::PointSelect | Kind::IndexUpdate => values.push_integer(self.draw_id(random)),
            Kind::SimpleRange | Kind::SumRange | Kind::OrderRange | Kind::DistinctRange => {
                self.push_range(random, values);
            }
            Kind::NonIndexUpdate => {
                values.push_text_with(|out| write_groups(random, C_GROUPS, out));
                values.push_integer(self.draw_id(random));
            }
            Kind::Delete => {
                cursor.id = self.draw_id(random);
                values.push_integer(cursor.id);
            }
            Kind::Insert => {
                values.push_integer(cursor.id);
                values.push_integer(self.draw_id(random));
                values.push_text_with(|out| write_groups(random, C_GROUPS, out));
                values.push_text_with(|out| write_groups(random, PAD_GROUPS, out));
            }
        }
        Action::Send(step.first_statement + cursor.table as usize)
    }

    fn rewind(&self, cursor: &mut Cursor) {
        *cursor = Cursor::default();
    }

    fn prepared(&self) -> bool {
        self.prepared
    }

    fn tables(&self) -> Vec<Table> {
        (0..self.tables).map(|table| self.table(table)).collect()
    }
}

impl Sysbench {
    fn table(&self, table: u32) -> Table {
        let name = table_name(table);
        let mut random = Random::stream(ROWS_SEED, &[u64::from(table)]);
        let ids = self.ids;
        let mut id = 0u32;
        Table {
            create: format!(
                "CREATE TABLE {name} (id INTEGER NOT NULL AUTO_INCREMENT, \
                 k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
                 pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = {}",
                self.storage_engine
            ),
            insert: format!("INSERT INTO {name} (id, k, c, pad) VALUES "),
            rows: u64::from(self.table_size),
            write_row: Box::new(move |out| {
                id += 1;
                write!(out, "({id},{},'", ids.draw(&mut random))
                    .expect("writing to memory does not fail");
                write_groups(&mut random, C_GROUPS, out);
                out.extend(b"','");
                write_groups(&mut random, PAD_GROUPS, out);
                out.extend(b"')");
            }),
            finish: vec![format!("CREATE INDEX k_{} ON {name} (k)", table + 1)],
            name,
        }
    }
}

fn table_name(table: u32) -> String {
    format!("sbtest{}", table + 1)
}

/// Groups of eleven random digits joined by hyphens.
fn write_groups(random: &mut Random, groups: usize, out: &mut Vec<u8>) {
    for group in 0..groups {
        if group > 0 {
            out.push(b'-');
        }
        random.digits(GROUP_DIGITS, &mut |digit| out.push(digit));
    }
}

#[cfg(test)]
mod tests;
