//! docs/reference/digest-format.md names every key of every message, every attribute and every option.

use std::fs;
use std::path::{Path, PathBuf};

use mydyno_digest::attribute::Attribute;
use mydyno_digest::chunk::Sizes;
use mydyno_digest::filter::Filters;
use mydyno_digest::groups::Grouping;
use mydyno_digest::message::{Message, Progress};
use mydyno_digest::pipeline::{Job, digest};
use mydyno_digest::stop::Stop;
use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(repository().join("docs/reference/digest-format.md")).unwrap()
}

/// With groups of every kind, a problem and a rest.
fn digest_messages() -> [Value; 2] {
    let log =
        |name: &str| repository().join("tests/fixtures/slow-logs").join(name).display().to_string();
    let job = Job {
        sources: vec![
            log("mariadb-11.log"),
            log("mysql-5.1.log"),
            "/nonexistent/slow.log".to_owned(),
        ],
        filters: Filters::default(),
        grouping: Grouping::default(),
        out_log: None,
        limit: Some(1),
        example_bytes: 1000,
        threads: Some(1),
        sizes: Sizes::default(),
    };
    let (digest, mut groups) = digest(&job, &Stop::new().unwrap(), |_| ());
    let group = Message::Group(Box::new(groups.next().unwrap()));
    [Message::Digest(Box::new(digest)), group].map(|each| serde_json::to_value(each).unwrap())
}

/// Keys of records; those of measures and flags are attributes.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if !Attribute::ALL.iter().any(|attribute| attribute.name() == key) {
                    found.push(key.clone());
                }
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_every_message_is_described() {
    let page = page();
    let [digest, group] = digest_messages();
    for record in ["problems", "sources"] {
        assert!(!digest[record].as_array().unwrap().is_empty(), "no {record} to look at");
    }
    assert!(digest["rest"].is_object());
    let progress = Message::Progress(Progress { read_bytes: 1, of_bytes: None, entries: 0 });
    for message in [digest, group, serde_json::to_value(progress).unwrap()] {
        assert!(page.contains(&format!("### `{}`", message["type"].as_str().unwrap())));
        let mut found = Vec::new();
        keys(&message, &mut found);
        for key in found {
            assert!(page.contains(&format!("`{key}`")), "{key} is not described");
        }
    }
}

#[test]
fn every_attribute_is_described_with_its_spelling_in_logs() {
    let page = page();
    for attribute in Attribute::ALL {
        let row = format!("| `{}` | `{}` |", attribute.name(), attribute.key());
        assert!(page.contains(&row), "{row} is not there");
    }
}
