//! What was measured, how, and on what.

use super::super::data::Data;
use super::super::number;
use super::super::section::{Section, Table};
use super::variant;
use crate::results::{ArtifactKind, Deployment};
use crate::stats::{AGREEMENT, REPETITIONS};

pub(super) fn section(data: &Data<'_>) -> Section {
    let run = data.run;
    let mut section = Section::new("method", "What was measured, and how")
        .text(format!(
            "Plan “{}”: {} measurements, each cell {} times; {} are finished. Layouts take turns within each repetition, so that \
             whatever the machine does meanwhile hits all of them. A verdict takes {REPETITIONS} repetitions.",
            run.plan.name,
            run.plan.cells,
            run.plan.repetitions,
            data.cells.len(),
        ))
        .text(
            "Only 2xx answers count as work. Processor time is the user and system time of a process while the load is counted, \
             divided by these answers; PostgreSQL's is that of all its processes. Before it is measured, a layout must pass smoke \
             checks of the conformance program. “Noisy” is a run in which the machine was often restless, or the ratios of one pair \
             of layouts differ from repetition to repetition by more than ",
        );
    if let Some(last) = section.text.last_mut() {
        *last += &format!("{:.0} %.", AGREEMENT * 100.0);
    }
    section = section
        .table("The machine", machine(data))
        .table("How the layouts were deployed", deployments(data));
    for (title, table) in [
        ("What is shipped", artifacts(data)),
        ("Looks at whether the machine was quiet", gates(data)),
    ] {
        if !table.rows.is_empty() {
            section = section.table(title, table);
        }
    }
    section.verbatim = Some(("The plan", run.plan.text.clone()));
    section
}

fn machine(data: &Data<'_>) -> Table {
    let machine = &data.run.machine;
    let revision = match (&machine.revision, machine.dirty) {
        (Some(revision), true) => format!("{revision}, with changes that are in no commit"),
        (Some(revision), false) => revision.clone(),
        (None, _) => "unknown".to_owned(),
    };
    let finished = data.run.finished.as_deref().unwrap_or("not finished");
    let memory = format!("{} MiB", number::figure(number::mebibytes(machine.memory_bytes)));
    let mut table = Table::new(&["what", "value"]);
    for (what, value) in [
        ("processor", machine.processor.as_str()),
        ("cores", &machine.cores.to_string()),
        ("memory", &memory),
        ("kernel", &machine.kernel),
        ("PostgreSQL", &machine.postgres),
        ("compiler", &machine.rustc),
        ("profile", &machine.profile),
        ("revision", &revision),
        ("started", &data.run.started),
        ("finished", finished),
    ] {
        table.row([what.to_owned(), value.to_owned()]);
    }
    table
}

fn deployments(data: &Data<'_>) -> Table {
    let mut table = Table::new(&[
        "layout",
        "variant",
        "in front",
        "processes",
        "smoke checks passed",
    ]);
    for deployment in &data.run.deployments {
        table.row([
            deployment.layout.clone(),
            variant(&deployment.variant),
            deployment.proxy.clone().unwrap_or_else(|| "nothing".to_owned()),
            processes(deployment),
            deployment
                .checks
                .map_or_else(|| "not run".to_owned(), |checks| checks.to_string()),
        ]);
    }
    table
}

fn processes(deployment: &Deployment) -> String {
    let told = deployment.processes.iter().map(|process| {
        let transport = process
            .transport
            .as_deref()
            .map_or_else(String::new, |transport| format!(", {transport}"));
        let (workers, connections) = (process.workers, process.pool);
        format!(
            "{} (workers: {workers}, connections: {connections}{transport})",
            process.name
        )
    });
    told.collect::<Vec<_>>().join("; ")
}

fn artifacts(data: &Data<'_>) -> Table {
    let mut table = Table::new(&["what", "kind", "MiB"]);
    for artifact in &data.run.artifacts {
        let kind = match artifact.kind {
            ArtifactKind::Binary => "program",
            ArtifactKind::Image => "image",
        };
        table.row([
            artifact.name.clone(),
            kind.to_owned(),
            number::figure(number::mebibytes(artifact.bytes)),
        ]);
    }
    table
}

fn gates(data: &Data<'_>) -> Table {
    let mut table = Table::new(&["look", "spread", "limit", "passed"]);
    for gate in &data.run.gates {
        table.row([
            gate.told.clone(),
            number::percent(gate.spread),
            number::percent(gate.limit),
            if gate.passed { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}
