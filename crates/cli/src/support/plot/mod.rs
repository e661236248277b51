//! Charts as SVG: lines over linear or logarithmic axes, and bars. Several charts make a picture
//! of panels, one below the other. Every line is labelled at its end, so a panel is as high as its
//! labels need. Colours, marks and dashes are chosen to be told apart without colour vision.

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::support::failure::Failure;

mod scale;

use scale::{Scale, fits, tick_text};

const WIDTH: u32 = 900;
/// Least height of a panel of lines; more labels than fit make it higher.
const LINES_HEIGHT: u32 = 540;
/// Height of a label at the end of a line.
const LABEL_HEIGHT: i32 = 18;
/// Above the chart of a panel: title and note.
const HEAD_HEIGHT: u32 = 62;
/// Below the chart of a panel: ticks and the name of the axis.
const FOOT_HEIGHT: u32 = 48;
const MARGIN: u32 = 16;
/// Half the width of a mark.
const MARK: i32 = 4;
/// The marks of a line with more points than this are smaller, so that the line is seen.
const CROWDED: usize = 40;
/// A line has no more marks than this.
const THIN: usize = 60;
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
    /// True if equal steps are equal factors.
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
    /// Its name at its end.
    pub label: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Lines of one group have one colour.
    pub group: String,
    /// Which pattern of dashes tells it from others of its group; 0 is a solid line.
    pub dash: usize,
    /// Drawn dashed, grey and without marks: a law, or the paper's figures, next to measurements.
    pub reference: bool,
}

impl Series {
    /// Measured points.
    pub fn new(label: &str, points: Vec<(f64, f64)>) -> Series {
        let label = label.to_owned();
        Series { group: label.clone(), label, points, dash: 0, reference: false }
    }

    /// The same, in the colour of a group and with a pattern of dashes.
    pub fn in_group(self, group: &str, dash: usize) -> Series {
        Series { group: group.to_owned(), dash, ..self }
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
            Chart::Lines(lines) => {
                let labels = LABEL_HEIGHT as u32 * lines.series.len() as u32;
                LINES_HEIGHT.max(HEAD_HEIGHT + 2 * MARGIN + labels + FOOT_HEIGHT)
            }
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
    let (head, body) = panel.split_vertically(HEAD_HEIGHT);
    let title_style = (FONT, 22).into_font().style(FontStyle::Bold).color(&BLACK);
    head.draw_text(title, &title_style, (20, 14)).map_err(failed)?;
    let note_style = (FONT, 14).into_font().color(&RGBColor(90, 90, 90));
    head.draw_text(note, &note_style, (20, 42)).map_err(failed)?;
    Ok(body)
}

fn draw_lines(lines: &Lines, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &lines.title, &lines.note)?;
    let widest = (0..lines.series.len()).map(|index| lines.label(index).chars().count()).max();
    let label_width = (80 + 8 * widest.unwrap_or(0) as u32).min(WIDTH * 2 / 5);
    let (left, _) = body.split_horizontally(WIDTH - label_width);
    let points = || lines.series.iter().flat_map(|series| series.points.iter());
    let x = Scale::around(points().map(|point| point.0), lines.x.log);
    let y = Scale::around(points().map(|point| point.1), lines.y.log);
    // Room for the longest tick, and the axis's title beside it.
    let y_width = (36 + 8 * y.widest_tick() as u32).max(76);
    let mut chart = ChartBuilder::on(&left)
        .margin(MARGIN)
        .x_label_area_size(FOOT_HEIGHT)
        .y_label_area_size(y_width)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&lines.x.label).y_desc(&lines.y.label);
    mesh.y_label_formatter(&|value| tick_text(*value));
    draw_mesh(&mut mesh)?;
    // References last: a measured line that follows its law would hide it.
    let is_reference = |index: &usize| lines.series[*index].reference;
    let mut order: Vec<usize> = (0..lines.series.len()).collect();
    order.sort_by_key(is_reference);
    for index in order {
        draw_series(lines, index, &mut chart)?;
    }
    label_lines(lines, &chart, &body, (WIDTH - label_width) as i32)
}

/// What the meshes of all charts have in common.
fn draw_mesh<'b, X, Y>(mesh: &mut MeshStyle<'_, 'b, X, Y, SVGBackend<'_>>) -> Result<(), Failure>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    mesh.x_label_formatter(&|value| tick_text(*value))
        .axis_desc_style((FONT, 16))
        .label_style((FONT, 13))
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .draw()
        .map_err(failed)
}

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

impl Lines {
    /// The points of a line that can be shown.
    fn shown(&self, index: usize) -> Vec<(f64, f64)> {
        let fits = |point: &&(f64, f64)| fits(point.0, self.x.log) && fits(point.1, self.y.log);
        self.series[index].points.iter().filter(fits).copied().collect()
    }

    /// The name at the end of a line. A logarithmic axis cannot show zeros: the name tells of them,
    /// because a line that is missing or has gaps would mislead.
    fn label(&self, index: usize) -> String {
        let series = &self.series[index];
        let (shown, all) = (self.shown(index).len(), series.points.len());
        match all - shown {
            0 if all > 0 => series.label.clone(),
            hidden if hidden == all => format!("{} (never above 0)", series.label),
            hidden => format!("{} (0 at {hidden} of {all})", series.label),
        }
    }

    /// The number of a line's group, in the order of their first lines.
    fn group(&self, index: usize) -> usize {
        let mut groups: Vec<&str> = Vec::new();
        for series in self.series.iter().filter(|series| !series.reference) {
            if !groups.contains(&series.group.as_str()) {
                groups.push(&series.group);
            }
        }
        groups.iter().position(|group| *group == self.series[index].group).unwrap_or(0)
    }
}

fn draw_series(lines: &Lines, index: usize, chart: &mut Plane<'_, '_>) -> Result<(), Failure> {
    let points = lines.shown(index);
    let style = look(lines, index);
    match dashes(&lines.series[index]) {
        Some((line, gap)) => {
            let dashed = DashedLineSeries::new(points.clone(), line, gap, style);
            chart.draw_series(dashed).map(drop).map_err(failed)?;
        }
        None => {
            let solid = LineSeries::new(points.iter().copied(), style);
            chart.draw_series(solid).map(drop).map_err(failed)?;
        }
    }
    if lines.series[index].reference {
        return Ok(());
    }
    let size = if lines.series[index].points.len() > CROWDED { 2 } else { MARK };
    // Of hundreds of marks every tenth or so is enough to tell lines apart.
    let every = points.len().div_ceil(THIN).max(1);
    for point in points.into_iter().step_by(every) {
        let at = EmptyElement::at(point);
        let mark = mark(lines.group(index), (0, 0), size, style.color);
        chart.draw_series([at + mark]).map_err(failed)?;
    }
    Ok(())
}

/// Lengths of a dash and of the gap after it; none for a solid line.
fn dashes(series: &Series) -> Option<(u32, u32)> {
    let patterns = [(9, 5), (3, 4), (14, 4)];
    match (series.reference, series.dash) {
        (true, _) => Some((7, 5)),
        (false, 0) => None,
        (false, dash) => Some(patterns[(dash - 1) % patterns.len()]),
    }
}

/// A mark of the group's own shape: round, square or pointed, by turns of the colours.
fn mark(group: usize, at: (i32, i32), size: i32, colour: RGBAColor) -> Polygon<(i32, i32)> {
    let corners: &[(i32, i32)] = match group / COLOURS.len() {
        0 => &[(-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2), (-4, -2)],
        1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        _ => &[(0, -6), (6, 4), (-6, 4)],
    };
    let placed = |c: &(i32, i32)| (c.0 * size / MARK + at.0, c.1 * size / MARK + at.1);
    Polygon::new(corners.iter().map(placed).collect::<Vec<_>>(), colour.filled())
}

/// Names each line to the right of the chart, as near to its end as the others allow. A thin line
/// leads there from lines that reach the right edge.
fn label_lines(
    lines: &Lines,
    chart: &Plane<'_, '_>,
    body: &Panel<'_>,
    left: i32,
) -> Result<(), Failure> {
    let (base_x, base_y) = body.get_base_pixel();
    let rightmost = lines.series.iter().flat_map(|series| &series.points);
    let rightmost = rightmost.map(|point| point.0).fold(f64::MIN, f64::max);
    let (_, height) = body.dim_in_pixel();
    let bottom = height as i32 - (MARGIN + FOOT_HEIGHT) as i32;
    let mut ends: Vec<(usize, i32, Option<i32>)> = (0..lines.series.len())
        .map(|index| match lines.shown(index).last() {
            Some(point) => {
                let (x, y) = chart.backend_coord(point);
                let reaches = point.0 == rightmost;
                (index, y - base_y, reaches.then_some(x - base_x))
            }
            None => (index, bottom, None),
        })
        .collect();
    ends.sort_by_key(|&(index, y, _)| (y, index));
    let wanted: Vec<i32> = ends.iter().map(|end| end.1).collect();
    let places = spread(&wanted, LABEL_HEIGHT, MARGIN as i32, bottom);
    for ((index, y, from), place) in ends.into_iter().zip(places) {
        let style = look(lines, index);
        if let Some(x) = from {
            let faint = style.color.mix(0.4).stroke_width(1);
            let leader = PathElement::new(vec![(x + 7, y), (left + 2, place)], faint);
            body.draw(&leader).map_err(failed)?;
        }
        draw_sample(lines, index, body, (left + 6, place))?;
        let text = (FONT, 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        body.draw_text(&lines.label(index), &text, (left + 42, place)).map_err(failed)?;
    }
    Ok(())
}

/// A short piece of a line, with its dashes and its mark.
fn draw_sample(
    lines: &Lines,
    index: usize,
    body: &Panel<'_>,
    (x, y): (i32, i32),
) -> Result<(), Failure> {
    const LENGTH: i32 = 28;
    let style = look(lines, index);
    let (dash, gap) = dashes(&lines.series[index]).unwrap_or((LENGTH as u32, 1));
    for from in (0..LENGTH).step_by((dash + gap) as usize) {
        let to = (from + dash as i32).min(LENGTH);
        let piece = PathElement::new(vec![(x + from, y), (x + to, y)], style);
        body.draw(&piece).map_err(failed)?;
    }
    if !lines.series[index].reference {
        let mark = mark(lines.group(index), (x + LENGTH / 2, y), MARK, style.color);
        body.draw(&mark).map_err(failed)?;
    }
    Ok(())
}

/// Places for labels that want to be at `wanted`, which is ascending: at least `gap` apart, within
/// the range if they fit it, and near what they want.
fn spread(wanted: &[i32], gap: i32, low: i32, high: i32) -> Vec<i32> {
    let mut places = wanted.to_vec();
    let mut least = low;
    for place in &mut places {
        *place = (*place).max(least);
        least = *place + gap;
    }
    let mut most = high;
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - gap;
    }
    // More than fit: from the top, all visible.
    if places.first().is_some_and(|&first| first < low) {
        places = (0..wanted.len() as i32).map(|k| low + gap * k).collect();
    }
    places
}

fn look(lines: &Lines, index: usize) -> ShapeStyle {
    match lines.series[index].reference {
        true => RGBColor(70, 70, 70).stroke_width(2),
        false => COLOURS[lines.group(index) % COLOURS.len()].stroke_width(2),
    }
}

fn draw_bars(bars: &Bars, panel: &Panel<'_>) -> Result<(), Failure> {
    let body = headline(panel, &bars.title, &bars.note)?;
    let mut x = Scale::around(bars.bars.iter().map(|bar| bar.1), bars.axis.log);
    // Room for the numbers to the right.
    x.high = match x.log {
        true => x.high * (x.high / x.low).powf(0.12).max(2.0),
        false => x.high + (x.high - x.low) * 0.12,
    };
    let low = x.low;
    let widest = bars.bars.iter().map(|bar| bar.0.chars().count()).max().unwrap_or(0);
    let rows = bars.bars.len().max(1) as f64;
    let mut chart = ChartBuilder::on(&body)
        .margin(MARGIN)
        .margin_left(30 + 8 * widest as i32)
        .x_label_area_size(FOOT_HEIGHT)
        .build_cartesian_2d(x, rows..0.0)
        .map_err(failed)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_y_mesh().x_desc(&bars.axis.label);
    draw_mesh(&mut mesh)?;
    for (row, bar) in bars.bars.iter().enumerate() {
        let value = if fits(bar.1, bars.axis.log) { bar.1.max(low) } else { low };
        draw_bar(&mut chart, row, (low, value), bars.axis.log)?;
        label_bar(&chart, &body, row, bar, (low, value))?;
    }
    Ok(())
}

type BarPlane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, RangedCoordf64>>;

/// A bar; on a logarithmic axis, whose lengths mean nothing, a dot on a thin line.
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

    /// Where texts stand in a picture: their y, and the text.
    fn texts(svg: &str) -> Vec<(f64, String)> {
        let mut list = Vec::new();
        for element in svg.split("<text ").skip(1) {
            let y = element.split("y=\"").nth(1).and_then(|rest| rest.split('"').next());
            let text = element.split('>').nth(1).and_then(|rest| rest.split('<').next());
            let (Some(y), Some(text)) = (y, text) else { continue };
            list.push((y.parse().unwrap(), text.trim().to_owned()));
        }
        list
    }

    #[test]
    fn every_label_of_many_lines_is_inside_and_apart() {
        let series = (0..26).map(|k| {
            let (group, threads) = (k / 2, 1 + k % 2);
            let label = format!("algorithm-{group}, {threads} threads");
            let height = 1.0 + 0.001 * f64::from(k);
            let points = vec![(10.0, height), (1000.0, 10.0 * height)];
            Series::new(&label, points).in_group(&format!("algorithm-{group}"), k as usize % 2)
        });
        let Chart::Lines(empty) = lines(Vec::new(), true) else { unreachable!() };
        let chart = Lines { series: series.collect(), ..empty };
        let colour = |index| look(&chart, index).color;
        assert_eq!(colour(0), colour(1), "one colour for one algorithm");
        assert_ne!(colour(0), colour(2));
        let height = f64::from(Chart::Lines(chart.clone()).height());
        let svg = svg(&[Chart::Lines(chart)]).unwrap();
        let labels = texts(&svg).into_iter().filter(|(_, text)| text.starts_with("algorithm-"));
        let mut places: Vec<f64> = labels.map(|(y, _)| y).collect();
        assert_eq!(places.len(), 26);
        places.sort_by(f64::total_cmp);
        assert!(places[0] > 0.0 && places[25] < height);
        assert!(places.windows(2).all(|two| two[1] - two[0] >= f64::from(LABEL_HEIGHT)));
    }

    #[test]
    fn a_label_tells_what_its_line_cannot_show() {
        let label = |points: &[(f64, f64)], log| match lines(points.to_vec(), log) {
            Chart::Lines(lines) => lines.label(0),
            Chart::Bars(_) => unreachable!(),
        };
        let points = [(1.0, 0.0), (2.0, 5.0), (3.0, 0.0)];
        assert_eq!(label(&points, true), "one line (0 at 2 of 3)");
        assert_eq!(label(&points[..1], true), "one line (never above 0)");
        assert_eq!(label(&points, false), "one line");
    }

    #[test]
    fn labels_stay_near_their_lines_and_apart() {
        assert_eq!(spread(&[10, 11, 50], 5, 0, 100), [10, 15, 50]);
        assert_eq!(spread(&[98, 99, 100], 5, 0, 100), [90, 95, 100]);
        assert_eq!(spread(&[1, 1, 1], 5, 0, 7), [0, 5, 10]);
        assert!(spread(&[], 5, 0, 7).is_empty());
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
