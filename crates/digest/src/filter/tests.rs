use super::*;
use crate::attribute::Attribute;
use crate::entry::{Kind, Values};

/// Two seconds, 10,000 rows sent, by app at web1, in shop.
fn admits(filter: &str) -> bool {
    let mut values = Values::default();
    values.set(Attribute::QueryTime, 2_000_000);
    values.set(Attribute::RowsSent, 10_000);
    values.set(Attribute::FullScan, 1);
    values.set(Attribute::BytesSent, 65_536);
    let entry = Entry {
        at: 0,
        line: 1,
        time: Some(50),
        user: b"app",
        host: b"web1",
        database: b"shop",
        values: &values,
        kind: Kind::Statement,
        statement: b"SELECT *\nFROM orders WHERE id = 7 -- caf\xe9",
        error: 0,
        raw: Default::default(),
        beyond: 0,
    };
    Filters::new(None, None, &[filter]).unwrap_or_else(|bad| panic!("{bad}")).admits(&entry)
}

fn refusal(filter: &str) -> BadFilter {
    Filters::new(None, None, &[filter]).err().unwrap_or_else(|| panic!("{filter} is taken"))
}

#[test]
fn names_are_compared_as_they_stand_in_the_log() {
    for filter in
        ["user=app", "user!=App", "host ~ ^web[0-9]$", "database!~^test", " database = shop "]
    {
        assert!(admits(filter), "{filter}");
    }
    for filter in ["user=APP", "user!=app", "host~^b", "database!~shop", "user="] {
        assert!(!admits(filter), "{filter}");
    }
}

#[test]
fn a_pattern_looks_over_lines_and_over_bytes_that_are_no_text() {
    for filter in
        [r"statement~select.*FROM|SELECT.*FROM", r"statement~(?i)select.*id = \d+", "statement~caf"]
    {
        assert!(admits(filter), "{filter}");
    }
}

#[test]
fn a_value_may_hold_operators() {
    assert!(admits("statement~id = 7") && !admits("statement~id >= 7"));
}

#[test]
fn fingerprints_and_their_ids_can_be_asked_for() {
    assert!(admits(r"fingerprint~^select \* from orders where id = \?$"));
    assert!(!admits("fingerprint~7"));
    assert!(admits("id~^[0-9a-f]{16}$") && admits("id!=0123456789abcdef"));
}

#[test]
fn numbers_are_compared_in_their_units() {
    for filter in [
        "query_time=2",
        "query_time=2s",
        "query_time>=2000ms",
        "query_time<2000001us",
        "query_time<=1m",
        "query_time>1.999",
        "rows_sent=10k",
        "rows_sent>9999",
        "rows_sent!=1M",
        "bytes_sent=64K",
    ] {
        assert!(admits(filter), "{filter}");
    }
    for filter in
        ["query_time>2s", "query_time<2", "query_time!=2s", "rows_sent>10K", "bytes_sent<64k"]
    {
        assert!(!admits(filter), "{filter}");
    }
}

#[test]
fn a_flag_is_yes_or_no() {
    assert!(admits("full_scan=yes") && admits("full_scan!=no") && !admits("full_scan=no"));
}

#[test]
fn what_the_header_does_not_report_fulfils_no_condition() {
    for filter in ["lock_time=0", "lock_time!=0", "lock_time<1h", "filesort=no", "filesort!=yes"] {
        assert!(!admits(filter), "{filter}");
    }
}

#[test]
fn all_conditions_must_hold() {
    let mut both = Filters::new(None, None, &["user=app", "host=other"]).unwrap();
    let values = Values::default();
    let mut entry = Entry {
        at: 0,
        line: 1,
        time: None,
        user: b"app",
        host: b"web1",
        database: b"",
        values: &values,
        kind: Kind::Statement,
        statement: b"SELECT 1",
        error: 0,
        raw: Default::default(),
        beyond: 0,
    };
    assert!(!both.admits(&entry));
    entry.host = b"other";
    assert!(both.admits(&entry));
    let mut unnamed = Filters::new(None, None, &["database="]).unwrap();
    assert!(unnamed.admits(&entry), "what is not given is empty");
}

#[test]
fn a_span_of_time_has_its_first_microsecond_and_not_its_last() {
    let values = Values::default();
    let within = |time| {
        let entry = Entry {
            at: 0,
            line: 1,
            time,
            user: b"",
            host: b"",
            database: b"",
            values: &values,
            kind: Kind::Statement,
            statement: b"SELECT 1",
            error: 0,
            raw: Default::default(),
            beyond: 0,
        };
        Filters::new(Some(-5), Some(7), &[] as &[&str]).unwrap().admits(&entry)
    };
    assert!(within(Some(-5)) && within(Some(6)));
    assert!(!within(Some(-6)) && !within(Some(7)) && !within(None));
}

#[test]
fn a_filter_that_cannot_be_understood_is_reported_with_the_way_out() {
    for (filter, message, hint) in [
        ("slow", "compares nothing", "query_time>2s"),
        ("", "compares nothing", "NAME OP VALUE"),
        ("user!app", "compares nothing", "!="),
        ("quer_time>2", "`quer_time`", "query_time"),
        ("user>app", "cannot be compared by >", "~ and !~"),
        ("query_time~2", "cannot be compared by ~", "< <= > >="),
        ("full_scan>no", "cannot be compared by >", "= and !="),
        ("full_scan=maybe", "cannot be \"maybe\"", "yes or no"),
        ("query_time>2 parsecs", "cannot be \"2 parsecs\"", "500ms"),
        ("query_time>", "cannot be \"\"", "500ms"),
        ("query_time>-1", "cannot be \"-1\"", "500ms"),
        ("query_time>inf", "cannot be \"inf\"", "500ms"),
        ("rows_sent>1e3", "cannot be \"1e3\"", "10k"),
        ("bytes_sent>1Z", "cannot be \"1Z\"", "64K"),
        ("statement~(", "not a regular expression", "(?i)"),
    ] {
        let bad = refusal(filter);
        assert!(bad.message.contains(message), "{filter}: {}", bad.message);
        assert!(bad.hint.contains(hint), "{filter}: {}", bad.hint);
    }
}
