//! The results as a picture: throughput against the number of elements, a panel for some rows, as
//! SVG.

use bench_shared::plot::{MARGIN, Panel, Picture, Style};

use crate::report::Figures;
use crate::rows::ALL;

/// The rows that have panels.
const PANELS: [&str; 3] = ["sum-i32", "affine-f64", "sum-u8"];

const PANEL: Panel = Panel { size: (330.0, 270.0), plot: (258.0, 190.0), corner: (54.0, 36.0) };

const HEAD: f64 = 76.0;

/// A line of each panel.
struct Series {
    style: Style,
    /// Milliseconds.
    of: fn(&Figures) -> Option<f64>,
}

const fn series(name: &'static str, color: &'static str, width: f64, of: fn(&Figures) -> Option<f64>) -> Series {
    Series { style: Style { name, color, width }, of }
}

const SERIES: [Series; 3] = [
    series("copy", "#777777", 1.6, |figures| Some(figures.copy)),
    series("CUB", "#d55e00", 1.6, |figures| figures.cub.map(|cub| cub.milliseconds)),
    series("monoscan", "#0072b2", 2.4, |figures| Some(figures.call)),
];

/// The logarithm of a number of elements, and terabytes a second.
type Point = (f64, f64);

fn points(series: &Series, figures: &[&Figures]) -> Vec<Point> {
    let timed = figures.iter().filter_map(|figures| {
        let time = (series.of)(figures).filter(|time| time.is_finite())?;
        Some(((figures.elements as f64).log2(), figures.throughput(time) / 1e3))
    });
    timed.collect()
}

/// The picture.
pub(crate) fn svg(all: &[Figures]) -> String {
    let title = "Terabytes a second, read and written, by number of elements";
    let mut picture = Picture::new(title, HEAD, PANEL, (PANELS.len(), 1));
    for (entry, series) in SERIES.iter().enumerate() {
        picture.entry((MARGIN + 120.0 * entry as f64, 54.0), series.style);
    }
    for (column, name) in PANELS.into_iter().enumerate() {
        let figures: Vec<&Figures> =
            all.iter().filter(|figures| figures.row == name && figures.wrong.is_none()).collect();
        let title = ALL.iter().find(|row| row.name == name).map_or(name, |row| row.title);
        picture.panel((column, 0), title, |picture| panel(picture, &figures));
    }
    picture.finish()
}

fn panel(picture: &mut Picture, figures: &[&Figures]) {
    let lines: Vec<Vec<Point>> = SERIES.iter().map(|series| points(series, figures)).collect();
    let all = || lines.iter().flatten();
    let first = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let last = all().map(|point| point.0).fold(first + 1.0, f64::max);
    let highest = all().map(|point| point.1).fold(1.0, f64::max) * 1.05;
    if !first.is_finite() {
        return;
    }
    let ((left, _), (width, height), bottom) = (PANEL.corner, PANEL.plot, picture.bottom());
    let place = |(along, up): Point| (left + width * (along - first) / (last - first), bottom - height * up / highest);
    for tick in 0..=highest as u32 {
        picture.height_tick(place((first, tick.into())).1, tick);
    }
    let mut sizes: Vec<f64> = all().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        picture.size_tick(place((size, 0.0)).0, size);
    }
    for (series, points) in SERIES.iter().zip(&lines) {
        picture.line(series.style, points.iter().map(|&point| place(point)));
    }
}
