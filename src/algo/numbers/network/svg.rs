//! Networks as pictures.

use std::fmt::Write;

use super::Network;

/// Pixels between lanes, and between levels.
const STEP: usize = 20;

impl Network {
    /// The network as an SVG picture: a line down for each lane, the first on the left, and for each gate a dot on the lane that it
    /// replaces, with a line from the lane that it reads. Levels follow each other downwards.
    ///
    /// ```
    /// use monoscan::algo::numbers::{Network, NetworkKind};
    /// let svg = Network::new(NetworkKind::KoggeStone, 8).svg();
    /// assert_eq!(svg.matches("<circle").count(), 17);
    /// ```
    pub fn svg(&self) -> String {
        let lane = |lane: usize| STEP * (lane + 1);
        let level = |level: usize| STEP * (level + 2);
        let (width, height) = (lane(self.width()), level(self.depth()));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title>{self}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{STEP}\" y=\"14\" font-family=\"sans-serif\" font-size=\"12\">{}</text>\n\
             <g stroke=\"#999\">\n",
            self.kind()
        );
        let mut line = |[x1, y1, x2, y2]: [usize; 4]| {
            writeln!(svg, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>").expect("a string takes any text");
        };
        (0..self.width()).for_each(|x| line([lane(x), STEP, lane(x), height - STEP / 2]));
        let gates =
            || self.levels().iter().enumerate().flat_map(|(y, gates)| gates.iter().map(move |gate| (level(y), gate)));
        gates().for_each(|(y, gate)| line([lane(gate.from), y - STEP, lane(gate.to), y]));
        svg += "</g>\n";
        for (y, gate) in gates() {
            writeln!(svg, "<circle cx=\"{}\" cy=\"{y}\" r=\"4\"/>", lane(gate.to)).expect("a string takes any text");
        }
        svg + "</svg>\n"
    }
}
