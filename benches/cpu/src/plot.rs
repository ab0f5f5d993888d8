//! The results as a picture: time an element against the number of elements, a panel for each workload, as SVG.

use std::fmt::Write;

use crate::report::{Role, Row};
use crate::workloads::{ALL, Workload};

const COLUMNS: usize = 3;

/// A panel with its labels, and the place of the plot in it.
const PANEL: (f64, f64) = (360.0, 270.0);
const PLOT: (f64, f64) = (292.0, 190.0);
const CORNER: (f64, f64) = (48.0, 36.0);

const MARGIN: f64 = 20.0;
const HEAD: f64 = 96.0;

/// Far above the baseline nothing is told apart: rivals that need milliseconds to start leave the panel.
const TALLEST: f64 = 3.0;

/// Far below all lines there is nothing to see but the speed of a cache.
const LOWEST: f64 = 5.0;

/// A line of each panel: the fastest of some rows at each size.
struct Series {
    name: &'static str,
    color: &'static str,
    width: f64,
    of: fn(&Row) -> bool,
}

const SERIES: [Series; 5] = [
    Series {
        name: "plain loop (logos for tokens)",
        color: "#444444",
        width: 1.6,
        of: |row| row.role == Role::Baseline,
    },
    Series {
        name: "best rival, 1 thread",
        color: "#e69f00",
        width: 1.6,
        of: |row| row.role == Role::Rival && row.threads == 1,
    },
    Series {
        name: "best rival, 2 threads",
        color: "#d55e00",
        width: 1.6,
        of: |row| row.role == Role::Rival && row.threads == 2,
    },
    Series { name: "monoscan, 1 thread", color: "#56b4e9", width: 2.4, of: |row| is_ours(row, 1) },
    Series { name: "monoscan, 2 threads", color: "#0072b2", width: 2.4, of: |row| is_ours(row, 2) },
];

const FLOOR: &str = "#e4e4e4";

fn is_ours(row: &Row, threads: usize) -> bool {
    row.role == Role::Ours && row.name == "monoscan" && row.threads == threads
}

/// A number of elements, and nanoseconds an element.
type Point = (f64, f64);

/// The fastest of the rows at each size, in order of size.
fn fastest(rows: &[&Row], of: impl Fn(&Row) -> bool) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for row in rows.iter().filter(|row| of(row)) {
        let (elements, ns) = (row.elements as f64, row.ns.median);
        match points.iter_mut().find(|point| point.0 == elements) {
            Some(point) => point.1 = point.1.min(ns),
            None => points.push((elements, ns)),
        }
    }
    points.sort_by(|p, q| p.0.total_cmp(&q.0));
    points
}

/// The picture.
pub(crate) fn svg(rows: &[Row]) -> String {
    let panels: Vec<(&Workload, Vec<&Row>)> = ALL
        .iter()
        .map(|workload| (workload, rows.iter().filter(|row| row.workload == workload.name && row.timed()).collect()))
        .filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
        .collect();
    let columns = panels.len().clamp(1, COLUMNS);
    let lines = panels.len().div_ceil(columns);
    // The legend needs the width of two panels.
    let width = 2.0 * MARGIN + columns.max(2) as f64 * PANEL.0;
    let height = HEAD + lines as f64 * PANEL.1 + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"17\" font-weight=\"bold\">Nanoseconds an element, by number of \
         elements</text>\n"
    );
    legend(&mut out);
    for (place, (workload, rows)) in panels.iter().enumerate() {
        let (column, line) = (place % columns, place / columns);
        let (x, y) = (MARGIN + column as f64 * PANEL.0, HEAD + line as f64 * PANEL.1);
        let _ = writeln!(out, "<g transform=\"translate({x} {y})\">");
        panel(&mut out, place, workload, rows);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String) {
    let place = |entry: usize| (MARGIN + (entry % 3) as f64 * 235.0, 54.0 + (entry / 3) as f64 * 20.0);
    for (entry, Series { name, color, width, .. }) in SERIES.iter().enumerate() {
        let (x, y) = place(entry);
        let _ = writeln!(
            out,
            "<path d=\"M{x} {y}h26\" stroke=\"{color}\" stroke-width=\"{width}\"/><circle cx=\"{}\" cy=\"{y}\" r=\"3\" \
             fill=\"{color}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
            x + 13.0,
            x + 33.0,
            y + 4.0
        );
    }
    let (x, y) = place(SERIES.len());
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{}\" width=\"26\" height=\"12\" fill=\"{FLOOR}\"/><text x=\"{}\" y=\"{}\">faster than copying \
         memory</text>",
        y - 6.0,
        x + 33.0,
        y + 4.0
    );
}

fn panel(out: &mut String, place: usize, workload: &Workload, rows: &[&Row]) {
    let floor = fastest(rows, |row| row.role == Role::Copy);
    let lines: Vec<Vec<Point>> = SERIES.iter().map(|series| fastest(rows, series.of)).collect();
    let axes = Axes::of(&lines, &floor);
    let (left, top) = CORNER;
    let (right, bottom) = (left + PLOT.0, top + PLOT.1);

    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n<clipPath id=\"plot{place}\"><rect x=\"{}\" \
         y=\"{top}\" width=\"{}\" height=\"{}\"/></clipPath>",
        top - 12.0,
        workload.title,
        left - 5.0,
        PLOT.0 + 10.0,
        PLOT.1
    );
    shade(out, place, floor.iter().map(|&point| axes.place(point)).collect());
    for tick in axes.ticks() {
        let y = axes.place((1.0, tick)).1;
        let _ = writeln!(
            out,
            "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#cccccc\" stroke-width=\"0.6\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\" font-size=\"11\">{tick}</text>",
            left - 8.0,
            y + 4.0
        );
    }
    for &elements in &axes.sizes {
        let x = axes.place((elements, 1.0)).0;
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {bottom}v4\" stroke=\"#222222\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" \
             font-size=\"11\">2<tspan dy=\"-5\" font-size=\"8\">{}</tspan></text>",
            bottom + 18.0,
            elements.log2()
        );
    }
    let _ = writeln!(out, "<path d=\"M{left} {bottom}H{right}\" stroke=\"#222222\"/>");
    let _ = writeln!(out, "<g clip-path=\"url(#plot{place})\">");
    for (series, points) in SERIES.iter().zip(&lines) {
        line(out, series, points.iter().map(|&point| axes.place(point)));
    }
    out.push_str("</g>\n");
}

/// Fills what is below these points, as far as it is within the plot.
fn shade(out: &mut String, place: usize, points: Vec<(f64, f64)>) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let corners: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    // Below the plot's bottom everything is clipped.
    let below = CORNER.1 + 2.0 * PLOT.1;
    let _ = writeln!(
        out,
        "<path d=\"M{}L{:.1} {below}L{:.1} {below}Z\" fill=\"{FLOOR}\" clip-path=\"url(#plot{place})\"/>",
        corners.join("L"),
        last.0,
        first.0
    );
}

fn line(out: &mut String, Series { name, color, width, .. }: &Series, points: impl Iterator<Item = (f64, f64)>) {
    let (mut path, mut dots) = (String::new(), String::new());
    for (x, y) in points {
        let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        let _ = write!(dots, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>", width + 0.6);
    }
    if !path.is_empty() {
        let _ = writeln!(
            out,
            "<g><title>{name}</title><path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/><g \
             fill=\"{color}\">{dots}</g></g>"
        );
    }
}

/// Logarithmic axes.
struct Axes {
    /// The sizes that were measured, in order.
    sizes: Vec<f64>,
    lowest: f64,
    highest: f64,
}

impl Axes {
    fn of(lines: &[Vec<Point>], floor: &[Point]) -> Axes {
        let mut sizes: Vec<f64> = lines.iter().flatten().map(|point| point.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let times = |points: &[Point]| points.iter().map(|point| point.1).collect::<Vec<_>>();
        let all: Vec<f64> = lines.iter().flat_map(|points| times(points)).chain(times(floor)).collect();
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let scans: Vec<f64> = lines.iter().flat_map(|points| times(points)).collect();
        let lowest = least(&all).max(least(&scans) / LOWEST);
        let highest = all.iter().copied().fold(0.0, f64::max);
        let tallest = times(&lines[0]).into_iter().fold(0.0, f64::max) * TALLEST;
        Axes { sizes, lowest: lowest / 1.25, highest: highest.min(tallest).max(2.0 * lowest) * 1.15 }
    }

    fn place(&self, (elements, ns): Point) -> (f64, f64) {
        let (first, last) = (self.sizes.first().copied().unwrap_or(1.0), self.sizes.last().copied().unwrap_or(2.0));
        let along = (elements / first).log2() / (last / first).log2().max(1.0);
        let up = (ns / self.lowest).ln() / (self.highest / self.lowest).ln();
        (CORNER.0 + PLOT.0 * along, CORNER.1 + PLOT.1 * (1.0 - up))
    }

    /// 1, 2 and 5 times the powers of ten, as far as they are within the axis.
    fn ticks(&self) -> Vec<f64> {
        let decades = (-4..6).map(|exponent| 10f64.powi(exponent));
        let ticks = decades.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
        // Powers of ten are not exact below one.
        let rounded = ticks.map(|tick| format!("{tick:.5}").parse().unwrap_or(tick));
        rounded.filter(|tick| (self.lowest..=self.highest).contains(tick)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Quartiles;

    #[test]
    fn every_workload_with_results_has_a_panel_and_every_series_its_points() {
        let row = |workload: &str, role, threads, elements, ns| Row {
            rounds: 1,
            ns: Quartiles::of(vec![ns]),
            ..Row::new(workload, elements, role, "monoscan", threads)
        };
        let mut rows = Vec::new();
        for workload in ["sum-i32", "json"] {
            for elements in [1 << 10, 1 << 20] {
                rows.push(row(workload, Role::Baseline, 1, elements, 1.0));
                rows.push(row(workload, Role::Ours, 1, elements, 0.5));
                rows.push(row(workload, Role::Ours, 2, elements, 0.25));
                rows.push(row(workload, Role::Copy, 1, elements, 0.1));
            }
        }
        let picture = svg(&rows);
        assert_eq!(picture.matches("<clipPath").count(), 2);
        for name in ["plain loop", "monoscan, 1 thread", "monoscan, 2 threads"] {
            assert_eq!(picture.matches(&format!("<title>{name}")).count(), 2, "{name}");
        }
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        assert_eq!(Axes { sizes: vec![1.0], lowest: 0.04, highest: 1.5 }.ticks(), [0.05, 0.1, 0.2, 0.5, 1.0]);
    }
}
