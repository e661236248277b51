//! Charts as SVG: lines over linear or logarithmic axes, and bars. Several charts make a picture
//! of panels, one below the other. Colours and marks are chosen to be told apart without colour
//! vision.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::support::failure::Failure;

mod scale;

use scale::{Scale, fits, tick_text};

const WIDTH: u32 = 900;
const LINES_HEIGHT: u32 = 540;
const FONT: &str = "sans-serif";
const GRID: RGBColor = RGBColor(226, 226, 226);

/// Okabe and Ito's colours for all kinds of colour vision, without yellow on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// What an axis shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is shown, with its unit.
    pub label: String,
    /// True where equal steps are equal factors.
    pub log: bool,
}

impl Axis {
    /// An axis from about the smallest to about the largest value.
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.to_owned(), log: false }
    }

    /// A logarithmic axis; values that are not above zero are left out.
    pub fn log(label: &str) -> Axis {
        Axis { label: label.to_owned(), log: true }
    }
}

/// A line through points.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Drawn dashed, grey and without marks: a law, or the paper's figures, beside measurements.
    pub reference: bool,
}

impl Series {
    /// Measured points.
    pub fn new(label: &str, points: Vec<(f64, f64)>) -> Series {
        Series { label: label.to_owned(), points, reference: false }
    }

    /// A law, or the paper's figures.
    pub fn reference(label: &str, points: Vec<(f64, f64)>) -> Series {
        Series { reference: true, ..Series::new(label, points) }
    }
}

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Says what is shown.
    pub title: String,
    /// Says how to read it.
    pub note: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// A chart of horizontal bars, in the order given.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Says what is shown.
    pub title: String,
    /// Says how to read it.
    pub note: String,
    /// Along the bars.
    pub axis: Axis,
    /// Names and values.
    pub bars: Vec<(String, f64)>,
}

/// A panel of a picture.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Lines.
    Lines(Lines),
    /// Bars.
    Bars(Bars),
}

impl Chart {
    fn height(&self) -> u32 {
        match self {
            Chart::Lines(_) => LINES_HEIGHT,
            Chart::Bars(bars) => 150 + 34 * bars.bars.len() as u32,
        }
    }
}

/// The charts, one below the other.
pub fn svg(charts: &[Chart]) -> Result<String, Failure> {
    let mut text = String::new();
    let height = charts.iter().map(Chart::height).sum();
    {
        let backend = SVGBackend::with_string(&mut text, (WIDTH, height));
        let mut rest = backend.into_drawing_area();
        rest.fill(&WHITE).map_err(failed)?;
        for chart in charts {
            let (panel, below) = rest.split_vertically(chart.height());
            match chart {
                Chart::Lines(lines) => draw_lines(lines, &panel)?,
                Chart::Bars(bars) => draw_bars(bars, &panel)?,
            }
            rest = below;
        }
        rest.present().map_err(failed)?;
    }
    Ok(text)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("the chart cannot be drawn: {error}"))
}

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Title and note; what is left is for the chart.
fn headline<'a>(panel: &Panel<'a>, title: &str, note: &str) -> Result<Panel<'a>, Failure> {
    let (head, body) = panel.split_vertically(62);
    let title_style = (FONT, 22).into_font().style(FontStyle::Bold).color(&BLACK);
    head.draw_text(title, &title_style, (20, 14)).map_err(failed)?;
    let note_style = (FONT, 14).into_font().color(&RGBColor(90, 90, 90));
    head.draw_text(note, &note_style, (20, 42)).map_err(failed)?;
    Ok(body)
}

fn draw_lines(lines: &Lines, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &lines.title, &lines.note)?;
    let widest = lines.series.iter().map(|series| series.label.chars().count()).max();
    let legend_width = (60 + 8 * widest.unwrap_or(0) as u32).min(WIDTH / 3);
    let (left, right) = body.split_horizontally(WIDTH - legend_width);
    let points = || lines.series.iter().flat_map(|series| series.points.iter());
    let x = Scale::around(points().map(|point| point.0), lines.x.log);
    let y = Scale::around(points().map(|point| point.1), lines.y.log);
    let mut chart = ChartBuilder::on(&left)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc(&lines.x.label)
        .y_desc(&lines.y.label)
        .x_label_formatter(&|value| tick_text(*value))
        .y_label_formatter(&|value| tick_text(*value))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 13))
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .draw()
        .map_err(failed)?;
    // References last: a measured line that follows its law would hide it.
    let is_reference = |index: &usize| lines.series[*index].reference;
    let mut order: Vec<usize> = (0..lines.series.len()).collect();
    order.sort_by_key(is_reference);
    for index in order {
        draw_series(lines, index, &mut chart)?;
    }
    legend(lines, &right)
}

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

fn draw_series(lines: &Lines, index: usize, chart: &mut Plane<'_, '_>) -> Result<(), Failure> {
    let series = &lines.series[index];
    let shown = |point: &&(f64, f64)| fits(point.0, lines.x.log) && fits(point.1, lines.y.log);
    let points: Vec<(f64, f64)> = series.points.iter().filter(shown).copied().collect();
    let style = look(index, series.reference);
    if series.reference {
        let dashes = DashedLineSeries::new(points, 7, 5, style);
        return chart.draw_series(dashes).map(drop).map_err(failed);
    }
    chart.draw_series(LineSeries::new(points.iter().copied(), style)).map_err(failed)?;
    for point in points {
        let at = EmptyElement::at(point);
        chart.draw_series([at + mark(index, (0, 0), style.color)]).map_err(failed)?;
    }
    Ok(())
}

/// A mark of the series' own shape: round, square or pointed, by turns of the colours.
fn mark(index: usize, at: (i32, i32), colour: RGBAColor) -> Polygon<(i32, i32)> {
    let corners: &[(i32, i32)] = match index / COLOURS.len() {
        0 => &[(-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2), (-4, -2)],
        1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        _ => &[(0, -6), (6, 4), (-6, 4)],
    };
    let corners: Vec<(i32, i32)> = corners.iter().map(|c| (c.0 + at.0, c.1 + at.1)).collect();
    Polygon::new(corners, colour.filled())
}

/// Beside the chart, in the order in which the lines end, so that the eye finds them.
fn legend(lines: &Lines, area: &Panel<'_>) -> Result<(), Failure> {
    let mut order: Vec<usize> = (0..lines.series.len()).collect();
    let end = |index: &usize| lines.series[*index].points.last().map_or(f64::MIN, |point| point.1);
    order.sort_by(|one, other| end(other).total_cmp(&end(one)));
    for (row, index) in order.into_iter().enumerate() {
        let series = &lines.series[index];
        let (y, style) = (30 + 24 * row as i32, look(index, series.reference));
        let dashes: &[(i32, i32)] = if series.reference { &[(0, 9), (15, 24)] } else { &[(0, 24)] };
        for &(from, to) in dashes {
            let line = PathElement::new(vec![(4 + from, y), (4 + to, y)], style);
            area.draw(&line).map_err(failed)?;
        }
        if !series.reference {
            area.draw(&mark(index, (16, y), style.color)).map_err(failed)?;
        }
        let text = (FONT, 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw_text(&series.label, &text, (36, y)).map_err(failed)?;
    }
    Ok(())
}

fn look(index: usize, reference: bool) -> ShapeStyle {
    match reference {
        true => RGBColor(70, 70, 70).stroke_width(2),
        false => COLOURS[index % COLOURS.len()].stroke_width(2),
    }
}

fn draw_bars(bars: &Bars, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &bars.title, &bars.note)?;
    let mut x = Scale::around(bars.bars.iter().map(|bar| bar.1), bars.axis.log);
    // Room for the numbers at the ends.
    x.high += if x.log { x.high } else { (x.high - x.low) * 0.12 };
    let low = x.low;
    let widest = bars.bars.iter().map(|bar| bar.0.chars().count()).max().unwrap_or(0);
    let rows = bars.bars.len().max(1) as f64;
    let mut chart = ChartBuilder::on(&body)
        .margin(16)
        .margin_left(30 + 8 * widest as i32)
        .x_label_area_size(48)
        .build_cartesian_2d(x, rows..0.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc(&bars.axis.label)
        .x_label_formatter(&|value| tick_text(*value))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 13))
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .draw()
        .map_err(failed)?;
    for (row, bar) in bars.bars.iter().enumerate() {
        let value = if fits(bar.1, bars.axis.log) { bar.1.max(low) } else { low };
        draw_bar(&mut chart, row, (low, value), bars.axis.log)?;
        label_bar(&chart, &body, row, bar, (low, value))?;
    }
    Ok(())
}

type BarPlane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, RangedCoordf64>>;

/// A bar; on a logarithmic axis, where lengths mean nothing, a dot on a thin line.
fn draw_bar(
    chart: &mut BarPlane<'_, '_>,
    row: usize,
    (low, value): (f64, f64),
    log: bool,
) -> Result<(), Failure> {
    let middle = row as f64 + 0.5;
    if !log {
        let corners = [(low, middle - 0.33), (value, middle + 0.33)];
        let bar = Rectangle::new(corners, COLOURS[0].filled());
        return chart.draw_series([bar]).map(drop).map_err(failed);
    }
    let stem = PathElement::new(vec![(low, middle), (value, middle)], COLOURS[0].mix(0.35));
    chart.draw_series([stem]).map_err(failed)?;
    let dot = Circle::new((value, middle), 6, COLOURS[0].filled());
    chart.draw_series([dot]).map(drop).map_err(failed)
}

/// The name to the left, the number to the right.
fn label_bar(
    chart: &BarPlane<'_, '_>,
    body: &Panel<'_>,
    row: usize,
    (name, number): &(String, f64),
    (low, value): (f64, f64),
) -> Result<(), Failure> {
    let (start, y) = chart.backend_coord(&(low, row as f64 + 0.5));
    let (end, _) = chart.backend_coord(&(value, row as f64 + 0.5));
    let (left, top) = body.get_base_pixel();
    let font = (FONT, 14).into_font().color(&BLACK);
    let texts =
        [(name.clone(), HPos::Right, start - 8), (tick_text(*number), HPos::Left, end + 10)];
    for (text, side, x) in texts {
        let style = font.clone().pos(Pos::new(side, VPos::Center));
        body.draw_text(&text, &style, (x - left, y - top)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(points: Vec<(f64, f64)>, log: bool) -> Chart {
        Chart::Lines(Lines {
            title: "Title of it".into(),
            note: "how to read it".into(),
            x: Axis { label: "boxes".into(), log },
            y: Axis { label: "milliseconds".into(), log },
            series: vec![Series::new("one line", points)],
        })
    }

    #[test]
    fn a_chart_names_what_it_shows() {
        let text = svg(&[lines(vec![(10.0, 1.0), (1000.0, 100.0)], true)]).unwrap();
        for word in ["Title of it", "how to read it", "boxes", "milliseconds", "one line"] {
            assert!(text.contains(word), "{word} is missing");
        }
    }

    #[test]
    fn odd_values_do_not_break_a_chart() {
        for points in [
            vec![],
            vec![(5.0, 5.0)],
            vec![(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)],
            vec![(-3.0, -4.0), (-3.0, -4.0)],
        ] {
            for log in [false, true] {
                assert!(svg(&[lines(points.clone(), log)]).unwrap().contains("</svg>"));
            }
        }
        let bars = Bars {
            title: String::new(),
            note: String::new(),
            axis: Axis::log("ms"),
            bars: vec![("none".into(), 0.0), ("some".into(), 1.0)],
        };
        assert!(svg(&[Chart::Bars(bars)]).unwrap().contains("</svg>"));
    }
}
