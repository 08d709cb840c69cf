//! Drawings, by plotters: it is the one widely used library that writes SVG by itself, with logarithmic and own scales, and
//! without a browser engine, a script or a font renderer (three small crates). What it lacks are style sheets, but not for us:
//! it writes colours as attributes, which any rule of a style sheet overrides. So every colour here is a name, and the page's
//! style sheet, made of the same list, says what it looks like in light and in dark.

mod axis;
mod bars;
mod lines;

pub(crate) use bars::{Bar, Bars};
pub(crate) use lines::{Line, Lines, Scale};

use plotters::backend::SVGBackend;
use plotters::style::{IntoFont, RGBColor, TextStyle};

/// Of all charts; narrow, so that their text can still be read on a phone.
const WIDTH: u32 = 560;

/// A colour: as plotters writes it, in light, in dark. The first is a name only, so it must be unlike all others.
pub(crate) struct Ink {
    written: RGBColor,
    light: &'static str,
    dark: &'static str,
}

const fn ink(number: u8, light: &'static str, dark: &'static str) -> Ink {
    Ink {
        written: RGBColor(1, 2, number),
        light,
        dark,
    }
}

const TEXT: Ink = ink(1, "#1f2328", "#e6edf3");
const MESH: Ink = ink(2, "#d8dee4", "#343b44");
const AXIS: Ink = ink(3, "#8c959f", "#6e7681");

/// Of series, told apart by people who do not see all colours (after Okabe and Ito), each with enough contrast to its background.
const SERIES: [Ink; 8] = [
    ink(10, "#0067a8", "#58b1ec"),
    ink(11, "#c25700", "#f0963c"),
    ink(12, "#007a5a", "#2fc79a"),
    ink(13, "#b0478a", "#e08fc0"),
    ink(14, "#8a6d00", "#d9c13a"),
    ink(15, "#5b5fc7", "#a5a8ff"),
    ink(16, "#5f6872", "#a3adb8"),
    ink(17, "#a3262a", "#f28b82"),
];

/// Colours of series, as the page's style sheet names them: `--series-0`.
pub(crate) const COLOURS: usize = SERIES.len();

/// The colour of the series with this number; they repeat after [`COLOURS`].
fn series(number: usize) -> &'static Ink {
    SERIES.get(number % COLOURS).unwrap_or(&TEXT)
}

/// What the style sheet says of the colours.
pub(crate) fn style_sheet() -> String {
    let mut sheet = String::new();
    for (open, close, dark) in [
        (":root{", "}", false),
        ("@media (prefers-color-scheme:dark){:root{", "}}", true),
    ] {
        let colours = SERIES.iter().enumerate().map(|(number, ink)| {
            let colour = if dark { ink.dark } else { ink.light };
            format!("--series-{number}:{colour};")
        });
        sheet.extend(std::iter::once(open.to_owned()).chain(colours));
        for (name, ink) in [("text", &TEXT), ("mesh", &MESH), ("axis", &AXIS)] {
            let colour = if dark { ink.dark } else { ink.light };
            sheet += &format!("--{name}:{colour};");
        }
        sheet += close;
        sheet.push('\n');
    }
    let names = (0..COLOURS).map(|number| format!("series-{number}"));
    let names = names.chain(["text", "mesh", "axis"].map(str::to_owned));
    for (name, ink) in names.zip(SERIES.iter().chain([&TEXT, &MESH, &AXIS])) {
        let RGBColor(red, green, blue) = ink.written;
        let written = format!("#{red:02X}{green:02X}{blue:02X}");
        sheet += &format!(
            "svg [fill=\"{written}\"]{{fill:var(--{name})}}svg [stroke=\"{written}\"]{{stroke:var(--{name})}}\n"
        );
    }
    sheet
}

/// Text of a chart, `size` in its own pixels.
fn font(size: u32) -> TextStyle<'static> {
    // Plotters divides sizes by 1.24 when it writes them.
    ("sans-serif", f64::from(size) * 1.24)
        .into_font()
        .color(&TEXT.written)
}

/// An error of plotters; those of its backend are none that can happen in memory.
fn fault(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("drawing a chart: {error}")
}

/// The drawing on a transparent ground.
fn drawn(
    height: u32,
    draw: impl FnOnce(
        &plotters::drawing::DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    ) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        use plotters::drawing::IntoDrawingArea as _;
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&area)?;
        area.present().map_err(fault)?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_that_is_drawn_is_in_the_style_sheet_for_light_and_dark() {
        let sheet = style_sheet();
        for ink in SERIES.iter().chain([&TEXT, &MESH, &AXIS]) {
            let RGBColor(red, green, blue) = ink.written;
            assert!(sheet.contains(&format!("[fill=\"#{red:02X}{green:02X}{blue:02X}\"]")));
            assert!(sheet.contains(ink.light) && sheet.contains(ink.dark));
        }
    }
}
