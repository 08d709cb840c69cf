//! What a run of checks is told as: a table by area, the failures, and two files for machines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::runner::Verdict;

/// How many checks ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Not tried, because the deployment had stopped answering.
    pub untried: usize,
}

impl Tally {
    /// Counts the verdicts of a run that was to make `planned` checks.
    pub fn of(verdicts: &[Verdict], planned: usize) -> Self {
        let mut tally = Self {
            untried: planned.saturating_sub(verdicts.len()),
            ..Self::default()
        };
        for verdict in verdicts {
            match &verdict.outcome {
                Ok(()) => tally.passed += 1,
                Err(Failure::Skipped(_)) => tally.skipped += 1,
                Err(_) => tally.failed += 1,
            }
        }
        tally
    }

    /// Whether the run counts as good.
    pub fn is_good(&self, allow_skips: bool) -> bool {
        self.failed == 0 && self.untried == 0 && (self.skipped == 0 || allow_skips) && self.passed > 0
    }
}

/// The word for a verdict.
pub fn word(verdict: &Verdict) -> &'static str {
    match &verdict.outcome {
        Ok(()) => "ok",
        Err(Failure::Skipped(_)) => "skipped",
        Err(_) => "FAILED",
    }
}

/// The table by area, with a line for the whole.
pub fn table(verdicts: &[Verdict], planned: usize) -> String {
    let mut order = Vec::new();
    let mut rows: BTreeMap<&str, (Tally, Duration)> = BTreeMap::new();
    for verdict in verdicts {
        let area = verdict.check.area();
        if !order.contains(&area) {
            order.push(area);
        }
        let (tally, time) = rows.entry(area).or_default();
        let one = Tally::of(std::slice::from_ref(verdict), 1);
        tally.passed += one.passed;
        tally.failed += one.failed;
        tally.skipped += one.skipped;
        *time += verdict.took;
    }
    let mut out = format!(
        "{:<8}{:>8}{:>8}{:>8}{:>10}\n",
        "area", "passed", "failed", "skipped", "time"
    );
    for area in order {
        if let Some((tally, time)) = rows.get(area) {
            line(&mut out, area, *tally, *time);
        }
    }
    let total = rows.values().map(|(_, time)| *time).sum();
    line(&mut out, "total", Tally::of(verdicts, planned), total);
    out
}

fn line(out: &mut String, name: &str, tally: Tally, time: Duration) {
    let seconds = format!("{:.2} s", time.as_secs_f64());
    let Tally {
        passed,
        failed,
        skipped,
        ..
    } = tally;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{name:<8}{passed:>8}{failed:>8}{skipped:>8}{seconds:>10}");
}

/// All failures, and the skipped checks with their reasons.
pub fn failures(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    let mut skipped: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Verdict { check, outcome, .. } in verdicts {
        match outcome {
            Ok(()) => {}
            Err(Failure::Skipped(why)) => skipped.entry(why).or_default().push(check.id),
            Err(failure) => {
                let _ = writeln!(out, "\nFAILED {}  {}\n  {failure}", check.id, check.title);
            }
        }
    }
    for (why, ids) in skipped {
        let _ = writeln!(out, "\nskipped {}: {why}", ids.join(", "));
    }
    out
}

/// The run as JSON.
pub fn json(verdicts: &[Verdict], planned: usize, target: &str, seed: u64) -> Value {
    let tally = Tally::of(verdicts, planned);
    let one = |verdict: &Verdict| {
        json!({
            "id": verdict.check.id,
            "title": verdict.check.title,
            "outcome": word(verdict).to_lowercase(),
            "milliseconds": verdict.took.as_millis(),
            "requests": verdict.steps.iter().map(|step| step.exchanges().len()).sum::<usize>(),
            "failure": verdict.outcome.as_ref().err().map(ToString::to_string),
        })
    };
    json!({
        "target": target,
        "seed": seed,
        "passed": tally.passed,
        "failed": tally.failed,
        "skipped": tally.skipped,
        "untried": tally.untried,
        "checks": verdicts.iter().map(one).collect::<Vec<_>>(),
    })
}

/// The run as JUnit XML, one suite, one class per area.
pub fn junit(verdicts: &[Verdict], target: &str) -> String {
    let tally = Tally::of(verdicts, verdicts.len());
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        out,
        r#"<testsuite name="conformance {}" tests="{}" failures="{}" skipped="{}">"#,
        escaped(target),
        verdicts.len(),
        tally.failed,
        tally.skipped
    );
    for Verdict {
        check, outcome, took, ..
    } in verdicts
    {
        let name = escaped(&format!("{} {}", check.id, check.title));
        let head = format!(
            r#"  <testcase classname="{}" name="{name}" time="{:.3}""#,
            check.area(),
            took.as_secs_f64()
        );
        let _ = match outcome {
            Ok(()) => writeln!(out, "{head}/>"),
            Err(Failure::Skipped(why)) => {
                writeln!(out, "{head}><skipped message=\"{}\"/></testcase>", escaped(why))
            }
            Err(failure) => {
                writeln!(
                    out,
                    "{head}><failure>{}</failure></testcase>",
                    escaped(&failure.to_string())
                )
            }
        };
    }
    out.push_str("</testsuite>\n");
    out
}

/// Text for XML: markup escaped, characters that XML has no way to write replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || c == '\u{FFFE}' || c == '\u{FFFF}' => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Check;

    fn verdict(id: &'static str, outcome: Result<(), Failure>) -> Verdict {
        let check = Check::new(id, "a <title> & \"more\"", |_| async { Ok(()) });
        Verdict {
            check,
            outcome,
            took: Duration::from_millis(1500),
            steps: Vec::new(),
        }
    }

    fn three() -> Vec<Verdict> {
        vec![
            verdict("http-001", Ok(())),
            verdict("auth-028", Err(Failure::Skipped("no secret".into()))),
            verdict("auth-029", Err(Failure::differs("the body", "a\u{1}", "b"))),
        ]
    }

    #[test]
    fn skipped_is_never_passed() {
        let verdicts = three();
        let tally = Tally::of(&verdicts, 4);
        assert_eq!(
            tally,
            Tally {
                passed: 1,
                failed: 1,
                skipped: 1,
                untried: 1
            }
        );
        assert!(!tally.is_good(true));
        let only_skips = Tally {
            passed: 1,
            skipped: 1,
            ..Tally::default()
        };
        assert!(!only_skips.is_good(false));
        assert!(only_skips.is_good(true));
        assert!(!Tally::default().is_good(true), "nothing made is nothing shown");
    }

    #[test]
    fn the_table_has_a_row_per_area_and_a_total() {
        let text = table(&three(), 3);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(rows.get(1), Some(&vec!["http", "1", "0", "0", "1.50", "s"]));
        assert_eq!(rows.get(2), Some(&vec!["auth", "0", "1", "1", "3.00", "s"]));
        assert_eq!(rows.get(3), Some(&vec!["total", "1", "1", "1", "4.50", "s"]));
    }

    #[test]
    fn junit_is_well_formed_whatever_came() {
        let xml = junit(&three(), "http://x");
        assert!(xml.contains("a &lt;title&gt; &amp; &quot;more&quot;"), "{xml}");
        assert!(xml.contains("<skipped message=\"no secret\"/>"), "{xml}");
        assert!(!xml.contains('\u{1}'), "{xml}");
    }

    #[test]
    fn a_failure_names_id_expected_came_and_the_byte() {
        let text = failures(&three());
        for part in [
            "FAILED auth-029",
            "expected: a",
            "came:     b",
            "first difference at byte 0",
            "skipped auth-028",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
