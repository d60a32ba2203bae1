//! The OLTP transaction of sysbench 1.0.20 as a program: statements, order and shape.

use super::*;

fn kinds(program: &Program) -> Vec<&'static str> {
    let mut driver = Driver::new(program, 1);
    let mut kinds = Vec::new();
    while let Action::Send(statement) = driver.next() {
        kinds.push(program.kinds()[program.statements()[statement].kind]);
    }
    kinds
}

#[test]
fn read_write_has_twenty_statements_in_the_order_of_the_script() {
    let mut expected = vec!["begin"];
    expected.extend(["point_select"; 10]);
    expected.extend(["simple_range", "sum_range", "order_range", "distinct_range"]);
    expected.extend(["index_update", "non_index_update", "delete", "insert", "commit"]);
    assert_eq!(kinds(&fixture("oltp-read-write-prepared")), expected);
}

#[test]
fn each_statement_is_prepared_once_for_each_table() {
    let program = fixture("oltp-read-write-prepared");
    assert!(program.prepared());
    assert_eq!(program.statements().len(), 2 + 9 * 4);
    let sql: Vec<String> = (program.statements().iter())
        .map(|statement| String::from_utf8(statement.template.sql().to_vec()).unwrap())
        .collect();
    assert_eq!(sql[0], "BEGIN");
    assert_eq!(sql[1], "SELECT c FROM sbtest1 WHERE id=?");
    assert_eq!(sql[4], "SELECT c FROM sbtest4 WHERE id=?");
    assert!(sql.contains(&"INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)".to_owned()));
}

#[test]
fn the_transaction_begins_and_ends_where_its_statements_say() {
    let program = fixture("oltp-read-write-prepared");
    let boundaries: Vec<Boundary> = program.statements().iter().map(|s| s.boundary).collect();
    assert_eq!(boundaries[0], Boundary::Begin);
    assert_eq!(boundaries[boundaries.len() - 1], Boundary::End);
    let inside = &boundaries[1..boundaries.len() - 1];
    assert!(inside.iter().all(|boundary| *boundary == Boundary::None));
}

#[test]
fn delete_and_insert_name_the_same_row_of_the_same_table() {
    let program = fixture("oltp-read-write-prepared");
    for sql in Driver::new(&program, 5).events(50) {
        let [delete, insert] = &sql[17..19] else { panic!("{sql:?}") };
        let table = delete.split(' ').nth(2).unwrap();
        let id = delete.rsplit('=').next().unwrap();
        let start = format!("INSERT INTO {table} (id, k, c, pad) VALUES ({id}, ");
        assert!(insert.starts_with(&start), "{delete} {insert}");
    }
}

#[test]
fn the_point_selects_of_a_transaction_share_a_table_and_every_table_gets_its_turn() {
    let program = fixture("oltp-read-write-prepared");
    let mut tables = std::collections::HashSet::new();
    for sql in Driver::new(&program, 2).events(50) {
        let of = |sql: &str| sql.split(' ').nth(3).unwrap().to_owned();
        assert!(sql[1..11].iter().all(|select| of(select) == of(&sql[1])), "{sql:?}");
        tables.insert(of(&sql[1]));
    }
    assert_eq!(tables.len(), 4);
}

#[test]
fn ranges_span_the_asked_number_of_ids() {
    let program = fixture("oltp-read-write-prepared");
    for sql in &Driver::new(&program, 3).event()[11..15] {
        let (low, high) =
            sql.split_once(" WHERE id BETWEEN ").unwrap().1.split_once(" AND ").unwrap();
        let high = high.split(' ').next().unwrap();
        assert_eq!(high.parse::<i64>().unwrap() - low.parse::<i64>().unwrap(), 99, "{sql}");
    }
}

#[test]
fn texts_are_groups_of_eleven_digits() {
    let program = fixture("oltp-read-write-prepared");
    let sql = Driver::new(&program, 9).event();
    let texts: Vec<&str> = sql[18].split('\'').skip(1).step_by(2).collect();
    assert_eq!(texts.iter().map(|text| text.len()).collect::<Vec<_>>(), [119, 59]);
    for group in texts.iter().flat_map(|text| text.split('-')) {
        assert!(group.len() == 11 && group.bytes().all(|digit| digit.is_ascii_digit()));
    }
}

#[test]
fn a_dictionary_of_a_column_holds_the_values_of_every_so_manieth_row() {
    let program = fixture("smack-steps");
    let mut names = std::collections::HashSet::new();
    for sql in Driver::new(&program, 1).events(8000).into_iter().flatten() {
        let name = sql.strip_prefix("select * from http_auth where username = '").unwrap();
        let number: u64 = name[12..name.len() - 1].parse().unwrap();
        assert!(number.is_multiple_of(120), "{sql}");
        names.insert(name.to_owned());
    }
    assert_eq!(names.len(), 750, "90,000 rows over 120, as super-smack 1.3 has it");
}
