//! The plot of a session as SVG. Must never hold text of a session, and the same plot makes the same bytes.

use std::fmt::Write as _;

use crate::domain::time::Timestamp;
use crate::economics::advice::tokens;
use crate::economics::misses::Cause;
use crate::economics::prices::count;
use crate::surface::cli::economics::plot::{Plot, Point};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 360.0;
const STYLE: &str = "text{font:12px sans-serif;fill:#333}.context{fill:none;stroke:#2563a8;stroke-width:2}\
                     .below{fill:#2563a8;fill-opacity:.12}.axis{stroke:#888}.limit{stroke:#a05a00;stroke-dasharray:6 4}\
                     .expired{stroke:#c02020;stroke-width:1.5}.other{stroke:#c02020;stroke-dasharray:3 3}\
                     .compacted{stroke:#2a7a2a;stroke-dasharray:3 3}";

/// The whole picture.
pub fn draw(plot: &Plot) -> String {
    let picture = Picture { plot, most: most(plot) };
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>",
        picture.title()
    );
    picture.axes(&mut svg);
    picture.limits(&mut svg);
    picture.context(&mut svg);
    picture.marks(&mut svg);
    svg.push_str("</svg>\n");
    svg
}

/// The tokens at the top: the highest context, or a limit that is at most a quarter above it.
fn most(plot: &Plot) -> u64 {
    let highest = plot.highest();
    let limits = plot.step_tokens.iter().chain(plot.window_tokens.as_ref()).copied();
    limits.filter(|limit| *limit <= highest.saturating_add(highest / 4)).fold(highest, u64::max)
}

struct Picture<'p> {
    plot: &'p Plot,
    most: u64,
}

impl Picture<'_> {
    fn title(&self) -> String {
        let misses = self.plot.points.iter().filter(|point| point.miss.is_some()).count();
        format!("Context over {} requests, {misses} cache misses", tokens(self.plot.points.len() as u64))
    }

    fn x(&self, position: usize) -> f64 {
        let last = count(self.plot.points.len().saturating_sub(1).max(1) as u64);
        LEFT + (RIGHT - LEFT) * count(position as u64) / last
    }

    fn y(&self, tokens: u64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * count(tokens) / count(self.most)
    }

    fn axes(&self, svg: &mut String) {
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"24\">{}</text>", self.title());
        let _ = writeln!(svg, "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>");
        for value in (0..=4).map(|quarter| self.most * quarter / 4) {
            let (x, y) = (LEFT - 8.0, self.y(value) + 4.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", tokens(value));
        }
        let ends = [(self.plot.points.first(), LEFT, "start"), (self.plot.points.last(), RIGHT, "end")];
        for (point, x, anchor) in ends {
            let at = point.and_then(|point| point.at).map(Timestamp::to_minute).unwrap_or_default();
            let y = BOTTOM + 20.0;
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{at}</text>");
        }
        let legend = "red: cache expired; red, dashed: cache missed otherwise; green: compacted before";
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{legend}</text>", BOTTOM + 44.0);
    }

    fn limits(&self, svg: &mut String) {
        let steps = self.plot.step_tokens.iter().map(|step| (*step, "price step"));
        let window = self.plot.window_tokens.iter().map(|window| (*window, "window"));
        for (limit, name) in steps.chain(window).filter(|(limit, _)| *limit <= self.most) {
            let y = self.y(limit);
            let _ = writeln!(
                svg,
                "<path class=\"limit\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\n<text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">{name} {}</text>",
                y - 4.0,
                tokens(limit)
            );
        }
    }

    fn context(&self, svg: &mut String) {
        let place =
            |(position, point): (usize, &Point)| format!("{:.1} {:.1}", self.x(position), self.y(point.context_tokens));
        let places: Vec<String> = self.plot.points.iter().enumerate().map(place).collect();
        if places.is_empty() {
            return;
        }
        let line = places.join("L");
        let last = self.x(self.plot.points.len() - 1);
        let _ = writeln!(svg, "<path class=\"below\" d=\"M{LEFT:.1} {BOTTOM:.1}L{line}L{last:.1} {BOTTOM:.1}Z\"/>");
        let _ = writeln!(svg, "<path class=\"context\" d=\"M{line}\"/>");
    }

    fn marks(&self, svg: &mut String) {
        for (position, point) in self.plot.points.iter().enumerate() {
            let class = match (point.miss, point.is_after_compaction) {
                (Some(Cause::Expired), _) => "expired",
                (Some(_), _) => "other",
                (None, true) => "compacted",
                (None, false) => continue,
            };
            let x = self.x(position);
            let at = point.at.map(Timestamp::rfc3339).unwrap_or_default();
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" d=\"M{x:.1} {TOP:.1}V{BOTTOM:.1}\"><title>request {} {at}: {class}</title></path>",
                position + 1
            );
        }
    }
}
