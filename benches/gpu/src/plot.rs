//! The results as a picture: throughput against the number of elements, a panel for some rows, as SVG.

use std::fmt::Write;

use crate::report::Figures;
use crate::rows::ALL;

/// The rows that have panels.
const PANELS: [&str; 3] = ["sum-i32", "affine-f64", "sum-u8"];

/// A panel with its labels, and the place of the plot in it.
const PANEL: (f64, f64) = (330.0, 270.0);
const PLOT: (f64, f64) = (258.0, 190.0);
const CORNER: (f64, f64) = (54.0, 36.0);

const MARGIN: f64 = 20.0;
const HEAD: f64 = 76.0;

/// A line of each panel.
struct Series {
    name: &'static str,
    color: &'static str,
    width: f64,
    /// Milliseconds.
    of: fn(&Figures) -> Option<f64>,
}

const SERIES: [Series; 3] = [
    Series { name: "copy", color: "#777777", width: 1.6, of: |figures| Some(figures.copy) },
    Series { name: "CUB", color: "#d55e00", width: 1.6, of: |figures| figures.cub.map(|cub| cub.milliseconds) },
    Series { name: "monoscan", color: "#0072b2", width: 2.4, of: |figures| Some(figures.call) },
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
    let (width, height) = (2.0 * MARGIN + PANELS.len() as f64 * PANEL.0, HEAD + PANEL.1 + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"17\" font-weight=\"bold\">Terabytes a second, read and written, by \
         number of elements</text>\n"
    );
    for (Series { name, color, width, .. }, entry) in SERIES.iter().zip(0..) {
        let x = MARGIN + 120.0 * f64::from(entry);
        let _ = writeln!(
            out,
            "<path d=\"M{x} 54h26\" stroke=\"{color}\" stroke-width=\"{width}\"/><text x=\"{}\" y=\"58\">{name}</text>",
            x + 33.0
        );
    }
    for (name, place) in PANELS.iter().zip(0..) {
        let x = MARGIN + f64::from(place) * PANEL.0;
        let figures: Vec<&Figures> =
            all.iter().filter(|figures| figures.row == *name && figures.wrong.is_none()).collect();
        let title = ALL.iter().find(|row| row.name == *name).map_or(*name, |row| row.title);
        let _ = writeln!(out, "<g transform=\"translate({x} {HEAD})\">");
        panel(&mut out, title, &figures);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, title: &str, figures: &[&Figures]) {
    let lines: Vec<Vec<Point>> = SERIES.iter().map(|series| points(series, figures)).collect();
    let all = || lines.iter().flatten();
    let (left, top) = CORNER;
    let bottom = top + PLOT.1;
    let _ =
        writeln!(out, "<text x=\"{left}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{title}</text>", top - 12.0);
    let first = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let last = all().map(|point| point.0).fold(first + 1.0, f64::max);
    let highest = all().map(|point| point.1).fold(1.0, f64::max) * 1.05;
    if !first.is_finite() {
        return;
    }
    let place = |(along, up): Point| (left + PLOT.0 * (along - first) / (last - first), bottom - PLOT.1 * up / highest);
    for tick in 0..=highest as u32 {
        let y = place((first, tick.into())).1;
        let _ = writeln!(
            out,
            "<path d=\"M{left} {y:.1}h{}\" stroke=\"#cccccc\" stroke-width=\"0.6\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\" font-size=\"11\">{tick}</text>",
            PLOT.0,
            left - 8.0,
            y + 4.0
        );
    }
    let mut sizes: Vec<f64> = all().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let x = place((size, 0.0)).0;
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {bottom}v4\" stroke=\"#222222\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" \
             font-size=\"11\">2<tspan dy=\"-5\" font-size=\"8\">{size}</tspan></text>",
            bottom + 18.0
        );
    }
    for (Series { name, color, width, .. }, points) in SERIES.iter().zip(&lines) {
        let (mut path, mut dots) = (String::new(), String::new());
        for &point in points {
            let (x, y) = place(point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
            let _ = write!(dots, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>", width + 0.6);
        }
        if !path.is_empty() {
            let _ = writeln!(
                out,
                "<g><title>{name}</title><path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>\
                 <g fill=\"{color}\">{dots}</g></g>"
            );
        }
    }
}
