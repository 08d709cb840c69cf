//! The report of a run: one page that works offline, and the same as Markdown.

mod chart;
mod data;
mod noise;
mod number;
mod render;
mod section;
mod sections;
mod targets;

use std::path::PathBuf;

use anyhow::Result;

pub(crate) use data::{APP, DATABASE, Data, Group, Metric, THROUGHPUT};
pub(crate) use noise::complaints;
pub(crate) use number::{NONE, factor, spread, verdict};
pub(crate) use render::markdown_tables;
pub(crate) use section::Table;
pub(crate) use sections::told;

use crate::results::{Cell, Folder, Run};

/// A run as people read it.
pub struct Report {
    run: Run,
    cells: Vec<Cell>,
}

impl Report {
    /// Of what is in the folder, finished or not.
    ///
    /// # Errors
    /// A file is missing or is not what it should be.
    pub fn of(folder: &Folder) -> Result<Self> {
        Ok(Self {
            run: folder.run()?,
            cells: folder.cells()?,
        })
    }

    /// One page with all that it needs inside.
    ///
    /// # Errors
    /// A histogram cannot be read.
    pub fn html(&self) -> Result<String> {
        let data = self.data();
        let (sections, missing) = sections::all(&data)?;
        render::html(&data, &sections, &missing)
    }

    /// The same as text, without the drawings.
    ///
    /// # Errors
    /// A histogram cannot be read.
    pub fn markdown(&self) -> Result<String> {
        let data = self.data();
        let (sections, missing) = sections::all(&data)?;
        render::markdown(&data, &sections, &missing)
    }

    /// The main tables as Markdown, to be pasted elsewhere.
    ///
    /// # Errors
    /// A histogram cannot be read.
    pub fn headline(&self) -> Result<String> {
        let data = self.data();
        render::excerpt(&data, &sections::headline(&data)?)
    }

    /// Writes `report.html` and `report.md` into the folder and returns their paths.
    ///
    /// # Errors
    /// As of its parts; or the disk refuses.
    pub fn write(&self, folder: &Folder) -> Result<[PathBuf; 2]> {
        Ok([
            folder.write_report("report.html", &self.html()?)?,
            folder.write_report("report.md", &self.markdown()?)?,
        ])
    }

    pub(crate) fn data(&self) -> Data<'_> {
        Data::of(&self.run, &self.cells)
    }
}
