//! Horizontal bars, stacked where there are several parts.

use anyhow::Result;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, ShapeStyle};

use super::super::number;
use super::super::section::Chart;
use super::axis::Axis;
use super::lines::linear_marks;
use super::{AXIS, MESH, TEXT, WIDTH, drawn, fault, font, series};

const BAR_HEIGHT: u32 = 34;
const AXIS_HEIGHT: u32 = 50;
const MARGIN: u32 = 26;
const FIGURE_WIDTH: f64 = 52.0;
const LETTER_WIDTH: u32 = 9;

/// Bars of one unit.
pub(crate) struct Bars {
    pub(crate) title: String,
    /// At the axis: `µs`.
    pub(crate) unit: &'static str,
    /// Names of the parts that bars are made of; one for plain bars.
    pub(crate) parts: Vec<String>,
    pub(crate) bars: Vec<Bar>,
}

/// A bar.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// As many as there are names of parts.
    pub(crate) values: Vec<f64>,
    /// Smallest and largest of the repetitions, of the whole bar.
    pub(crate) range: Option<(f64, f64)>,
}

impl Bar {
    fn total(&self) -> f64 {
        self.values.iter().sum()
    }
}

impl Bars {
    /// `None` if there is nothing to draw.
    pub(crate) fn chart(self) -> Result<Option<Chart>> {
        let largest = self.largest();
        if largest <= 0.0 {
            return Ok(None);
        }
        let svg = self.draw(largest * self.room())?;
        let legend = if self.parts.len() > 1 {
            self.parts
        } else {
            Vec::new()
        };
        Ok(Some(Chart {
            title: self.title,
            svg,
            legend,
        }))
    }

    fn largest(&self) -> f64 {
        let ends = self.bars.iter().map(|bar| {
            let total = bar.total();
            bar.range.map_or(total, |(_, max)| max.max(total))
        });
        ends.fold(0.0, f64::max)
    }

    /// How much longer the axis is than the longest bar, so that the figure at its end has its place.
    fn room(&self) -> f64 {
        let plot = f64::from(WIDTH.saturating_sub(self.label_width() + MARGIN));
        plot / (plot - FIGURE_WIDTH)
    }

    fn height(&self) -> u32 {
        let bars = u32::try_from(self.bars.len()).unwrap_or(u32::MAX);
        bars.saturating_mul(BAR_HEIGHT).saturating_add(AXIS_HEIGHT + 10)
    }

    fn label_width(&self) -> u32 {
        let longest = self.bars.iter().map(|bar| bar.name.chars().count()).max();
        let letters = u32::try_from(longest.unwrap_or(0)).unwrap_or(u32::MAX);
        letters.saturating_mul(LETTER_WIDTH).saturating_add(8).min(280)
    }

    fn draw(&self, end: f64) -> Result<String> {
        let count = self.bars.len();
        let rows = number::float(count as u64);
        let centres = (0..count).map(|row| number::float(row as u64) + 0.5);
        let name = |row: f64| {
            let bar = self
                .bars
                .iter()
                .zip(centres.clone())
                .find(|(_, centre)| *centre == row);
            bar.map_or_else(String::new, |(bar, _)| bar.name.clone())
        };
        let amounts = Axis {
            range: 0.0..end,
            marks: linear_marks(end),
            label: Box::new(number::figure_plain),
        };
        // The first bar is the topmost.
        let names = Axis {
            range: rows..0.0,
            marks: centres.clone().collect(),
            label: Box::new(name),
        };
        drawn(self.height(), |area| {
            let mut chart = ChartBuilder::on(area)
                .margin_top(4)
                .margin_right(MARGIN)
                .x_label_area_size(AXIS_HEIGHT)
                .y_label_area_size(self.label_width())
                .build_cartesian_2d(amounts, names)
                .map_err(fault)?;
            chart
                .configure_mesh()
                .disable_y_mesh()
                .light_line_style(MESH.written.mix(0.0))
                .bold_line_style(MESH.written)
                .axis_style(AXIS.written)
                .label_style(font(16))
                .axis_desc_style(font(16))
                .x_desc(self.unit)
                .draw()
                .map_err(fault)?;
            for (bar, centre) in self.bars.iter().zip(centres.clone()) {
                chart.draw_series(rectangles(bar, centre)).map_err(fault)?;
                chart.draw_series(whisker(bar, centre)).map_err(fault)?;
                chart.draw_series([total(bar, centre)]).map_err(fault)?;
            }
            Ok(())
        })
    }
}

fn rectangles(bar: &Bar, centre: f64) -> impl Iterator<Item = Rectangle<(f64, f64)>> {
    let mut start = 0.0;
    bar.values.iter().enumerate().map(move |(part, value)| {
        let from = start;
        start += value;
        let corners = [(from, centre - 0.32), (start, centre + 0.32)];
        Rectangle::new(corners, series(part).written.filled())
    })
}

/// From the smallest to the largest repetition.
fn whisker(bar: &Bar, centre: f64) -> Option<PathElement<(f64, f64)>> {
    let (min, max) = bar.range.filter(|(min, max)| max > min)?;
    let style = ShapeStyle::from(&TEXT.written).stroke_width(2);
    let ends = [
        (min, centre - 0.12),
        (min, centre + 0.12),
        (min, centre),
        (max, centre),
        (max, centre - 0.12),
        (max, centre + 0.12),
    ];
    Some(PathElement::new(ends, style))
}

fn total(bar: &Bar, centre: f64) -> Text<'static, (f64, f64), String> {
    let total = bar.total();
    let end = bar.range.map_or(total, |(_, max)| max.max(total));
    let style = font(16).pos(Pos::new(HPos::Left, VPos::Center));
    Text::new(format!("\u{2002}{}", number::figure(total)), (end, centre), style)
}
