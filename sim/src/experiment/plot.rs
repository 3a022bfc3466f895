//! Plots as SVG: the same colours, marks and sizes for all.

use super::findings::{Kind, Plot, Point, Series};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

const SIZE: (u32, u32) = (860, 460);
const FONT: &str = "sans-serif";
/// Part of the space between two labels that bars take.
const BARS: f64 = 0.8;
/// Part of the height that a line of the legend takes.
const LEGEND_LINE: f64 = 0.055;
/// Most series that are told apart.
const MOST: usize = 8;

/// Colours that are told apart by everyone (M. Okabe and K. Ito, "Color Universal Design"), dark first, so that they differ
/// in grey too.
const COLOURS: [RGBColor; MOST] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(190, 180, 40),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = Box<dyn Error>;

/// Draws a plot.
///
/// # Errors
///
/// There is nothing to draw.
pub fn svg(plot: &Plot) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        draw(plot, &area)?;
        area.present()?;
    }
    Ok(text)
}

fn ranges(plot: &Plot) -> Result<(std::ops::Range<f64>, std::ops::Range<f64>), Failure> {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let highest = |point: &Point| point.spread.map_or(point.y, |(_, high)| high.max(point.y));
    let most = points().map(highest).fold(f64::NAN, f64::max);
    if most.is_nan() {
        return Err(format!("the plot {} has no points", plot.name).into());
    }
    let least = points().map(|point| point.y).fold(0.0, f64::min);
    // Room for the legend above what is drawn.
    let room = 0.06 + LEGEND_LINE * plot.series.len() as f64;
    let top = if most > least { most + (most - least) * room / (1.0 - room) } else { least + 1.0 };
    let across = if plot.labels.is_empty() {
        let ends = points().map(|point| point.x).fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        ends.0..if ends.1 > ends.0 { ends.1 } else { ends.0 + 1.0 }
    } else {
        -0.5..plot.labels.len() as f64 - 0.5
    };
    Ok((across, least..top))
}

fn draw(plot: &Plot, area: &Area) -> Result<(), Failure> {
    let (across, up) = ranges(plot)?;
    let mut chart = ChartBuilder::on(area)
        .caption(&plot.title, (FONT, 19))
        .margin(12)
        .margin_right(24)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(across, up)?;
    let label = |x: &f64| match plot.labels.get(x.round().max(0.0) as usize) {
        Some(label) if (x - x.round()).abs() < 0.01 => label.clone(),
        _ if plot.labels.is_empty() => number(*x),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .axis_style(RGBColor(90, 90, 90))
        .x_desc(&plot.across)
        .y_desc(&plot.up)
        .x_labels(if plot.labels.is_empty() { 10 } else { 2 * plot.labels.len() + 1 })
        .x_label_formatter(&label)
        .y_label_formatter(&|y| number(*y))
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    let count = plot.series.len();
    for (number, series) in plot.series.iter().enumerate() {
        let colour = COLOURS[number % MOST];
        match plot.kind {
            Kind::Lines => {
                let points: Vec<(f64, f64)> = series.points.iter().map(|point| (point.x, point.y)).collect();
                chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
                // Marks would hide a line of many points.
                let every = if points.len() > 60 { points.len() } else { 1 };
                // A shape of its own for each, for print without colour.
                let shape = move |(x, y)| Polygon::new(shape(number).map(|(dx, dy)| (x + dx, y + dy)).to_vec(), colour.filled());
                let marks = points.iter().step_by(every).map(|at| EmptyElement::at(*at) + shape((0, 0)));
                chart.draw_series(marks)?.label(&series.name).legend(move |at| EmptyElement::at(at) + shape((10, 0)));
            }
            Kind::Bars => {
                let width = BARS / count as f64;
                let left = |x: f64| x - BARS / 2.0 + width * number as f64;
                let bar = |point: &Point| {
                    Rectangle::new([(left(point.x) + 0.02 * width, 0.0), (left(point.x) + 0.98 * width, point.y)], colour.filled())
                };
                chart
                    .draw_series(series.points.iter().map(bar))?
                    .label(&series.name)
                    .legend(move |(x, y)| Rectangle::new([(x + 4, y - 5), (x + 16, y + 5)], colour.filled()));
            }
        }
        let middle = |x: f64| match plot.kind {
            Kind::Lines => x,
            Kind::Bars => x - BARS / 2.0 + BARS / count as f64 * (number as f64 + 0.5),
        };
        chart.draw_series(whiskers(series, middle))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font((FONT, 14))
        .draw()?;
    Ok(())
}

/// A line from the first quartile to the third.
fn whiskers<'a>(
    series: &'a Series,
    middle: impl Fn(f64) -> f64 + 'a,
) -> impl Iterator<Item = PathElement<(f64, f64)>> + 'a {
    series.points.iter().filter_map(move |point| {
        let (low, high) = point.spread?;
        Some(PathElement::new(vec![(middle(point.x), low), (middle(point.x), high)], BLACK.mix(0.7).stroke_width(2)))
    })
}

/// The corners of a mark: a square, a triangle, a diamond, or a bar.
fn shape(number: usize) -> [(i32, i32); 4] {
    match number % 4 {
        0 => [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        1 => [(0, -6), (6, 5), (-6, 5), (-6, 5)],
        2 => [(0, -6), (6, 0), (0, 6), (-6, 0)],
        _ => [(-6, -2), (6, -2), (6, 2), (-6, 2)],
    }
}

/// A number as short as it can be read.
fn number(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 1e6 => return format!("{} M", trimmed(format!("{:.2}", value / 1e6))),
        size if size >= 10_000.0 => return format!("{} k", trimmed(format!("{:.1}", value / 1e3))),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    trimmed(text)
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let mut plot = Plot::bars("p", "A title", "size [bytes]", "time [ns]", ["60", "1514"].map(String::from));
        plot.series("one", [Some(3.0), Some(5.0)]);
        plot.series("another", [None, Some(1.0)]);
        plot
    }

    /// Catches: a picture without what it means.
    #[test]
    fn a_plot_has_its_title_axes_labels_and_legend() {
        for kind in [Kind::Bars, Kind::Lines] {
            let svg = svg(&Plot { kind, ..plot() }).unwrap();
            for text in ["A title", "size [bytes]", "time [ns]", "1514", "one", "another"] {
                assert!(svg.contains(&format!("{text}\n</text>")), "{text} is not in {svg}");
            }
        }
    }

    #[test]
    fn a_plot_without_points_is_an_error() {
        assert!(svg(&Plot { series: Vec::new(), ..plot() }).is_err());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.25, 3.0, 12.5, 250.0, 1500.0, 20_000.0, 1.5e6].map(number), ["0", "0.25", "3", "12.5", "250", "1500", "20 k", "1.5 M"]);
    }
}
