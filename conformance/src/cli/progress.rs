//! Progress: a bar on a terminal, plain lines otherwise.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far a run has come.
#[derive(Debug)]
pub(super) enum Progress {
    Bar(ProgressBar),
    Lines,
}

impl Progress {
    /// For a run of so many parts.
    pub(super) fn new(parts: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::new(parts as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        Self::Bar(bar)
    }

    /// One part is done.
    pub(super) fn step(&self, line: &str) {
        match self {
            Self::Lines => eprintln!("{line}"),
            Self::Bar(bar) => {
                bar.set_message(line.to_owned());
                bar.inc(1);
            }
        }
    }

    /// Something that stays to be read, whatever shows the progress.
    pub(super) fn tell(&self, line: &str) {
        match self {
            Self::Lines => eprintln!("{line}"),
            Self::Bar(bar) => bar.println(line),
        }
    }

    /// The run is over.
    pub(super) fn done(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
