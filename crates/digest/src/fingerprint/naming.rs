//! Sinks that look at the names of tables: one takes numbered tables for one, one lists them.

use super::TableNames;
use super::tables::{Finder, Role, merged};
use super::token::{Literal, Sink, Symbol};

/// Hands all tokens on, numbered and hashed names of tables as one ([`merged`]); those in front of a dot too,
/// where they stand for a table or its database.
pub struct Merging<S> {
    sink: S,
    finder: Finder,
}

impl<S> Merging<S> {
    pub fn new(sink: S) -> Self {
        Self { sink, finder: Finder::default() }
    }

    pub fn into_sink(self) -> S {
        self.sink
    }
}

impl<S: Sink> Sink for Merging<S> {
    fn word(&mut self, text: &[u8], first: usize, end: usize) {
        let word = &text[first..end];
        let is_table = self.finder.word(word) != Role::Other;
        let behind = &text[end..];
        let is_qualifier = behind.strip_prefix(b"`").unwrap_or(behind).starts_with(b".");
        match (is_table || is_qualifier).then(|| merged(word)).flatten() {
            Some(name) => self.sink.word(&name, 0, name.len()),
            None => self.sink.word(text, first, end),
        }
    }

    fn quoted(&mut self, name: &[u8]) {
        let is_table = self.finder.quoted(name) != Role::Other;
        match is_table.then(|| merged(name)).flatten() {
            Some(name) => self.sink.quoted(&name),
            None => self.sink.quoted(name),
        }
    }

    fn symbol(&mut self, symbol: Symbol) {
        self.finder.symbol(symbol);
        self.sink.symbol(symbol);
    }

    fn literal(&mut self, literal: Literal) {
        self.finder.literal();
        self.sink.literal(literal);
    }

    fn row(&mut self, literal: Literal) {
        self.finder.literal();
        self.sink.row(literal);
    }
}

/// A table as a statement names it, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName {
    pub database: Option<Vec<u8>>,
    pub name: Vec<u8>,
}

/// Lists the tables that a statement names, in its order.
pub struct Listing {
    finder: Finder,
    names: TableNames,
    found: Vec<TableName>,
}

impl Listing {
    pub fn new(names: TableNames) -> Self {
        Self { finder: Finder::default(), names, found: Vec::new() }
    }

    /// Each once.
    pub fn finish(self) -> Vec<TableName> {
        let mut tables = self.found;
        tables.sort();
        tables.dedup();
        tables
    }

    fn take(&mut self, role: Role, name: &[u8]) {
        if role == Role::Other {
            return;
        }
        let kept = match self.names {
            TableNames::Merged => merged(name),
            TableNames::Kept => None,
        };
        let name = kept.unwrap_or_else(|| name.to_vec()).to_ascii_lowercase();
        match (role, self.found.last_mut()) {
            (Role::TableOfDatabase, Some(table)) => {
                table.database = Some(std::mem::replace(&mut table.name, name));
            }
            _ => self.found.push(TableName { database: None, name }),
        }
    }
}

impl Sink for Listing {
    fn word(&mut self, text: &[u8], first: usize, end: usize) {
        let role = self.finder.word(&text[first..end]);
        self.take(role, &text[first..end]);
    }

    fn quoted(&mut self, name: &[u8]) {
        let role = self.finder.quoted(name);
        self.take(role, name);
    }

    fn symbol(&mut self, symbol: Symbol) {
        self.finder.symbol(symbol);
    }

    fn literal(&mut self, _: Literal) {
        self.finder.literal();
    }

    fn row(&mut self, _: Literal) {
        self.finder.literal();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{id_with, tables, text_with};
    use super::*;

    fn tables_of(statement: &str, names: TableNames) -> Vec<String> {
        tables(statement.as_bytes(), names)
            .into_iter()
            .map(|table| {
                let name = String::from_utf8(table.name).unwrap();
                let database = table.database.map(|name| String::from_utf8(name).unwrap() + ".");
                database.unwrap_or_default() + &name
            })
            .collect()
    }

    #[test]
    fn tables_are_found_wherever_statements_name_them() {
        for (statement, expected) in [
            ("SELECT a, b FROM Orders o, `customer` c WHERE o.id = c.id", "customer orders"),
            (
                "select * from shop.orders o join lines l on l.o = f(o.id, 1), t3",
                "lines t3 shop.orders",
            ),
            (
                "select extract(year from placed), (select max(a) from x where b in (1)) from y",
                "x y",
            ),
            ("select * from (a, b) left join (c join d on c.i = d.i) using (i)", "a b c d"),
            ("select * from (select * from a) z, b order by c, d", "a b"),
            ("insert into t (a, b) select c, d from u on duplicate key update a = 1, b = 2", "t u"),
            ("insert ignore t values (1, 2), (3, 4)", "t"),
            ("replace low_priority into t set a = replace(b, 'x', 'y'), c = 2", "t"),
            ("update a, b set a.x = b.x where a.i = b.i", "a b"),
            ("delete from t where a = 1 limit 5", "t"),
            ("select * from t for update", "t"),
            ("select a into @x from t", "t"),
            ("truncate table t", "t"),
            ("drop table if exists a, `b c`", "a b c"),
            ("with x as (select * from t), y as (select 1) select * from x join y join u", "t u"),
            ("select 1 from dual union select 2 from u", "u"),
            ("show tables from shop", ""),
            ("select trim(both 'x' from a) from t use index (i, j), u", "t u"),
            ("load data infile 'f' into table t", "t"),
            ("select now()", ""),
        ] {
            assert_eq!(tables_of(statement, TableNames::Kept).join(" "), expected, "{statement}");
        }
    }

    #[test]
    fn numbered_and_hashed_tables_are_one_and_other_names_stay() {
        for (statement, expected) in [
            ("select a from orders_2024_01 where b = 1", "select a from orders_$ where b = ?"),
            ("SELECT `orders_7`.a FROM `orders_7`", "select orders_$.a from orders_$"),
            ("insert into t_0a3f (c_1) values (1)", "insert into t_$(c_1) values (?+)"),
            (
                "select t1.a from log2024 t1 join x_9f86d081_b t2",
                "select t1.a from log$ t1 join x_$_b t2",
            ),
            ("select q_1, md5(a) from face_cafe", "select q_1, md5(a) from face_cafe"),
            ("update shop_01.orders_2 set a_1 = 2", "update shop_$.orders_$ set a_1 = ?"),
            ("select a from orders_$", "select a from orders_$"),
        ] {
            let text = text_with(statement.as_bytes(), 4096, TableNames::Merged).text;
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text, expected, "{statement}");
            let id = id_with(statement.as_bytes(), TableNames::Merged);
            assert_eq!(id, id_with(text.as_bytes(), TableNames::Merged), "{statement}");
        }
        assert_eq!(
            tables_of("select 1 from a_1, a_2, b", TableNames::Merged),
            ["a_$".to_owned(), "b".to_owned()]
        );
    }
}
