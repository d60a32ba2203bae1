//! The page about programs describes every key and operator, and its examples are the fixtures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mydyno_engine::workload::operators;
use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(repository().join("docs/reference/engine-program.md")).unwrap()
}

fn programs() -> Vec<Value> {
    let folder = repository().join("tests/fixtures/engine/jobs/good");
    let jobs = fs::read_dir(folder).unwrap().map(|entry| {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["workload"]["program"].clone()
    });
    jobs.filter(|program| !program.is_null()).collect()
}

#[test]
fn every_operator_is_described() {
    let page = page();
    let missing: Vec<&str> =
        operators().filter(|name| !page.contains(&format!("`[\"{name}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_key_of_a_program_is_described_and_used_by_a_fixture() {
    let page = page();
    let mut keys = BTreeSet::new();
    programs().iter().for_each(|program| collect_keys(program, &mut keys));
    assert!(keys.len() > 35, "{keys:?}");
    for key in keys {
        let described = page.contains(&format!("`{key}`")) || page.contains(&format!("\"{key}\""));
        assert!(described, "{key} is not described");
    }
}

#[test]
fn the_examples_are_fixtures() {
    let page = page();
    let shown: Vec<(&str, &str)> = page
        .split("<!-- fixture: ")
        .skip(1)
        .map(|part| {
            let (name, rest) = part.split_once(" -->").unwrap();
            (name, rest.split("```json\n").nth(1).unwrap().split("```").next().unwrap())
        })
        .collect();
    assert_eq!(shown.len(), 2);
    for (name, example) in shown {
        let path = repository().join("tests/fixtures/engine").join(name);
        let job: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let example: Value = serde_json::from_str(example).unwrap();
        assert_eq!(example, job["workload"]["program"], "{name} differs from the documentation");
    }
}

/// Keys of the format; the names that a program gives to its values and dictionaries are its own.
fn collect_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.insert(key.clone());
                match (key.as_str(), value) {
                    ("values" | "dictionaries", Value::Object(named)) => {
                        named.values().for_each(|value| collect_keys(value, keys));
                    }
                    _ => collect_keys(value, keys),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}
