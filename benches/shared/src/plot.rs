//! Pictures as SVG: a legend, and panels side by side, each with lines over a logarithmic axis of
//! sizes.
//!
//! The caller says where points and ticks are; all that is the same in every picture is drawn here.

use std::fmt::Write;

/// Around the panels, in pixels, as all lengths here.
pub const MARGIN: f64 = 20.0;

/// How the results of one contender are drawn.
#[derive(Clone, Copy)]
pub struct Style {
    pub name: &'static str,
    pub color: &'static str,
    pub width: f64,
}

/// A picture of panels of one size.
pub struct Picture {
    /// The title above the panels.
    pub head: f64,
    pub panel: Panel,
    out: String,
}

/// The sizes of a panel, with its labels, and of the plot in it.
#[derive(Clone, Copy)]
pub struct Panel {
    pub size: (f64, f64),
    pub plot: (f64, f64),
    /// The upper left corner of the plot.
    pub corner: (f64, f64),
}

impl Picture {
    /// Panels in so many columns and lines. Legends may need the width of more `columns` than there are panels.
    pub fn new(title: &str, head: f64, panel: Panel, (columns, lines): (usize, usize)) -> Picture {
        let width = 2.0 * MARGIN + columns as f64 * panel.size.0;
        let height = head + lines as f64 * panel.size.1 + MARGIN;
        let out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text x=\"{MARGIN}\" y=\"30\" font-size=\"17\" font-weight=\"bold\">{title}</text>\n"
        );
        Picture { head, panel, out }
    }

    /// The legend's entry of a style.
    pub fn entry(&mut self, (x, y): (f64, f64), Style { name, color, width }: Style) {
        let (middle, text, below) = (x + 13.0, x + 33.0, y + 4.0);
        self.push(&format!(
            "<path d=\"M{x} {y}h26\" stroke=\"{color}\" stroke-width=\"{width}\"/><circle cx=\"{middle}\" cy=\"{y}\" r=\"3\" \
             fill=\"{color}\"/><text x=\"{text}\" y=\"{below}\">{name}</text>"
        ));
    }

    /// The legend's entry of an area.
    pub fn area_entry(&mut self, (x, y): (f64, f64), name: &str, color: &str) {
        let (above, text, below) = (y - 6.0, x + 33.0, y + 4.0);
        self.push(&format!(
            "<rect x=\"{x}\" y=\"{above}\" width=\"26\" height=\"12\" fill=\"{color}\"/><text x=\"{text}\" \
             y=\"{below}\">{name}</text>"
        ));
    }

    /// The panel in this column and line: a title, and what `draw` draws from the panel's corner on.
    pub fn panel(&mut self, (column, line): (usize, usize), title: &str, draw: impl FnOnce(&mut Picture)) {
        let (width, height) = self.panel.size;
        let (x, y) = (MARGIN + column as f64 * width, self.head + line as f64 * height);
        let (left, top) = self.panel.corner;
        self.push(&format!("<g transform=\"translate({x} {y})\">"));
        let above = top - 12.0;
        self.push(&format!("<text x=\"{left}\" y=\"{above}\" font-size=\"13\" font-weight=\"bold\">{title}</text>"));
        draw(self);
        self.push("</g>");
    }

    /// A grey line across the plot at this height, and its label.
    pub fn height_tick(&mut self, y: f64, label: impl std::fmt::Display) {
        let (left, right) = (self.panel.corner.0, self.panel.corner.0 + self.panel.plot.0);
        let (text, below) = (left - 8.0, y + 4.0);
        self.push(&format!(
            "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#cccccc\" stroke-width=\"0.6\"/><text x=\"{text}\" y=\"{below:.1}\" \
             text-anchor=\"end\" font-size=\"11\">{label}</text>"
        ));
    }

    /// The mark of 2 to this power on the axis of sizes.
    pub fn size_tick(&mut self, x: f64, log2: f64) {
        let bottom = self.bottom();
        let below = bottom + 18.0;
        self.push(&format!(
            "<path d=\"M{x:.1} {bottom}v4\" stroke=\"#222222\"/><text x=\"{x:.1}\" y=\"{below}\" text-anchor=\"middle\" \
             font-size=\"11\">2<tspan dy=\"-5\" font-size=\"8\">{log2}</tspan></text>"
        ));
    }

    /// A line through these points, with a dot on each.
    pub fn line(&mut self, Style { name, color, width }: Style, points: impl Iterator<Item = (f64, f64)>) {
        let (mut path, mut dots) = (String::new(), String::new());
        for (x, y) in points {
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
            let _ = write!(dots, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>", width + 0.6);
        }
        if !path.is_empty() {
            self.push(&format!(
                "<g><title>{name}</title><path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>\
                 <g fill=\"{color}\">{dots}</g></g>"
            ));
        }
    }

    /// The lower end of a panel's plot.
    pub fn bottom(&self) -> f64 {
        self.panel.corner.1 + self.panel.plot.1
    }

    /// An element of SVG as it is.
    pub fn push(&mut self, element: &str) {
        self.out.push_str(element);
        self.out.push('\n');
    }

    /// The picture as a file.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}
