//! What is written is what is read.

use bench::results::{Folder, Run};

use super::fixture;

#[test]
fn results_survive_their_files() {
    let root = tempfile::tempdir().unwrap();
    let (run, cells) = (fixture::run(), fixture::cells());
    let folder = fixture::folder(&root.path().join("a"), &run, cells);
    let again = Folder::open(folder.path()).unwrap();
    assert_eq!(again.run().unwrap(), run);
    for (read, written) in again.cells().unwrap().iter().zip(cells) {
        assert_eq!(read, written);
    }
    assert_eq!(again.cells().unwrap().len(), cells.len());
    assert!(cells.iter().all(|cell| again.has(&cell.key)));
}

#[test]
fn every_cell_has_a_file_of_its_own() {
    let cells = fixture::cells();
    let names: std::collections::BTreeSet<_> = cells.iter().map(|cell| cell.key.file_name()).collect();
    assert_eq!(names.len(), cells.len());
}

#[test]
fn what_is_no_run_is_refused_with_its_name() {
    let root = tempfile::tempdir().unwrap();
    let told = Folder::open(root.path()).unwrap_err().to_string();
    assert!(
        told.contains("run.json") && told.contains(root.path().to_str().unwrap()),
        "{told}"
    );
    let newer = Run {
        format: Run::FORMAT + 1,
        ..fixture::run()
    };
    let folder = fixture::folder(&root.path().join("newer"), &newer, &[]);
    assert!(folder.run().unwrap_err().to_string().contains("format"));
    assert!(
        Folder::create(folder.path()).is_err(),
        "a run must not be overwritten"
    );
}

#[test]
fn a_draft_that_was_left_behind_is_no_cell() {
    let root = tempfile::tempdir().unwrap();
    let folder = fixture::folder(&root.path().join("a"), &fixture::run(), &fixture::cells()[..2]);
    std::fs::write(folder.path().join("cells/half.part"), "{").unwrap();
    assert_eq!(folder.cells().unwrap().len(), 2);
}
