//! select: one table of ten thousand rows with three composite keys, read in every way they allow.

use std::collections::HashSet;

use super::keys::Keys;
use crate::sqlbench::bench::{Bench, Stop};
use crate::sqlbench::options::Options;

const TABLE: &str = "bench1";
const ROWS: u64 = 10_000;
const MEDIUM_LOOPS: u64 = 1000;
const SMALL_LOOPS: u64 = 10;
const REGIONS: u64 = 6;
const GROUPS: u64 = 100;
/// Conditions in one statement of select_range.
const TERMS: u64 = 500;
/// Passes of select_range with four statements each in every loop.
const RANGE_PASSES: u64 = 10;
/// The keys of select_range are drawn below this.
const DRAWN_BELOW: u64 = 100_000;

pub fn tables(_: &Options) -> Vec<String> {
    vec![TABLE.to_owned()]
}

pub fn run(bench: &mut Bench) -> Result<(), Stop> {
    let shape = Shape::new(bench.options());
    if !bench.options().skip_create {
        insert(bench, &shape)?;
    }
    bench.lock(&format!("{TABLE} WRITE"))?;
    whole_table(bench, &shape)?;
    big(bench, &shape)?;
    ranges(bench, &shape)?;
    on_keys(bench, &shape)?;
    distinct(bench, &shape)?;
    if !bench.options().skip_delete {
        bench.drop_table(TABLE)?;
    }
    bench.unlock()
}

/// The table and how often each part runs.
#[derive(Clone, Copy)]
struct Shape {
    rows: u64,
    medium: u64,
    small: u64,
    regions: u64,
    groups: u64,
}

impl Shape {
    fn new(options: &Options) -> Self {
        let smaller = options.choose(1, 10);
        Self {
            rows: options.loop_count.or(options.row_count).unwrap_or(ROWS) / smaller,
            medium: MEDIUM_LOOPS / smaller,
            small: SMALL_LOOPS / smaller,
            regions: options.regions.unwrap_or(REGIONS),
            groups: (options.region_groups.unwrap_or(GROUPS) / smaller).max(1),
        }
    }

    fn region(&self, row: u64) -> char {
        letter(row % self.regions)
    }

    fn group(&self, row: u64) -> u64 {
        row * 3 % self.groups
    }

    /// How many rows a condition holds for.
    fn count(&self, holds: impl Fn(char, u64, u64) -> bool) -> u64 {
        (0..self.rows).filter(|&i| holds(self.region(i), i, self.group(i))).count() as u64
    }

    /// How many groups, or regions, have a row at all.
    fn groups_in_use(&self) -> u64 {
        let mut groups: Vec<u64> = (0..self.rows).map(|i| self.group(i)).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.len() as u64
    }
}

fn letter(number: u64) -> char {
    char::from(b'A' + number as u8)
}

fn insert(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let options = bench.options().clone();
    bench.drop_if_there(TABLE)?;
    let columns = "region char(1) NOT NULL,idn int NOT NULL,rev_idn int NOT NULL,\
                   grp int NOT NULL,PRIMARY KEY (region,idn),UNIQUE (region,rev_idn),\
                   UNIQUE (region,grp,idn)";
    bench.query(&options.create_table(TABLE, columns))?;
    bench.lock(&format!("{TABLE} WRITE"))?;
    bench.operation("insert", shape.rows, |bench| {
        bench.in_transaction(options.fast && options.transactional(), |bench| {
            for i in 0..shape.rows {
                let list = if i <= shape.rows / 2 { "" } else { " (region,idn,rev_idn,grp)" };
                let (region, reverse, group) =
                    (shape.region(i), shape.rows - 1 - i, shape.group(i));
                let sql =
                    format!("INSERT INTO {TABLE}{list} VALUES ('{region}',{i},{reverse},{group})");
                bench.expect(&sql, 1)?;
            }
            Ok(())
        })
    })?;
    bench.unlock()?;
    bench.optimize(TABLE)
}

fn whole_table(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let sums = |plus: u64| format!("SELECT SUM(idn+{plus}),SUM(rev_idn-{plus}) FROM {TABLE}");
    let total = |plus: u64| (shape.rows * (shape.rows - 1) / 2 + plus * shape.rows).to_string();
    bench.expect_value(&sums(1000), &total(1000))?;
    repeated(bench, "select_cache", shape.rows, |bench, _| {
        bench.expect_value(&sums(100), &total(100))
    })?;
    repeated(bench, "select_cache2", shape.rows, |bench, i| bench.expect_value(&sums(i), &total(i)))
}

fn big(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let statements: Vec<_> = (0..shape.small).flat_map(|i| big_selects(shape, i)).collect();
    all(bench, "select_big", &statements)
}

fn big_selects(shape: &Shape, i: u64) -> Vec<(String, u64)> {
    // One letter more than there are regions: now and then nothing is found.
    let region = letter(i % (shape.regions + 1));
    let group = i * 11 % shape.groups;
    let select =
        |condition: String, rows| (format!("SELECT idn FROM {TABLE} WHERE {condition}"), rows);
    let within = |from: char, to: char| {
        let rows = shape.count(|r, _, g| (from..=to).contains(&r) && g == group);
        select(format!("region>='{from}' AND region<='{to}' AND grp={group}"), rows)
    };
    let last = shape.rows - 1;
    vec![
        select(format!("region='{region}'"), shape.count(|r, _, _| r == region)),
        select(
            format!("region='{region}' AND idn={i}"),
            shape.count(|r, idn, _| r == region && idn == i),
        ),
        select(
            format!("region='{region}' AND rev_idn={i}"),
            shape.count(|r, idn, _| r == region && last - idn == i),
        ),
        select(
            format!("region='{region}' AND grp={group}"),
            shape.count(|r, _, g| r == region && g == group),
        ),
        within('B', 'C'),
        within('B', 'E'),
        select(format!("grp={group}"), shape.count(|_, _, g| g == group)),
    ]
}

fn ranges(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    all(bench, "select_range", &range_selects(shape))
}

/// In each loop one list of groups, and ten times the same four statements.
fn range_selects(shape: &Shape) -> Vec<(String, u64)> {
    let mut keys = Keys::new(0, DRAWN_BELOW);
    let mut statements = Vec::new();
    for i in 0..shape.small {
        // One letter more than there are regions, as in select_big.
        let region = letter(i % (shape.regions + 1));
        let mut pairs = vec![('A', 1)];
        pairs.extend((1..TERMS).map(|term| {
            let key = keys.next(term);
            (shape.region(key), key % shape.groups)
        }));
        statements.push(range_list(shape, region, &pairs));
        let chains = range_chains(shape, region, &pairs);
        (0..RANGE_PASSES).for_each(|_| statements.extend_from_slice(&chains));
    }
    statements
}

fn range_list(shape: &Shape, region: char, pairs: &[(char, u64)]) -> (String, u64) {
    let list: Vec<String> = pairs.iter().map(|(_, group)| group.to_string()).collect();
    let listed: HashSet<u64> = pairs.iter().map(|&(_, group)| group).collect();
    let rows = shape.count(|r, _, g| r == region && listed.contains(&g));
    let list = list.join(",");
    (format!("SELECT * FROM {TABLE} WHERE region='{region}' AND (grp IN ({list}))"), rows)
}

/// A chain of groups, a chain of pairs, and the first chain with two more conditions.
fn range_chains(shape: &Shape, region: char, pairs: &[(char, u64)]) -> [(String, u64); 4] {
    let chain: Vec<String> = pairs.iter().map(|(_, g)| format!("grp={g}")).collect();
    let chain = format!("region='{region}' AND ({})", chain.join(" OR "));
    let listed: HashSet<u64> = pairs.iter().map(|&(_, group)| group).collect();
    let in_chain = |r: char, g: u64| r == region && listed.contains(&g);
    let either: Vec<String> =
        pairs.iter().map(|(r, g)| format!("region='{r}' AND grp={g}")).collect();
    let pairs: HashSet<(char, u64)> = pairs.iter().copied().collect();
    let select =
        |condition: String, rows| (format!("SELECT * FROM {TABLE} WHERE {condition}"), rows);
    let first = |r, g| r == 'A' && g < 10;
    [
        select(chain.clone(), shape.count(|r, _, g| in_chain(r, g))),
        select(either.join(" OR "), shape.count(|r, _, g| pairs.contains(&(r, g)))),
        select(
            format!("({chain}) AND idn<50"),
            shape.count(|r, idn, g| in_chain(r, g) && idn < 50),
        ),
        select(
            format!("(({chain}) OR (region='A' AND grp<10)) AND region<='B'"),
            shape.count(|r, _, g| (in_chain(r, g) || first(r, g)) && r <= 'B'),
        ),
    ]
}

/// An operation of these statements, each with the rows that it must return.
fn all(bench: &mut Bench, name: &str, statements: &[(String, u64)]) -> Result<(), Stop> {
    let of = statements.len() as u64;
    bench.operation(name, of, |bench| {
        for (sql, rows) in statements {
            bench.expect(sql, *rows)?;
        }
        Ok(())
    })
}

fn on_keys(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    bench.operation("min_max_on_key", shape.rows * 7, |bench| {
        for i in 0..shape.rows {
            if bench.past_limit(i, shape.rows) {
                break;
            }
            let (region, group) = (shape.region(i), shape.group(i));
            for (what, condition) in [
                ("MIN(region)", String::new()),
                ("MAX(region)", String::new()),
                ("MIN(region),MAX(region)", String::new()),
                ("MIN(rev_idn)", format!(" WHERE region='{region}'")),
                ("MAX(grp)", format!(" WHERE region='{region}'")),
                ("MAX(idn)", format!(" WHERE region='{region}' AND grp={group}")),
                ("MAX(region)", format!(" WHERE region<'{region}'")),
            ] {
                bench.expect(&format!("SELECT {what} FROM {TABLE}{condition}"), 1)?;
            }
        }
        Ok(())
    })?;
    // A region's rows are counted once here, not in every loop.
    let of_region: Vec<u64> =
        (0..shape.regions).map(|n| shape.count(|r, _, _| r == letter(n))).collect();
    bench.operation("count_on_key", shape.rows * 5, |bench| {
        for i in 0..shape.rows {
            if bench.past_limit(i, shape.rows) {
                break;
            }
            let number = i % shape.regions;
            let (region, group) = (letter(number), shape.group(i));
            let at = |place: usize| of_region[place];
            let above: u64 = (number as usize + 1..of_region.len()).map(at).sum();
            let count = format!("SELECT COUNT(*) FROM {TABLE} WHERE");
            let of_one = format!("{count} region='{region}'");
            bench.expect_value(&of_one, &at(number as usize).to_string())?;
            bench.expect(&format!("{of_one} AND grp={group}"), 1)?;
            bench.expect_value(&format!("{count} region>'{region}'"), &above.to_string())?;
            let up_to = (shape.rows - above).to_string();
            bench.expect_value(&format!("{count} region<='{region}'"), &up_to)?;
            bench.expect(&format!("{of_one} AND grp>{group}"), 1)?;
        }
        Ok(())
    })
}

fn distinct(bench: &mut Bench, shape: &Shape) -> Result<(), Stop> {
    let (groups, regions) = (shape.groups_in_use(), shape.regions);
    let medium = shape.medium;
    for (name, loops, rows, what) in [
        ("count_group_on_key_parts", medium, groups, "grp,COUNT(*)|grp"),
        ("count_distinct_key_prefix", medium, 1, "COUNT(DISTINCT region)|"),
        ("count_distinct", medium, 1, "COUNT(DISTINCT grp)|"),
        ("count_distinct_2", medium, 1, "COUNT(DISTINCT grp),COUNT(DISTINCT rev_idn)|"),
        ("count_distinct_group_on_key", medium, regions, "region,COUNT(DISTINCT idn)|region"),
        ("count_distinct_group_on_key_parts", medium, groups, "grp,COUNT(DISTINCT idn)|grp"),
        ("count_distinct_group", medium, groups, "grp,COUNT(DISTINCT rev_idn)|grp"),
        ("count_distinct_big", medium / 10, shape.rows, "idn,COUNT(DISTINCT region)|idn"),
    ] {
        let sql = match what.split_once('|').unwrap_or((what, "")) {
            (columns, "") => format!("SELECT {columns} FROM {TABLE}"),
            (columns, by) => format!("SELECT {columns} FROM {TABLE} GROUP BY {by}"),
        };
        repeated(bench, name, loops, |bench, _| bench.expect(&sql, rows))?;
    }
    Ok(())
}

/// An operation of equal selects, which the time limit may cut.
fn repeated(
    bench: &mut Bench,
    name: &str,
    loops: u64,
    mut one: impl FnMut(&mut Bench, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    bench.operation(name, loops, |bench| {
        for i in 0..loops {
            if bench.past_limit(i, loops) {
                break;
            }
            one(bench, i)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_range_returns_as_many_rows_as_the_suite() {
        let statements = range_selects(&Shape::new(&serde_json::from_str("{}").unwrap()));
        assert_eq!(statements.len(), 410);
        assert_eq!(statements.iter().map(|(_, rows)| rows).sum::<u64>(), 1_057_904);
    }
}
