//! Hand-made logs, one for each difference between formats, and what is in them: tests/fixtures/slow-logs.

mod reading;

use std::fs;
use std::path::PathBuf;

use reading::{described, read_whole};

#[test]
fn each_log_holds_the_entries_and_problems_that_are_written_beside_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/slow-logs");
    let mut logs: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    assert!(!logs.is_empty());
    let mut differing = vec![];
    for log in logs {
        let found = described(&read_whole(&fs::read(&log).unwrap()));
        let expected = fs::read_to_string(log.with_extension("entries")).unwrap_or_default();
        if found != expected {
            let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
                .join(log.with_extension("entries").file_name().unwrap());
            fs::write(&kept, &found).unwrap();
            differing.push(kept);
        }
    }
    assert!(differing.is_empty(), "compare what was found, {differing:?}, with {folder:?}");
}
