//! Lines over one axis, linear or logarithmic.

use std::ops::Range;

use anyhow::Result;
use plotters::chart::ChartBuilder;
use plotters::element::Circle;
use plotters::series::LineSeries;
use plotters::style::{Color as _, ShapeStyle};

use super::super::number;
use super::super::section::Chart;
use super::axis::Axis;
use super::{AXIS, MESH, drawn, fault, font, series};

const HEIGHT: u32 = 350;

/// Lines of one unit.
pub(crate) struct Lines {
    pub(crate) title: String,
    pub(crate) across: Scale,
    pub(crate) up: Scale,
    pub(crate) lines: Vec<Line>,
    /// Whether each point is marked; not where there are very many.
    pub(crate) marked: bool,
}

/// A line.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// What an axis shows.
pub(crate) struct Scale {
    /// `requests a second`.
    pub(crate) unit: &'static str,
    pub(crate) kind: Kind,
}

/// How values become places.
pub(crate) enum Kind {
    /// From nought.
    Linear,
    /// By powers of ten.
    Logarithmic,
    /// Of given places with their names, at their logarithm.
    Named(Vec<(f64, &'static str)>),
    /// Of given values, at their logarithm.
    Points(Vec<f64>),
}

impl Scale {
    pub(crate) fn linear(unit: &'static str) -> Self {
        Self {
            unit,
            kind: Kind::Linear,
        }
    }

    pub(crate) fn logarithmic(unit: &'static str) -> Self {
        Self {
            unit,
            kind: Kind::Logarithmic,
        }
    }

    /// Values that are shares of requests, the further the nearer they are to 1: `1 / (1 - share)`.
    pub(crate) fn percentiles() -> Self {
        let names = vec![
            (2.0, "50 %"),
            (10.0, "90 %"),
            (100.0, "99 %"),
            (1_000.0, "99.9 %"),
            (10_000.0, "99.99 %"),
        ];
        Self {
            unit: "share of requests that are not slower",
            kind: Kind::Named(names),
        }
    }

    pub(crate) fn points(unit: &'static str, points: Vec<f64>) -> Self {
        Self {
            unit,
            kind: Kind::Points(points),
        }
    }

    fn place(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => value,
            _ => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    fn range(&self, places: impl Iterator<Item = f64> + Clone) -> Range<f64> {
        let (min, max) = (
            places.clone().fold(f64::INFINITY, f64::min),
            places.fold(f64::NEG_INFINITY, f64::max),
        );
        match self.kind {
            Kind::Linear => 0.0..max * 1.05,
            Kind::Logarithmic => min - 0.05..(max + 0.05).max(min + 0.5),
            Kind::Named(_) => min..max.max(min + 0.5),
            Kind::Points(_) => min - 0.08..max + 0.08,
        }
    }

    /// Where lines and labels stand.
    fn marks(&self, range: &Range<f64>) -> Vec<f64> {
        let values = match &self.kind {
            Kind::Linear => return linear_marks(range.end),
            Kind::Logarithmic => powers(range),
            Kind::Named(names) => names.iter().map(|(value, _)| *value).collect(),
            Kind::Points(points) => points.clone(),
        };
        let places = values.iter().map(|value| self.place(*value));
        places
            .filter(|place| range.start <= *place && *place <= range.end)
            .collect()
    }

    fn axis(&self, places: impl Iterator<Item = f64> + Clone) -> Axis<'_> {
        let range = self.range(places);
        Axis {
            marks: self.marks(&range),
            range,
            label: Box::new(|place| self.label(place)),
        }
    }

    fn label(&self, place: f64) -> String {
        let value = match &self.kind {
            Kind::Linear => place,
            Kind::Named(names) => {
                let name = names.iter().find(|(value, _)| near(value.log10(), place));
                return name.map_or_else(String::new, |(_, name)| (*name).to_owned());
            }
            Kind::Logarithmic | Kind::Points(_) => 10_f64.powf(place),
        };
        // A logarithm's way back is not exact.
        let rounded = value.round();
        number::figure_plain(if near(value, rounded) { rounded } else { value })
    }
}

impl Lines {
    /// `None` if there is nothing to draw.
    pub(crate) fn chart(mut self) -> Result<Option<Chart>> {
        self.lines.retain(|line| !line.points.is_empty());
        if self.lines.is_empty() {
            return Ok(None);
        }
        let svg = self.draw()?;
        Ok(Some(Chart {
            title: self.title,
            svg,
            legend: self.lines.into_iter().map(|line| line.name).collect(),
        }))
    }

    fn draw(&self) -> Result<String> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let across = self.across.axis(points().map(|point| self.across.place(point.0)));
        let up = self.up.axis(points().map(|point| self.up.place(point.1)));
        drawn(HEIGHT, |area| {
            let mut chart = ChartBuilder::on(area)
                .margin_top(10)
                .margin_right(26)
                .x_label_area_size(52)
                .y_label_area_size(82)
                .build_cartesian_2d(across, up)
                .map_err(fault)?;
            chart
                .configure_mesh()
                .light_line_style(MESH.written.mix(0.0))
                .bold_line_style(MESH.written)
                .axis_style(AXIS.written)
                .label_style(font(16))
                .axis_desc_style(font(16))
                .x_desc(self.across.unit)
                .y_desc(self.up.unit)
                .draw()
                .map_err(fault)?;
            for (index, line) in self.lines.iter().enumerate() {
                let colour = series(index).written;
                let places = line
                    .points
                    .iter()
                    .map(|point| (self.across.place(point.0), self.up.place(point.1)));
                let stroke = ShapeStyle::from(&colour).stroke_width(2);
                chart
                    .draw_series(LineSeries::new(places.clone(), stroke))
                    .map_err(fault)?;
                if self.marked {
                    let dots = places.map(|place| Circle::new(place, 4, colour.filled()));
                    chart.draw_series(dots).map_err(fault)?;
                }
            }
            Ok(())
        })
    }
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

/// 1, 2 and 5 of each power of ten; over many powers only 1.
fn powers(range: &Range<f64>) -> Vec<f64> {
    let digits: &[f64] = if range.end - range.start > 2.6 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let mut values = Vec::new();
    let mut power = range.start.floor();
    while power <= range.end {
        values.extend(digits.iter().map(|digit| digit * 10_f64.powf(power)));
        power += 1.0;
    }
    values
}

/// About five round numbers from 0.
pub(super) fn linear_marks(end: f64) -> Vec<f64> {
    let raw = end / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= raw)
        .unwrap_or(end);
    let marks = (0..=10).map(|index| f64::from(index) * step);
    marks.take_while(|mark| *mark <= end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round() {
        assert_eq!(linear_marks(10.5), [0.0, 5.0, 10.0]);
        assert_eq!(linear_marks(9000.0), [0.0, 2000.0, 4000.0, 6000.0, 8000.0]);
        assert_eq!(powers(&(0.0..1.1)), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(powers(&(0.0..3.0)), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn labels_come_back_from_their_logarithm() {
        let scale = Scale::logarithmic("ms");
        for value in [0.5, 1.0, 2.0, 50.0, 1000.0] {
            let label = scale.label(scale.place(value)).replace('\u{202f}', "");
            assert_eq!(label.parse::<f64>().unwrap(), value);
        }
        assert_eq!(Scale::percentiles().label(3.0), "99.9 %");
    }
}
