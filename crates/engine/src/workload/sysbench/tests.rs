use super::*;
use crate::protocol::template::Template;

fn job(text: &str) -> Sysbench {
    let mut fields: serde_json::Value = serde_json::from_str(text).unwrap();
    fields["script"] = fields["script"].as_str().unwrap_or("oltp_read_write").into();
    Sysbench::new(&serde_json::from_value(fields).unwrap())
}

/// The text of the statements of one event.
fn event(workload: &Sysbench, random: &mut Random) -> Vec<String> {
    let templates: Vec<Template> =
        workload.statements().iter().map(|statement| Template::new(&statement.sql)).collect();
    let mut cursor = Cursor::default();
    let mut values = Values::default();
    let mut sent = Vec::new();
    loop {
        values.clear();
        let action = workload.next(&mut cursor, random, &mut values);
        let Action::Send(statement) = action else { return sent };
        let mut packet = Vec::new();
        templates[statement].write_query(&values, &mut packet);
        sent.push(String::from_utf8(packet.split_off(5)).unwrap());
    }
}

fn kinds(workload: &Sysbench) -> Vec<&'static str> {
    workload.steps.iter().map(|step| step.kind.name()).collect()
}

#[test]
fn read_only_has_sixteen_statements_and_fourteen_without_a_transaction() {
    assert_eq!(job(r#"{"script": "oltp_read_only"}"#).steps.len(), 16);
    assert_eq!(job(r#"{"script": "oltp_read_only", "skip_trx": true}"#).steps.len(), 14);
}

#[test]
fn read_write_has_twenty_statements_in_the_order_of_the_script() {
    let mut expected = vec!["begin"];
    expected.extend(["point_select"; 10]);
    expected.extend(["simple_range", "sum_range", "order_range", "distinct_range"]);
    expected.extend(["index_update", "non_index_update", "delete", "insert", "commit"]);
    assert_eq!(kinds(&job("{}")), expected);
}

#[test]
fn write_only_has_six_statements() {
    assert_eq!(
        kinds(&job(r#"{"script": "oltp_write_only"}"#)),
        ["begin", "index_update", "non_index_update", "delete", "insert", "commit"]
    );
}

#[test]
fn point_select_is_one_statement_whatever_the_options() {
    let workload = job(r#"{"script": "oltp_point_select", "point_selects": 7}"#);
    assert_eq!(kinds(&workload), ["point_select"]);
}

#[test]
fn the_range_selects_and_repeats_follow_the_options() {
    let workload =
        job(r#"{"script": "oltp_read_write", "range_selects": false, "point_selects": 2,
            "index_updates": 0, "delete_inserts": 2, "skip_trx": true}"#);
    assert_eq!(
        kinds(&workload),
        [
            "point_select",
            "point_select",
            "non_index_update",
            "delete",
            "insert",
            "delete",
            "insert"
        ]
    );
}

#[test]
fn delete_and_insert_name_the_same_row_of_the_same_table() {
    let workload = job(r#"{"script": "oltp_write_only", "tables": 8, "delete_inserts": 3}"#);
    let mut random = Random::stream(5, &[]);
    for _ in 0..50 {
        let sql = event(&workload, &mut random);
        let pairs = &sql[3..9];
        let table = pairs[0].split(' ').nth(2).unwrap().to_owned();
        for pair in pairs.chunks(2) {
            let id = pair[0].rsplit('=').next().unwrap();
            let start = format!("INSERT INTO {table} (id, k, c, pad) VALUES ({id}, ");
            assert!(pair[1].starts_with(&start), "{pair:?}");
        }
    }
}

#[test]
fn ranges_span_the_asked_number_of_ids() {
    let workload = job(r#"{"script": "oltp_read_only", "point_selects": 0, "skip_trx": true}"#);
    for sql in event(&workload, &mut Random::stream(3, &[])) {
        let numbers: Vec<i64> = sql
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|n| n.parse().ok())
            .collect();
        let [.., low, high] = numbers[..] else { panic!("{sql}") };
        assert_eq!(high - low, 99, "{sql}");
    }
}

#[test]
fn texts_are_groups_of_eleven_digits() {
    let workload = job(r#"{"script": "oltp_write_only"}"#);
    let sql = event(&workload, &mut Random::stream(9, &[]));
    let texts: Vec<&str> = sql[4].split('\'').skip(1).step_by(2).collect();
    assert_eq!(texts.iter().map(|text| text.len()).collect::<Vec<_>>(), [119, 59]);
    for group in texts.iter().flat_map(|text| text.split('-')) {
        assert!(group.len() == 11 && group.bytes().all(|digit| digit.is_ascii_digit()));
    }
}

#[test]
fn the_same_stream_gives_the_same_statements_and_another_gives_others() {
    let workload = job(r#"{"script": "oltp_read_write", "tables": 4}"#);
    let statements = |connection| event(&workload, &mut Random::stream(1, &[0, connection]));
    assert_eq!(statements(3), statements(3));
    assert_ne!(statements(3), statements(4));
}

#[test]
fn prepared_mode_needs_eleven_statements_for_read_write_and_seven_for_read_only() {
    assert_eq!(job("{}").statements().len(), 11);
    assert_eq!(job(r#"{"script": "oltp_read_only"}"#).statements().len(), 7);
    assert_eq!(job(r#"{"script": "oltp_read_write", "tables": 3}"#).statements().len(), 2 + 9 * 3);
}
