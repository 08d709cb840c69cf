//! `run`: measures what a plan asks for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use conduit_runtime::process::stop_signal;
use indicatif::{ProgressBar, ProgressStyle};
use stack::Binaries;

use crate::account::Images;
use crate::plan::{self, Plan, READY};
use crate::report::Report;
use crate::results::Folder;
use crate::run::{self, Surroundings};

/// What to measure.
#[derive(Args, Debug)]
pub(super) struct Run {
    /// A plan that comes with the program (quick, standard, full), or the path of one
    #[arg(required_unless_present = "resume")]
    plan: Option<String>,
    /// Folder for the results [default: results/<plan>-<time>]
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Go on with an interrupted run in its folder; finished cells are kept
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["plan", "output"])]
    resume: Option<PathBuf>,
    /// Folder for databases, secrets and logs, kept from run to run [default: bench-state beside the programs' folder]
    #[arg(long, value_name = "PATH")]
    state: Option<PathBuf>,
    /// Take the programs as they are; build only what is missing
    #[arg(long)]
    no_build: bool,
    /// What container images are named before the program's name, for their sizes
    #[arg(long, value_name = "NAMES", env = "CONDUIT_IMAGES", default_value = "conduit")]
    images: String,
    /// Tag of the container images
    #[arg(long, value_name = "TAG", env = "CONDUIT_VERSION", default_value = "latest")]
    images_version: String,
    /// Say whether the plan can be met here, and measure nothing
    #[arg(long)]
    check: bool,
}

impl Run {
    pub(super) async fn run(self) -> Result<()> {
        let (name, text) = match (&self.plan, &self.resume) {
            (Some(plan), _) => plan::text(plan)?,
            (None, Some(folder)) => {
                let found = Folder::open(folder)?.run()?.plan;
                (found.name, found.text)
            }
            (None, None) => bail!("which plan? There are {}", READY.map(|(name, _)| name).join(", ")),
        };
        let plan = plan::parse(&text)?;
        plan::refusal(&plan).context("this plan cannot be met here")?;
        if self.check {
            say!("{name} can be met here: {} measurements", run::count(&plan));
            return Ok(());
        }
        let surroundings = self.surroundings(&plan)?;
        let folder = match &self.resume {
            Some(folder) => Folder::open(folder)?,
            None => self.new_folder(&name, &text, &plan)?,
        };
        measure(&plan, &folder, &surroundings).await
    }

    fn new_folder(&self, name: &str, text: &str, plan: &Plan) -> Result<Folder> {
        let begun = run::begin(name, text, plan)?;
        let time: String = begun
            .started
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let path = match &self.output {
            Some(path) => path.clone(),
            None => Path::new("results").join(format!("{name}-{time}")),
        };
        let folder = Folder::create(path)?;
        folder.write_run(&begun)?;
        Ok(folder)
    }

    fn surroundings(&self, plan: &Plan) -> Result<Surroundings> {
        let program = std::env::current_exe().context("finding this program")?;
        let binaries = Binaries::beside_this_program(false, false).context("finding this program")?;
        let local = plan.groups.iter().any(|group| !group.layouts.is_empty());
        // What is missing is built where it is started.
        if local && !self.no_build {
            binaries.build_all()?;
        }
        let state = match &self.state {
            Some(state) => state.clone(),
            None => binaries
                .folder
                .parent()
                .unwrap_or(&binaries.folder)
                .join("bench-state"),
        };
        std::fs::create_dir_all(&state).with_context(|| format!("making {}", state.display()))?;
        Ok(Surroundings {
            state: state.canonicalize().context("finding the state folder")?,
            binaries,
            images: Images {
                names: self.images.clone(),
                version: self.images_version.clone(),
            },
            generator: vec![program.display().to_string(), "generate".to_owned()],
            progress: bar(),
        })
    }
}

/// Until the end, or until Ctrl-C: what is finished is in the folder either way.
async fn measure(plan: &Plan, folder: &Folder, surroundings: &Surroundings) -> Result<()> {
    let stop = stop_signal().context("listening to signals")?;
    let path = folder.path().display();
    say!("results: {path}");
    // Dropped half-way, the run stops all that it started.
    let done = tokio::select! {
        done = run::run(plan, folder, surroundings) => done?,
        signal = stop => bail!("stopped by {signal}; to go on: bench run --resume {path}"),
    };
    surroundings.progress.finish_and_clear();
    say!(
        "{} measurements are finished, {} failed",
        done.measured,
        done.failed
    );
    for path in Report::of(folder)?.write(folder)? {
        say!("{}", path.display());
    }
    Ok(())
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len}, {eta} left: {msg}");
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
