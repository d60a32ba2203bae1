//! Dictionaries: the words of each, or where they come from.

use super::expression::Expression;
use super::fault::{At, Fault, fault};
use super::operators;
use super::scope::Scope;
use super::tables::MOST_ROWS;
use super::value::Literal;
use crate::job::program::{ColumnJob, DictionaryJob, Expr, ProgramJob};

/// Where the words of a dictionary come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The program itself.
    Words,
    Query(String),
    /// Column of every n-th row of a table of the program.
    Column {
        table: usize,
        column: usize,
        every: u64,
    },
}

/// The sources of the dictionaries, and the words of those that have them in the program. The others
/// are empty for now.
pub fn compile(
    job: &ProgramJob,
    scope: &mut Scope<'_>,
) -> Result<Vec<(Source, Vec<Literal>)>, Fault> {
    let sources = job.dictionaries.iter().map(|(name, dictionary)| {
        match dictionary {
            DictionaryJob::Words(words) => {
                constants(words, scope).map(|words| (Source::Words, words)).key("words")
            }
            DictionaryJob::Query(sql) => Ok((Source::Query(sql.clone()), Vec::new())),
            DictionaryJob::Column(column) => {
                column_source(job, column).map(|source| (source, Vec::new())).key("column")
            }
        }
        .key(name)
    });
    sources.collect::<Result<_, _>>().key("dictionaries")
}

fn constants(words: &[Expr], scope: &mut Scope<'_>) -> Result<Vec<Literal>, Fault> {
    if words.is_empty() {
        return fault("has no word");
    }
    let words = words.iter().enumerate().map(|(index, word)| {
        match operators::compile(word, scope).index(index)? {
            Expression::Constant(literal) => Ok(literal),
            _ => fault("must be a constant").index(index),
        }
    });
    words.collect()
}

fn column_source(job: &ProgramJob, dictionary: &ColumnJob) -> Result<Source, Fault> {
    let ColumnJob { table, column, every } = dictionary;
    let Some(place) = job.tables.iter().position(|other| other.name == *table) else {
        return fault(format!("tables has no `{table}`")).key("table");
    };
    let columns = &job.tables[place].columns;
    let Some(number) = columns.iter().position(|other| other == column) else {
        return fault(format!("the rows of {table} do not fill `{column}`")).key("column");
    };
    let rows = job.tables[place].rows;
    if !(1..=rows.min(MOST_ROWS)).contains(every) {
        return fault(format!("must be from 1 to the {rows} rows of {table}, is {every}"))
            .key("every");
    }
    Ok(Source::Column { table: place, column: number, every: *every })
}
