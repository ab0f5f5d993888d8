//! Results: one row for each entrant, workload and size, printed as a table or kept as CSV.

use std::fmt;
use std::str::FromStr;

use bench_shared::report::power;

/// The role of an entrant in a race, in the order of tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Role {
    /// The entrant that ratios are taken to: the plain loop, or what a user would take instead.
    Baseline,
    /// monoscan.
    Ours,
    /// Any other entrant.
    Rival,
    /// The speed of memory.
    Copy,
}

impl Role {
    const ALL: [(Role, &'static str); 4] =
        [(Role::Baseline, "baseline"), (Role::Ours, "ours"), (Role::Rival, "rival"), (Role::Copy, "copy")];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Role::ALL.iter().find(|(role, _)| role == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// The quarters that a set of figures falls into; NaN for none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Quartiles {
    /// A quarter is below it.
    pub(crate) low: f64,
    /// Half are.
    pub(crate) median: f64,
    /// A quarter is above it.
    pub(crate) high: f64,
}

impl Quartiles {
    pub(crate) fn of(mut figures: Vec<f64>) -> Quartiles {
        figures.sort_by(f64::total_cmp);
        let at = |quarter: usize| figures.get(figures.len() * quarter / 4).copied().unwrap_or(f64::NAN);
        Quartiles { low: at(1), median: at(2), high: at(3) }
    }
}

/// How one entrant did.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) elements: usize,
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) threads: usize,
    pub(crate) rounds: usize,
    /// Nanoseconds an element.
    pub(crate) ns: Quartiles,
    /// The baseline's time over this one's, round by round.
    pub(crate) ratio: Quartiles,
    /// Why it did not take part.
    pub(crate) absent: Option<String>,
}

/// How the reason begins for which wrong results are not timed.
pub(crate) const WRONG: &str = "WRONG: ";

/// The first line of a CSV file.
const HEADER: &str = "workload,elements,role,name,threads,rounds,ns_low,ns,ns_high,ratio_low,ratio,ratio_high,absent";

impl Row {
    /// Before any round.
    pub(crate) fn new(workload: &str, elements: usize, role: Role, name: &str, threads: usize) -> Row {
        let none = Quartiles::of(Vec::new());
        let (workload, name) = (workload.to_owned(), name.to_owned());
        Row { workload, elements, role, name, threads, rounds: 0, ns: none, ratio: none, absent: None }
    }

    /// Whether it has figures.
    pub(crate) fn timed(&self) -> bool {
        self.rounds > 0
    }

    /// Whether it took part and gave wrong results.
    pub(crate) fn is_wrong(&self) -> bool {
        self.absent.as_ref().is_some_and(|why| why.starts_with(WRONG))
    }

    fn to_csv(&self) -> String {
        let Row { workload, elements, role, name, threads, rounds, ns, ratio, absent } = self;
        // The reason comes last, and its commas and line ends are of no interest.
        let absent = absent.as_deref().unwrap_or_default().replace(['\n', '\r'], " ");
        let figures = [ns.low, ns.median, ns.high, ratio.low, ratio.median, ratio.high].map(|x| format!("{x:.5}"));
        let name = name.replace(',', ";");
        format!("{workload},{elements},{role},{name},{threads},{rounds},{},{absent}", figures.join(","))
    }

    fn from_csv(line: &str) -> Option<Row> {
        let mut fields = line.splitn(13, ',');
        let workload = fields.next()?.to_owned();
        let elements = number(fields.next()?)?;
        let role = fields.next()?;
        let (role, _) = Role::ALL.into_iter().find(|(_, name)| *name == role)?;
        let name = fields.next()?.replace(';', ",");
        let (threads, rounds) = (number(fields.next()?)?, number(fields.next()?)?);
        let mut quartiles = || {
            let [low, median, high] = [number(fields.next()?)?, number(fields.next()?)?, number(fields.next()?)?];
            Some(Quartiles { low, median, high })
        };
        let (ns, ratio) = (quartiles()?, quartiles()?);
        let absent = fields.next().filter(|why| !why.is_empty()).map(str::to_owned);
        Some(Row { workload, elements, role, name, threads, rounds, ns, ratio, absent })
    }
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// The rows as a CSV file.
pub(crate) fn to_csv(rows: &[Row]) -> String {
    let lines: Vec<String> = std::iter::once(HEADER.to_owned()).chain(rows.iter().map(Row::to_csv)).collect();
    lines.join("\n") + "\n"
}

/// The rows of a CSV file.
///
/// # Errors
/// The line that is no row.
pub(crate) fn from_csv(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("the first line should be `{HEADER}`"));
    }
    lines.map(|line| Row::from_csv(line).ok_or_else(|| format!("no result: `{line}`"))).collect()
}

/// Prints the table of one workload at one size.
pub(crate) fn print(rows: &[Row], title: &str, baseline: &str) {
    let Some(first) = rows.first() else { return };
    let rounds = rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    println!("\n{title}, {} elements, {rounds} rounds", power(first.elements as u64));
    println!("{:28} {:>7} {:>10}   × {baseline} (quartiles)", "", "threads", "ns/element");
    for row in rows {
        let Row { name, threads, ns, ratio, .. } = row;
        match &row.absent {
            Some(why) => println!("{name:28} {threads:7} {:>10}   {why}", "absent"),
            None if !row.timed() => println!("{name:28} {threads:7} {:>10}", "verified"),
            None => println!(
                "{name:28} {threads:7} {:10.3}   {:5.2} ({:.2}–{:.2})",
                ns.median, ratio.median, ratio.low, ratio.high
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_a_file() {
        let ns = Quartiles::of(vec![3.0, 1.0, 2.0, 5.0]);
        let timed = Row { rounds: 4, ns, ratio: ns, ..Row::new("sum-i32", 4096, Role::Ours, "monoscan, f64", 2) };
        let why = Some("not built: no tbb, sorry".to_owned());
        let absent = Row { absent: why, ..Row::new("sum-i32", 4096, Role::Rival, "TBB", 2) };
        let read = from_csv(&to_csv(&[timed.clone(), absent.clone()])).unwrap();
        assert_eq!(read[0], timed);
        assert_eq!((&read[1].absent, read[1].timed(), read[1].ns.median.is_nan()), (&absent.absent, false, true));
        assert!(from_csv("workload\n").is_err());
    }

    #[test]
    fn quartiles_are_figures_of_the_set() {
        let Quartiles { low, median, high } = Quartiles::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((low, median, high), (2.0, 3.0, 4.0));
    }
}
