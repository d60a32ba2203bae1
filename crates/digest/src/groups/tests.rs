use proptest::prelude::*;

use super::*;
use crate::entry::Values;

/// An entry that owns its texts.
#[derive(Clone, Debug)]
struct Logged {
    at: u64,
    time: Option<i64>,
    user: &'static str,
    query_time_us: Option<u64>,
    lock_time_us: u64,
    statement: &'static str,
}

fn logged() -> impl Strategy<Value = Logged> {
    let statement = prop::sample::select(vec![
        "select 1",
        "select 2 ",
        "insert into t values (1, 2)",
        "insert into t values (1, 2), (3, 4)",
        "select a from t where b in (1,2)",
    ]);
    let time = prop::option::of(0..50_000_000_000_i64);
    let query_time = prop::option::of(prop_oneof![0..4_u64, 0..10_000_000_u64, any::<u64>()]);
    let user = prop::sample::select(vec!["", "app", "cron", "root"]);
    (time, user, query_time, 0..3_u64, statement).prop_map(
        |(time, user, query_time_us, lock_time_us, statement)| Logged {
            at: 0,
            time,
            user,
            query_time_us,
            lock_time_us,
            statement,
        },
    )
}

fn log(most: usize) -> impl Strategy<Value = Vec<Logged>> {
    prop::collection::vec(logged(), 1..most).prop_map(|mut log| {
        for (place, logged) in log.iter_mut().enumerate() {
            logged.at = place as u64 * 100;
        }
        log
    })
}

fn add(groups: &mut Groups, logged: &Logged) {
    let mut values = Values::default();
    if let Some(query_time) = logged.query_time_us {
        values.set(Attribute::QueryTime, query_time);
    }
    values.set(Attribute::LockTime, logged.lock_time_us);
    let entry = Entry {
        at: logged.at,
        line: logged.at / 100 + 1,
        time: logged.time,
        user: logged.user.as_bytes(),
        host: b"",
        database: b"shop",
        values: &values,
        kind: Kind::Statement,
        statement: logged.statement.as_bytes(),
        error: 0,
        raw: Default::default(),
        beyond: 0,
    };
    groups.add(&entry, 0);
}

fn grouped<'a>(log: impl IntoIterator<Item = &'a Logged>) -> Groups {
    let mut groups = Groups::default();
    log.into_iter().for_each(|logged| add(&mut groups, logged));
    groups
}

fn written(groups: Groups) -> String {
    let finish =
        Finish { limit: None, sources: &[Place { name: "slow.log".to_owned(), has_lines: true }] };
    let found = groups.finish(&finish);
    let groups: Vec<_> = found.groups.collect();
    serde_json::to_string(&(found.total, found.timeline, groups, found.rest)).unwrap()
}

proptest! {
    #[test]
    fn parts_of_a_log_merged_in_any_order_are_the_whole(
        log in log(60), places in prop::collection::vec(0..4_usize, 60), order in Just([0, 1, 2, 3]).prop_shuffle()
    ) {
        let part = |number| log.iter().zip(&places).filter(move |&(_, &place)| place == number);
        let mut merged = Groups::default();
        for number in order {
            merged.merge(grouped(part(number).map(|(logged, _)| logged)));
        }
        prop_assert_eq!(written(merged), written(grouped(&log)));
    }

    #[test]
    fn counts_and_sums_are_those_of_the_entries(log in log(60)) {
        let finish = Finish { limit: Some(1), sources: &[Place { name: "slow.log".to_owned(), has_lines: true }] };
        let found = grouped(&log).finish(&finish);
        let (total, timeline, rest) = (found.total, found.timeline, found.rest);
        let groups: Vec<_> = found.groups.collect();
        prop_assert_eq!(total.count, log.len() as u64);
        let sum = log.iter().filter_map(|logged| logged.query_time_us).fold(0, u64::saturating_add);
        prop_assert_eq!(total.measures.get("query_time").map_or(0, |measure| measure.sum), sum);
        prop_assert_eq!(total.measures["lock_time"].count, log.len() as u64);
        let named = log.iter().filter(|logged| !logged.user.is_empty()).count() as u64;
        prop_assert_eq!(total.users.iter().map(|(_, count)| count).sum::<u64>(), named);
        let timed = log.iter().filter(|logged| logged.time.is_some()).count() as u64;
        prop_assert_eq!(timeline.steps.iter().map(|(_, count, _)| count).sum::<u64>(), timed);
        prop_assert_eq!(groups.len(), 1);
        prop_assert_eq!(groups[0].figures.count + rest.map_or(0, |rest| rest.count), total.count);
    }
}

#[test]
fn the_example_is_the_slowest_and_of_several_the_first() {
    let logged = |at, query_time_us| Logged {
        at,
        time: None,
        user: "",
        query_time_us,
        lock_time_us: 0,
        statement: "select 1",
    };
    let groups = grouped(&[
        logged(0, None),
        logged(100, Some(5)),
        logged(200, Some(7)),
        logged(300, Some(7)),
    ]);
    let found = groups.finish(&Finish {
        limit: None,
        sources: &[Place { name: "slow.log".to_owned(), has_lines: true }],
    });
    let (rest, groups) = (found.rest, found.groups.collect::<Vec<_>>());
    assert_eq!((groups[0].example.at_byte, groups[0].example.query_time_us), (Some(200), Some(7)));
    assert!(rest.is_none());
}

#[test]
fn what_is_cut_ends_with_a_whole_character() {
    assert_eq!(shown("sch\u{f6}n".as_bytes(), false), "sch\u{f6}n");
    assert_eq!(shown(&"sch\u{f6}n".as_bytes()[..4], true), "sch");
    assert_eq!(shown(b"sch\xf6n", true), "sch\u{fffd}n");
}
