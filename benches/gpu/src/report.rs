//! Results: what was measured of each row and size, printed, or kept as CSV or Markdown.

use bench_shared::report::power;

use crate::cub::Time;
use crate::host;
use crate::latency::Latency;
use crate::rows::{ALL, Bar, Row};

/// The measurements of a row at one size; times are in milliseconds, NaN if there is none.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) row: &'static str,
    pub(crate) elements: u64,
    /// Read and written.
    pub(crate) bytes: u64,
    /// A call.
    pub(crate) call: f64,
    /// A call as part of a graph.
    pub(crate) graph: f64,
    /// A copy of the same bytes.
    pub(crate) copy: f64,
    pub(crate) cub: Option<Time>,
    /// A scan of as much on all cores of the host.
    pub(crate) host: Option<host::Times>,
    /// Why there are no times.
    pub(crate) wrong: Option<String>,
}

impl Figures {
    /// Before anything was measured.
    pub(crate) fn new(row: &Row, elements: u64, bytes: u64) -> Figures {
        let [call, graph, copy] = [f64::NAN; 3];
        Figures { row: row.name, elements, bytes, call, graph, copy, cub: None, host: None, wrong: None }
    }

    /// Gigabytes a second, read and written.
    pub(crate) fn throughput(&self, milliseconds: f64) -> f64 {
        self.bytes as f64 / milliseconds / 1e6
    }

    /// Gigabytes a second of the input alone.
    fn read_speed(&self) -> f64 {
        (self.elements * self.row().read as u64) as f64 / self.call / 1e6
    }

    /// The part of a copy's speed.
    pub(crate) fn of_copy(&self) -> f64 {
        self.copy / self.call
    }

    fn row(&self) -> &'static Row {
        ALL.iter().find(|row| row.name == self.row).expect("results are of rows")
    }

    /// The part of CUB's speed, by the times themselves.
    fn of_cub(&self) -> Option<f64> {
        self.cub.map(|cub| cub.milliseconds / self.call)
    }
}

/// A line of a row, as soon as it is measured.
pub(crate) fn line(figures: &Figures) -> String {
    let Figures { elements, call, graph, copy, cub, wrong, .. } = figures;
    let size = power(*elements);
    if let Some(why) = wrong {
        return format!("  {size:5} BAD: {why}");
    }
    if call.is_nan() {
        return format!("  {size:5} verified");
    }
    let mut line = format!(
        "  {size:5} {:10.2} µs {:7.1} GB/s   copy {:10.2} µs   of copy {:.3}",
        1e3 * call,
        figures.throughput(*call),
        1e3 * copy,
        figures.of_copy()
    );
    match (cub, figures.of_cub()) {
        (Some(cub), Some(ratio)) => {
            line += &format!("   CUB {:10.2} µs {:.3}   {ratio:5.2}×", 1e3 * cub.milliseconds, cub.of_copy);
        }
        _ => line += "   CUB none",
    }
    if !graph.is_nan() {
        line += &format!("   in a graph {:.2} µs", 1e3 * graph);
    }
    if let Some(host::Times { measured, predicted }) = figures.host {
        let (time, speed, predicted) = (1e3 * measured, figures.throughput(measured), figures.throughput(predicted));
        line += &format!("   all cores {time:10.2} µs {speed:6.1} GB/s, predicted {predicted:.1}");
    }
    line
}

/// All results as a CSV file.
pub(crate) fn to_csv(all: &[Figures]) -> String {
    let mut out =
        "row,elements,bytes,call_ms,graph_ms,copy_ms,of_copy,cub_ms,cub_of_copy,host_ms,host_predicted_ms,wrong\n"
            .to_owned();
    for figures in all {
        let Figures { row, elements, bytes, call, graph, copy, cub, host, wrong } = figures;
        let (cub, of_copy) = cub.map_or((f64::NAN, f64::NAN), |cub| (cub.milliseconds, cub.of_copy));
        let (host, predicted) = host.map_or((f64::NAN, f64::NAN), |times| (times.measured, times.predicted));
        let times = [*call, *graph, *copy, figures.of_copy(), cub, of_copy, host, predicted];
        let times = times.map(|time| format!("{time:.6}")).join(",");
        // The reason comes last, and its commas and line ends are of no interest.
        let wrong = wrong.as_deref().unwrap_or_default().replace(['\n', '\r'], " ");
        out += &format!("{row},{elements},{bytes},{times},{wrong}\n");
    }
    out
}

/// The tables: every row at its largest size, at all sizes, and short ones in microseconds.
pub(crate) fn markdown(all: &[Figures], latency: Option<&Latency>) -> String {
    let mut out = largest(all) + "\n" + &sizes(all) + "\n" + &short(all);
    if let Some(latency) = latency {
        out += "\n";
        out += &latency.table();
    }
    out
}

/// The rows that were measured, each with all of its results.
fn by_row(all: &[Figures]) -> impl Iterator<Item = &[Figures]> {
    all.chunk_by(|p, q| p.row == q.row)
}

fn largest(all: &[Figures]) -> String {
    let mut out =
        "| operator (bytes read → written per element) | n | monoscan, GB/s | of copy | bar | CUB, of copy | × CUB | all cores, GB/s (predicted) |\n\
                   |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for (figures, of_row) in by_row(all).filter_map(|figures| Some((figures.last()?, figures))) {
        let Row { title, read, written, bar, .. } = figures.row();
        let (cub, ratio) = (figures.cub.map(|cub| cub.of_copy), figures.of_cub());
        let speed = match &figures.wrong {
            Some(_) => "BAD".to_owned(),
            None => format!("{:.0}", figures.throughput(figures.call)),
        };
        // The largest size may be too large for the host.
        let host = of_row.iter().rev().find_map(|figures| {
            let host::Times { measured, predicted } = figures.host?;
            let [speed, predicted] = [measured, predicted].map(|time| figures.throughput(time));
            Some(format!("{speed:.0} ({predicted:.0}) at {}", power(figures.elements)))
        });
        let host = host.unwrap_or_else(|| "–".to_owned());
        let [of_copy, bar] = against(*bar, figures);
        let (n, cub, ratio) = (power(figures.elements), cell(cub), cell(ratio));
        out += &format!(
            "| {title} ({read} → {written}) | {n} | {speed} | {of_copy} | {bar} | {cub} | {ratio} | {host} |\n"
        );
    }
    out
}

/// The part of a copy's speed, and the bar: what is below it is in bold.
fn against(bar: Bar, figures: &Figures) -> [String; 2] {
    let of_copy = match figures.wrong {
        Some(_) => "BAD".to_owned(),
        None => format!("{:.3}", figures.of_copy()),
    };
    match bar {
        Bar::OfCopy(bar) if figures.of_copy() < bar => [format!("**{of_copy}**"), format!("{bar:.2}")],
        Bar::OfCopy(bar) => [of_copy, format!("{bar:.2}")],
        Bar::Read(bar) => {
            let read = figures.read_speed();
            let read = if read < bar { format!("**{read:.0}**") } else { format!("{read:.0}") };
            [of_copy, format!("{read} of {bar:.0} GB/s read")]
        }
        Bar::Nothing => [of_copy, "–".to_owned()],
    }
}

fn cell(figure: Option<f64>) -> String {
    figure.map_or("–".to_owned(), |figure| format!("{figure:.2}"))
}

/// Parts of the speed of a copy, ours and CUB's, by size.
fn sizes(all: &[Figures]) -> String {
    let mut sizes: Vec<u64> = all.iter().map(|figures| figures.elements).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let head: Vec<String> = sizes.iter().map(|&size| power(size)).collect();
    let mut out = format!("| of copy, monoscan / CUB | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(sizes.len()));
    for row in by_row(all) {
        let cells = sizes.iter().map(|&size| match row.iter().find(|figures| figures.elements == size) {
            Some(Figures { wrong: Some(_), .. }) => "BAD".to_owned(),
            Some(figures) => format!("{:.2} / {}", figures.of_copy(), cell(figures.cub.map(|cub| cub.of_copy))),
            None => String::new(),
        });
        out += &format!("| {} | {} |\n", row[0].row().title, cells.collect::<Vec<_>>().join(" | "));
    }
    out
}

/// Microseconds of short scans.
fn short(all: &[Figures]) -> String {
    let mut out = "| short scans, µs | n | call | in a graph | copy | CUB | call over CUB | in a graph over CUB |\n\
                   |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for figures in all.iter().filter(|figures| figures.elements <= 1 << 20 && figures.wrong.is_none()) {
        let Figures { call, graph, copy, cub, .. } = figures;
        let times = [*call, *graph, *copy].map(|time| format!("{:.1}", 1e3 * time)).join(" | ");
        let cub = cub.map(|cub| cub.milliseconds);
        let ratios = [*call, *graph].map(|time| cell(cub.map(|cub| time / cub))).join(" | ");
        let (title, size) = (figures.row().title, power(figures.elements));
        out += &format!("| {title} | {size} | {times} | {} | {ratios} |\n", cell(cub.map(|cub| 1e3 * cub)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of 2^30 elements, these bytes in so many milliseconds, where a copy takes a half.
    fn line_of(name: &'static str, bytes: u64, call: f64) -> String {
        let row = ALL.iter().find(|row| row.name == name).unwrap();
        let figures = Figures { call, copy: 0.5, ..Figures::new(row, 1 << 30, bytes) };
        largest(&[figures]).lines().last().unwrap().to_owned()
    }

    #[test]
    fn each_row_is_held_against_its_bar() {
        let title = "| 16-state JSON DFA (1 → 1) | 2^30";
        assert_eq!(line_of("dfa-json", 2 << 30, 1.5), format!("{title} | 1432 | **0.333** | 0.65 | – | – | – |"));
        let title = "| 16-state JSON DFA, numbers by the grammar (1 → 1) | 2^30";
        assert_eq!(line_of("dfa-json-numbers", 2 << 30, 1.5), format!("{title} | 1432 | 0.333 | – | – | – | – |"));
        let title = "| JSON lexer, tokens of 8 bytes (1 → 8) | 2^30";
        assert_eq!(
            line_of("lexer-json-tokens", 3 << 30, 1.5),
            format!("{title} | 2147 | 0.333 | **716** of 850 GB/s read | – | – | – |")
        );
        assert_eq!(
            line_of("lexer-json-tokens", 3 << 30, 1.0),
            format!("{title} | 3221 | 0.500 | 1074 of 850 GB/s read | – | – | – |")
        );
    }

    #[test]
    fn what_is_wrong_has_no_speed() {
        let row = &ALL[0];
        let figures = Figures { wrong: Some("element 0".to_owned()), ..Figures::new(row, 1 << 30, 8 << 30) };
        assert_eq!(
            largest(&[figures]).lines().last().unwrap(),
            "| sum i32 (4 → 4) | 2^30 | BAD | BAD | 0.97 | – | – | – |"
        );
    }
}
