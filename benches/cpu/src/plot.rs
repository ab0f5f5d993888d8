//! The results as a picture: time an element against the number of elements, a panel for each
//! workload, as SVG.

use bench_shared::plot::{MARGIN, Panel, Picture, Style};

use crate::report::{Role, Row};
use crate::workloads::{ALL, Workload};

const COLUMNS: usize = 3;

const PANEL: Panel = Panel { size: (360.0, 270.0), plot: (292.0, 190.0), corner: (48.0, 36.0) };

const HEAD: f64 = 96.0;

/// Far above the baseline nothing is told apart: rivals that need milliseconds to start leave the panel.
const TALLEST: f64 = 3.0;

/// Far below all lines there is nothing to see but the speed of a cache.
const LOWEST: f64 = 5.0;

/// A line of each panel: the fastest of some rows at each size.
struct Series {
    style: Style,
    of: fn(&Row) -> bool,
}

const fn series(name: &'static str, color: &'static str, width: f64, of: fn(&Row) -> bool) -> Series {
    Series { style: Style { name, color, width }, of }
}

const SERIES: [Series; 5] = [
    series("plain loop (logos for tokens)", "#444444", 1.6, |row| row.role == Role::Baseline),
    series("best rival, 1 thread", "#e69f00", 1.6, |row| row.role == Role::Rival && row.threads == 1),
    series("best rival, 2 threads", "#d55e00", 1.6, |row| row.role == Role::Rival && row.threads == 2),
    series("monoscan, 1 thread", "#56b4e9", 2.4, |row| is_ours(row, 1)),
    series("monoscan, 2 threads", "#0072b2", 2.4, |row| is_ours(row, 2)),
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
    let title = "Nanoseconds an element, by number of elements";
    let mut picture = Picture::new(title, HEAD, PANEL, (columns.max(2), lines));
    legend(&mut picture);
    for (place, (workload, rows)) in panels.iter().enumerate() {
        picture.panel((place % columns, place / columns), workload.title, |picture| panel(picture, place, rows));
    }
    picture.finish()
}

fn legend(picture: &mut Picture) {
    let place = |entry: usize| (MARGIN + (entry % 3) as f64 * 235.0, 54.0 + (entry / 3) as f64 * 20.0);
    for (entry, series) in SERIES.iter().enumerate() {
        picture.entry(place(entry), series.style);
    }
    picture.area_entry(place(SERIES.len()), "faster than copying memory", FLOOR);
}

fn panel(picture: &mut Picture, place: usize, rows: &[&Row]) {
    let floor = fastest(rows, |row| row.role == Role::Copy);
    let lines: Vec<Vec<Point>> = SERIES.iter().map(|series| fastest(rows, series.of)).collect();
    let axes = Axes::of(&lines, &floor);
    let ((left, top), (width, height)) = (PANEL.corner, PANEL.plot);
    picture.push(&format!(
        "<clipPath id=\"plot{place}\"><rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{height}\"/></clipPath>",
        left - 5.0,
        width + 10.0
    ));
    shade(picture, place, floor.iter().map(|&point| axes.place(point)).collect());
    for tick in axes.ticks() {
        picture.height_tick(axes.place((1.0, tick)).1, tick);
    }
    for &elements in &axes.sizes {
        picture.size_tick(axes.place((elements, 1.0)).0, elements.log2());
    }
    let bottom = picture.bottom();
    picture.push(&format!("<path d=\"M{left} {bottom}H{}\" stroke=\"#222222\"/>", left + width));
    picture.push(&format!("<g clip-path=\"url(#plot{place})\">"));
    for (series, points) in SERIES.iter().zip(&lines) {
        picture.line(series.style, points.iter().map(|&point| axes.place(point)));
    }
    picture.push("</g>");
}

/// Fills what is below these points, as far as it is within the plot.
fn shade(picture: &mut Picture, place: usize, points: Vec<(f64, f64)>) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let corners: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    // Below the plot's bottom everything is clipped.
    let below = PANEL.corner.1 + 2.0 * PANEL.plot.1;
    picture.push(&format!(
        "<path d=\"M{}L{:.1} {below}L{:.1} {below}Z\" fill=\"{FLOOR}\" clip-path=\"url(#plot{place})\"/>",
        corners.join("L"),
        last.0,
        first.0
    ));
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
        let Panel { plot, corner, .. } = PANEL;
        (corner.0 + plot.0 * along, corner.1 + plot.1 * (1.0 - up))
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
