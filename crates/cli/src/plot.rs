//! Charts as SVG: lines over linear or logarithmic axes, and bars. Several charts make a picture
//! of panels, one below the other. Colours and marks are chosen to be told apart without colour
//! vision.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::{Shift, ranged1d::Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::failure::Failure;
use crate::text::brief;

const WIDTH: u32 = 900;
const LINES_HEIGHT: u32 = 540;
const FONT: &str = "sans-serif";

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
    /// Drawn thin, grey and without marks: a law, or the paper's figures, beside measurements.
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

/// A range that holds all values with some air; logarithmic ones stay above zero.
fn range(values: impl Iterator<Item = f64>, log: bool) -> (f64, f64) {
    let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
    let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match (low.is_finite(), log) {
        (false, true) => (0.1, 10.0),
        (false, false) => (0.0, 1.0),
        (true, true) => (low / 1.3, high * 1.3),
        (true, false) if low >= 0.0 => (0.0, if high > 0.0 { high * 1.06 } else { 1.0 }),
        (true, false) => (low - (high - low).max(1e-9) * 0.06, high + (high - low) * 0.06),
    }
}

fn draw_lines(lines: &Lines, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &lines.title, &lines.note)?;
    let points = || lines.series.iter().flat_map(|series| series.points.iter());
    let x = range(points().map(|point| point.0), lines.x.log);
    let y = range(points().map(|point| point.1), lines.y.log);
    match (lines.x.log, lines.y.log) {
        (true, true) => draw_on(lines, &body, (x.0..x.1).log_scale(), (y.0..y.1).log_scale()),
        (true, false) => draw_on(lines, &body, (x.0..x.1).log_scale(), y.0..y.1),
        (false, true) => draw_on(lines, &body, x.0..x.1, (y.0..y.1).log_scale()),
        (false, false) => draw_on(lines, &body, x.0..x.1, y.0..y.1),
    }
}

fn draw_on<X, Y>(lines: &Lines, body: &Panel<'_>, x: X, y: Y) -> Result<(), Failure>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let mut chart = ChartBuilder::on(body)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc(&lines.x.label)
        .y_desc(&lines.y.label)
        .x_label_formatter(&|value| tick(*value))
        .y_label_formatter(&|value| tick(*value))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 13))
        .light_line_style(RGBColor(244, 244, 244))
        .bold_line_style(RGBColor(222, 222, 222))
        .draw()
        .map_err(failed)?;
    for (index, series) in lines.series.iter().enumerate() {
        let shown = |point: &(f64, f64)| {
            let fits = |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
            fits(point.0, lines.x.log) && fits(point.1, lines.y.log)
        };
        let points: Vec<(f64, f64)> = series.points.iter().filter(|p| shown(p)).copied().collect();
        let (colour, style) = look(index, series.reference);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))
            .map_err(failed)?
            .label(&series.label)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 22, y)], style));
        if !series.reference {
            let marks = points
                .iter()
                .map(|&point| Circle::new(point, 3 + (index as i32 / 7), colour.filled()));
            chart.draw_series(marks).map_err(failed)?;
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font((FONT, 14))
        .draw()
        .map_err(failed)
}

fn look(index: usize, reference: bool) -> (RGBColor, ShapeStyle) {
    if reference {
        let grey = RGBColor(130, 130, 130);
        return (grey, grey.stroke_width(1));
    }
    let colour = COLOURS[index % COLOURS.len()];
    // From the eighth line on colours come again, thinner.
    (colour, colour.stroke_width(if index < COLOURS.len() { 3 } else { 1 }))
}

/// A number at an axis: whole thousands are grouped, the rest is brief.
fn tick(value: f64) -> String {
    if value >= 1000.0 && value < 1e15 && value.fract() == 0.0 {
        return crate::text::grouped(value as u64);
    }
    let text = brief(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn draw_bars(bars: &Bars, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &bars.title, &bars.note)?;
    let (low, high) = range(bars.bars.iter().map(|bar| bar.1), bars.axis.log);
    let rows = 0.0..bars.bars.len().max(1) as f64;
    let widest = bars.bars.iter().map(|bar| bar.0.chars().count()).max().unwrap_or(0) as u32;
    let left = 30 + 8 * widest;
    if bars.axis.log {
        let low = low * 1.3 / 4.0;
        return bars_on(bars, &body, left, low, (low..high * 2.0).log_scale(), rows);
    }
    bars_on(bars, &body, left, low, low..high * 1.15, rows)
}

fn bars_on<X>(
    bars: &Bars,
    body: &Panel<'_>,
    left: u32,
    low: f64,
    x: X,
    rows: std::ops::Range<f64>,
) -> Result<(), Failure>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let mut builder = ChartBuilder::on(body);
    builder.margin(16).margin_left(left as i32).x_label_area_size(48);
    let mut chart = builder.build_cartesian_2d(x, rows.end..rows.start).map_err(failed)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc(&bars.axis.label)
        .x_label_formatter(&|value| tick(*value))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 13))
        .light_line_style(RGBColor(244, 244, 244))
        .bold_line_style(RGBColor(222, 222, 222))
        .draw()
        .map_err(failed)?;
    let shapes = bars.bars.iter().enumerate().map(|(row, bar)| {
        let (top, bottom) = (row as f64 + 0.15, row as f64 + 0.85);
        Rectangle::new([(low, top), (bar.1.max(low), bottom)], COLOURS[0].filled())
    });
    chart.draw_series(shapes).map_err(failed)?;
    for (row, (name, value)) in bars.bars.iter().enumerate() {
        let middle = row as f64 + 0.5;
        let (x, y) = chart.backend_coord(&(low, middle));
        let (end, _) = chart.backend_coord(&(value.max(low), middle));
        let (corner, _) = body.get_base_pixel();
        let top = body.get_base_pixel().1;
        let font = (FONT, 14).into_font().color(&BLACK);
        let name_style = font.pos(Pos::new(HPos::Right, VPos::Center));
        body.draw_text(name, &name_style, (x - corner - 8, y - top)).map_err(failed)?;
        let value_style = font.pos(Pos::new(HPos::Left, VPos::Center));
        body.draw_text(&tick(*value), &value_style, (end - corner + 6, y - top)).map_err(failed)?;
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
