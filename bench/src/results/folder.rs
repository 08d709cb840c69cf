//! The files of a run.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Cell, Key, Run};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A new one.
    ///
    /// # Errors
    /// It exists already, or the disk refuses.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        let folder = Self { path: path.into() };
        let told = || format!("creating {}", folder.path.display());
        if let Some(parent) = folder.path.parent() {
            fs::create_dir_all(parent).with_context(told)?;
        }
        fs::create_dir(&folder.path).with_context(told)?;
        fs::create_dir(folder.cells_path()).with_context(told)?;
        Ok(folder)
    }

    /// One that is there.
    ///
    /// # Errors
    /// It holds no run.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let folder = Self { path: path.into() };
        ensure!(
            folder.run_path().is_file(),
            "{} holds no run: there is no run.json in it",
            folder.path.display()
        );
        Ok(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was measured, on what.
    ///
    /// # Errors
    /// The file is missing, no JSON, or of another version.
    pub fn run(&self) -> Result<Run> {
        let run: Run = read(&self.run_path())?;
        ensure!(
            run.format == Run::FORMAT,
            "{} is of format {}, this program reads {}",
            self.run_path().display(),
            run.format,
            Run::FORMAT
        );
        Ok(run)
    }

    /// Writes or replaces what was measured, on what.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write_run(&self, run: &Run) -> Result<()> {
        write(&self.run_path(), &json(run)?)
    }

    /// Writes a finished cell; it is there as a whole or not at all.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write_cell(&self, cell: &Cell) -> Result<()> {
        write(&self.cell_path(&cell.key), &json(cell)?)
    }

    /// Whether the cell is finished, so that a resumed run need not repeat it.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.cell_path(key).is_file()
    }

    /// All finished cells, in the order in which they ran.
    ///
    /// # Errors
    /// A file is no cell.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        let entries = match fs::read_dir(self.cells_path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(|| format!("reading {}", self.cells_path().display()))?,
        };
        let mut cells = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                cells.push(read::<Cell>(&path)?);
            }
        }
        cells.sort_by(|a, b| (a.order, &a.key).cmp(&(b.order, &b.key)));
        Ok(cells)
    }

    /// Writes or replaces a file that is made of the others: `report.html`.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write_report(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        write(&path, text)?;
        Ok(path)
    }

    fn run_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    fn cells_path(&self) -> PathBuf {
        self.path.join("cells")
    }

    fn cell_path(&self, key: &Key) -> PathBuf {
        self.cells_path().join(key.file_name())
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("what {} says", path.display()))
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// All of it or nothing, also when the power goes.
fn write(path: &Path, text: &str) -> Result<()> {
    let told = || format!("writing {}", path.display());
    let draft = path.with_extension("part");
    let mut file = File::create(&draft).with_context(told)?;
    file.write_all(text.as_bytes()).with_context(told)?;
    file.sync_all().with_context(told)?;
    fs::rename(&draft, path).with_context(told)
}
