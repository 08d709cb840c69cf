//! The Markdown text.

use std::path::Path;
use std::process::Command;

use super::fixture;

const SNAPSHOT: &str = include_str!("snapshot.md");

/// To accept a change that is meant: copy the file that the failure names.
#[test]
fn the_text_is_as_it_was() {
    let text = fixture::report().markdown().unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshot.md");
    std::fs::write(&kept, &text).unwrap();
    for (number, (now, before)) in (1..).zip(text.lines().zip(SNAPSHOT.lines())) {
        assert_eq!(
            now,
            before,
            "line {number} of tests/report/snapshot.md and of {}",
            kept.display()
        );
    }
    assert_eq!(
        text.lines().count(),
        SNAPSHOT.lines().count(),
        "{}",
        kept.display()
    );
}

#[test]
fn every_row_of_a_table_has_as_many_cells_as_its_head() {
    let text = fixture::report().markdown().unwrap();
    let mut head = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            head = None;
            continue;
        }
        let cells = line.replace("\\|", "").matches('|').count();
        assert_eq!(*head.get_or_insert(cells), cells, "{line}");
    }
}

#[test]
fn the_part_to_paste_has_no_title_of_its_own() {
    let text = fixture::report().headline().unwrap();
    assert!(text.contains("### What the split costs"), "{text}");
    assert!(text.contains("### Cores for so many requests a second"), "{text}");
    assert!(
        !text
            .lines()
            .any(|line| line.starts_with("# ") || line.starts_with("## ")),
        "{text}"
    );
}

#[test]
fn the_command_writes_both_files_and_prints_the_tables() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-up-run");
    let _ = std::fs::remove_dir_all(&root);
    fixture::folder(&root, &fixture::run(), fixture::cells());
    let bench = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_bench"))
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            errors,
        )
    };
    let path = root.to_str().unwrap();
    let (code, said, errors) = bench(&["report", path]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        said.lines().all(|file| Path::new(file).is_file()) && said.lines().count() == 2,
        "{said}"
    );
    let (code, said, _) = bench(&["report", path, "--markdown"]);
    assert!(code == Some(0) && said.contains("| monolith |"), "{said}");
    let (code, said, _) = bench(&["compare", path, path]);
    assert!(
        code == Some(0) && said.contains("| tie |") && !said.contains("slower"),
        "{said}"
    );
    let (code, _, errors) = bench(&["report", "/nowhere"]);
    assert!(
        code == Some(2) && errors.contains("/nowhere holds no run"),
        "{errors}"
    );
}
