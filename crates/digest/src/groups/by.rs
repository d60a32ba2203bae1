//! What entries are grouped by, where it is not their fingerprint.

use std::borrow::Cow;
use std::fmt;

use super::{Fingerprint, Groups, Kind, MOST_FINGERPRINT};
use crate::entry::Entry;
use crate::fingerprint::{self, TableName, TableNames};
use crate::message::GroupKind;
use crate::names::ByHash;
use crate::tags::tag;

/// What stands for entries without a name.
const NAMELESS: &[u8] = b"(none)";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    #[default]
    Fingerprint,
    User,
    Host,
    Database,
    /// Each table that a statement names: an entry may be in several groups.
    Table,
    /// An attribute in a comment, by its key.
    Tag(String),
}

/// How entries are grouped.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    pub by: GroupBy,
    pub names: TableNames,
}

/// The tables of statements, by fingerprint.
pub(super) type Tables = ByHash<Vec<TableName>>;

impl GroupBy {
    /// As it is written: `user`, `tag.route`. None for anything else.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "fingerprint" => Self::Fingerprint,
            "user" => Self::User,
            "host" => Self::Host,
            "database" => Self::Database,
            "table" => Self::Table,
            _ => Self::Tag(name.strip_prefix("tag.").filter(|key| !key.is_empty())?.to_owned()),
        })
    }
}

impl fmt::Display for GroupBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprint => out.write_str("fingerprint"),
            Self::User => out.write_str("user"),
            Self::Host => out.write_str("host"),
            Self::Database => out.write_str("database"),
            Self::Table => out.write_str("table"),
            Self::Tag(key) => write!(out, "tag.{key}"),
        }
    }
}

impl Groups {
    pub(super) fn add_by_name(&mut self, entry: &Entry, source: u32) {
        match &self.grouping.by {
            GroupBy::Fingerprint => {}
            GroupBy::User => self.add_named(GroupKind::User, entry.user, entry, source),
            GroupBy::Host => self.add_named(GroupKind::Host, entry.host, entry, source),
            GroupBy::Database => {
                self.add_named(GroupKind::Database, entry.database, entry, source);
            }
            GroupBy::Tag(key) => {
                let value =
                    tag(entry.statement, key.as_bytes()).map_or_else(Vec::new, Cow::into_owned);
                self.add_named(GroupKind::Tag, &value, entry, source);
            }
            GroupBy::Table => self.add_by_table(entry, source),
        }
    }

    fn add_by_table(&mut self, entry: &Entry, source: u32) {
        if let Some(total) = &mut self.total {
            total.add(entry, &mut self.texts);
        }
        let mut known = std::mem::take(&mut self.tables);
        let id = fingerprint::id_of(entry, TableNames::Kept);
        let names = self.grouping.names;
        let tables = known.entry(id.0).or_insert_with(|| match entry.kind {
            Kind::Statement => fingerprint::tables(entry.statement, names),
            Kind::AdministratorCommand => Vec::new(),
        });
        if tables.is_empty() {
            self.add_named(GroupKind::Table, b"", entry, source);
        }
        for TableName { database, name } in tables {
            let database = database.as_deref().unwrap_or(entry.database);
            let dot: &[u8] = if database.is_empty() { b"" } else { b"." };
            let name = [database, dot, name].concat();
            self.add_named(GroupKind::Table, &name, entry, source);
        }
        self.tables = known;
    }

    fn add_named(&mut self, kind: GroupKind, name: &[u8], entry: &Entry, source: u32) {
        let name = if name.is_empty() { NAMELESS } else { name };
        let text = || Fingerprint {
            text: name[..name.len().min(MOST_FINGERPRINT)].to_vec(),
            is_cut: name.len() > MOST_FINGERPRINT,
        };
        self.add_to(fingerprint::id_of_name(kind as u8, name), kind, text, entry, source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::groups::{Finish, Place};
    use crate::problem::Problems;
    use crate::read::read;

    const LOG: &str = "# User@Host: app[app] @ web1 []\n# Query_time: 3  Lock_time: 0\nuse shop;\n\
        select a from orders_1 join x.lines /*route='%2Fcart'*/;\n\
        # User@Host: cron[cron] @ web2 []\n# Query_time: 2  Lock_time: 0\n\
        select b from orders_2 /*route='%2Fjob'*/;\n\
        # User@Host: app[app] @ web2 []\n# Query_time: 1  Lock_time: 0\nselect now();\n";

    fn grouped(by: &str, names: TableNames) -> (u64, Vec<(String, u64, u64)>) {
        let by = GroupBy::named(by).unwrap();
        let mut groups = Groups::new(100, Grouping { by, names });
        let (mut context, mut problems) = (Context::default(), Problems::default());
        read(LOG.as_bytes(), &mut context, &mut problems, true, |entry| groups.add(entry, 0));
        let found = groups.finish(&Finish {
            limit: None,
            sources: &[Place { name: "slow.log".to_owned(), has_lines: true }],
        });
        let groups = found.groups.map(|group| {
            let seconds = group.figures.measures["query_time"].sum / 1_000_000;
            (group.fingerprint, group.figures.count, seconds)
        });
        (found.total.count, groups.collect())
    }

    #[test]
    fn entries_are_grouped_by_whatever_they_have_in_common() {
        let of = |by: &str| grouped(by, TableNames::Kept).1;
        assert_eq!(of("user"), [("app".into(), 2, 4), ("cron".into(), 1, 2)]);
        assert_eq!(of("host"), [("web2".into(), 2, 3), ("web1".into(), 1, 3)]);
        assert_eq!(of("database"), [("shop".into(), 3, 6)]);
        assert_eq!(
            of("tag.route"),
            [("/cart".into(), 1, 3), ("/job".into(), 1, 2), ("(none)".into(), 1, 1)]
        );
    }

    #[test]
    fn an_entry_is_in_the_group_of_each_of_its_tables_and_once_in_the_total() {
        let (total, tables) = grouped("table", TableNames::Merged);
        assert_eq!(total, 3);
        assert_eq!(
            tables,
            [("shop.orders_$".into(), 2, 5), ("x.lines".into(), 1, 3), ("(none)".into(), 1, 1)]
        );
    }
}
