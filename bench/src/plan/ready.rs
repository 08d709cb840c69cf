//! The plans that come with the program.

/// The plans that come with the program, by name.
pub const READY: [(&str, &str); 3] = [
    ("quick", include_str!("../../plans/quick.toml")),
    ("standard", include_str!("../../plans/standard.toml")),
    ("full", include_str!("../../plans/full.toml")),
];

/// The text of a plan that comes with the program.
#[must_use]
pub fn ready(name: &str) -> Option<&'static str> {
    READY
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Profile;
    use crate::plan::parse;
    use crate::results::Mode;

    #[test]
    fn they_are_plans() {
        for (name, text) in READY {
            parse(text).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }

    #[test]
    fn quick_fits_into_ten_minutes() {
        let plan = parse(ready("quick").unwrap()).unwrap();
        let cells: usize = plan
            .groups
            .iter()
            .map(|group| group.layouts.len() * group.profiles.len() * group.modes.len())
            .sum();
        let cell = plan.load.warm_up + plan.load.seconds + 1.0;
        let seconds = (cells * plan.repetitions as usize) as f64 * cell;
        assert!(seconds < 8.5 * 60.0, "{seconds} s");
        let group = &plan.groups[0];
        assert_eq!(group.modes, [Mode::Closed { concurrency: 16 }]);
        assert!(group.profiles.contains(&Profile::Read));
    }
}
