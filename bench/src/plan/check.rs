//! Whether a plan makes sense, and whether it can be met here.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use stack::{Layout, Network, is_free, nginx};

use super::{Group, Plan};
use crate::account::budget::{Bounds, Group as ControlGroup};
use crate::results::{Mode, Sockets, Split};

/// Makes sense at all.
pub(super) fn sound(plan: &Plan) -> Result<()> {
    ensure!(plan.repetitions > 0, "repetitions: one at least");
    ensure!(!plan.groups.is_empty(), "there is no [[group]] to measure");
    ensure!(
        !plan.articles.is_empty() && sizes(plan).all(|articles| articles > 0),
        "articles: at least one number, none of them 0"
    );
    let load = &plan.load;
    for (name, value, least) in [
        ("warm_up", load.warm_up, 0.0),
        ("seconds", load.seconds, 0.1),
        ("timeout", load.timeout, 0.1),
        ("think", load.think, 0.0),
    ] {
        ensure!(
            (least..86_400.0).contains(&value),
            "load.{name}: {value} is no number of seconds of at least {least}"
        );
    }
    ensure!(
        load.generators > 0 || !load.elsewhere.is_empty(),
        "load.generators: one at least, here or elsewhere"
    );
    ensure!(load.connections > 0, "load.connections: one at least");
    sound_search(plan)?;
    plan.groups.iter().try_for_each(sound_group)
}

/// All that are asked for, in no order.
fn sizes(plan: &Plan) -> impl Iterator<Item = u64> {
    let groups = plan.groups.iter().flat_map(|group| &group.articles);
    plan.articles.iter().chain(groups).copied()
}

fn sound_search(plan: &Plan) -> Result<()> {
    let search = &plan.search;
    ensure!(
        (0.1..86_400.0).contains(&search.seconds) && search.p95 > 0.0 && search.p99 >= search.p95,
        "search: seconds of at least 0.1, and p95 not above p99"
    );
    ensure!(
        (0.0..1.0).contains(&search.errors) && (0.001..1.0).contains(&search.precision),
        "search: errors and precision are shares below 1"
    );
    ensure!(
        search.start > 0 && search.start <= search.most && search.ramp > 0,
        "search: start and ramp of at least 1, start not above most"
    );
    ensure!(
        search.factors.iter().all(|factor| *factor > 0.0),
        "search.factors: above 0"
    );
    Ok(())
}

fn sound_group(group: &Group) -> Result<()> {
    ensure!(
        !group.layouts.is_empty() || !group.remote.is_empty(),
        "a group without layouts and remote deployments measures nothing"
    );
    ensure!(
        !group.profiles.is_empty() && !group.modes.is_empty(),
        "a group without profiles or modes measures nothing"
    );
    let overloads = group.modes.iter().position(|mode| matches!(mode, Mode::Overload));
    let capacity = group.modes.iter().position(|mode| matches!(mode, Mode::Capacity));
    ensure!(
        overloads.is_none() || capacity < overloads && capacity.is_some(),
        "overload needs a capacity to be found before it: put \"capacity\" before \"overload\" in modes"
    );
    ensure!(
        group.remote.is_empty() || group.budget.is_none(),
        "a deployment elsewhere cannot be given a budget from here"
    );
    ensure!(
        !group.boxes || group.sockets == Sockets::Tcp,
        "boxes are told apart by their addresses: put sockets = \"tcp\" beside boxes = true"
    );
    let names: BTreeSet<String> = group
        .layouts
        .iter()
        .map(ToString::to_string)
        .chain(group.remote.iter().map(|remote| remote.name.clone()))
        .collect();
    ensure!(
        names.len() == group.layouts.len() + group.remote.len(),
        "a layout appears twice in a group"
    );
    Ok(())
}

/// Why the plan cannot be met here, with what to do; before anything is started.
///
/// # Errors
/// The first thing that is missing.
pub fn refusal(plan: &Plan) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    for group in &plan.groups {
        proxied(group)?;
        if let Some(missing) = Network::missing().filter(|_| group.boxes) {
            bail!(
                "the plan puts each process into a network namespace: {missing}; or take boxes out of the plan"
            );
        }
        if let Some(budget) = group.budget {
            let wanted = budget.millicores;
            ensure!(
                u64::from(wanted) <= cores as u64 * 1000,
                "a budget of {wanted} millicores needs more than the {cores} cores of this machine: lower it, or measure on a larger one"
            );
            ensure!(
                budget.split != Split::Measured || !group.modes.is_empty(),
                "nothing is measured to divide by"
            );
            let bounds = Bounds {
                millicores: Some(wanted),
                cores: group.cores.clone(),
            };
            try_bounds(&bounds).context("the plan bounds processor time")?;
        }
        try_cores(group.cores.as_deref(), cores)?;
    }
    for wanted in [&plan.load.generator_cores, &plan.load.database_cores] {
        try_cores(wanted.as_deref(), cores)?;
    }
    Ok(())
}

fn proxied(group: &Group) -> Result<()> {
    let copies = [
        Layout::MonolithX4,
        Layout::SplitRebalancedHttp,
        Layout::SplitRebalancedGrpc,
    ];
    let needed = group.layouts.iter().find(|layout| copies.contains(layout));
    if let Some(layout) = needed {
        ensure!(
            group.proxy,
            "{layout} shares requests out among copies: set proxy = true in its group"
        );
    }
    ensure!(
        !group.proxy || nginx::installed().is_some(),
        "the plan puts nginx in front, and it is not installed (Debian's package is nginx): install it, or set proxy = false"
    );
    if let Some(port) = group
        .environment
        .get("CONDUIT_HTTP_LISTEN")
        .and_then(|listen| listen.rsplit_once(':'))
        .and_then(|(_, port)| port.parse().ok())
    {
        ensure!(
            is_free(port),
            "port {port} is taken: stop who listens there, or take CONDUIT_HTTP_LISTEN out of the plan"
        );
    }
    Ok(())
}

fn try_cores(wanted: Option<&str>, cores: usize) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    for number in wanted.split([',', '-']) {
        let number: usize = number
            .trim()
            .parse()
            .with_context(|| format!("cores `{wanted}`: expected numbers and ranges, as in 0-1,3"))?;
        ensure!(
            number < cores,
            "the plan pins to core {number}, and this machine has {cores} (counted from 0): change the plan, or measure on a larger one"
        );
    }
    try_bounds(&Bounds {
        millicores: None,
        cores: Some(wanted.to_owned()),
    })
    .context("the plan pins processes to cores")
}

fn try_bounds(bounds: &Bounds) -> Result<()> {
    let name = format!("conduit-bench-try-{}", std::process::id());
    ControlGroup::make(&name, bounds).map(drop)
}

#[cfg(test)]
mod tests {
    use crate::plan::{parse, refusal};

    const GROUP: &str = "[[group]]\nlayouts = [\"monolith\"]\nprofiles = [\"list\"]\nmodes = [{ closed = { concurrency = 1 } }]\n";

    fn told(text: &str) -> String {
        match parse(text).and_then(|plan| refusal(&plan)) {
            Ok(()) => String::new(),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_to_do() {
        let rows = [
            (format!("repetitions = 0\n{GROUP}"), "one at least"),
            (
                format!("repetitions = 1\narticles = [0]\n{GROUP}"),
                "none of them 0",
            ),
            (
                format!("repetitions = 1\n{GROUP}articles = [10, 0]\n"),
                "none of them 0",
            ),
            ("repetitions = 1\ngroup = []".to_owned(), "no [[group]]"),
            (
                format!("repetitions = 1\n[load]\nseconds = -1\n{GROUP}"),
                "load.seconds",
            ),
            (
                format!("repetitions = 1\nrepetition = 1\n{GROUP}"),
                "unknown field",
            ),
            (
                format!(
                    "repetitions = 1\n{}",
                    GROUP.replace("{ closed = { concurrency = 1 } }", "\"overload\"")
                ),
                "put \"capacity\" before",
            ),
            (
                format!(
                    "repetitions = 1\n{}",
                    GROUP.replace("\"monolith\"", "\"monolith-x4\"")
                ),
                "proxy = true",
            ),
            (format!("repetitions = 1\n{GROUP}cores = \"0-999\"\n"), "has"),
            (
                format!("repetitions = 1\n{GROUP}budget = {{ millicores = 900000, split = \"even\" }}\n"),
                "lower it",
            ),
            (format!("repetitions = 1\n{GROUP}boxes = true\n"), "put sockets"),
            (
                format!("repetitions = 1\n{}", GROUP.replace("\"list\"", "\"lists\"")),
                "unknown variant",
            ),
        ];
        for (text, expected) in rows {
            let told = told(&text);
            assert!(told.contains(expected), "{text}\n{told}");
        }
    }

    #[test]
    fn what_can_be_met_is_not_refused() {
        assert_eq!(told(&format!("repetitions = 1\n{GROUP}")), "");
    }
}
