//! Growth curves as small SVG pictures: what a paper reports beside what was measured.
//!
//! Ours are solid lines with discs, the paper's dashed ones with open squares; both carry their values as tooltips. A
//! picture brings its own background and has colours for light and for dark pages, so it can be read wherever it is shown. The
//! vertical axis is always logarithmic, because what grows here grows by factors; the horizontal one if the values are far apart.
//! Values that a logarithm cannot show, and numbers that are none, are left out.

use crate::table::seconds;
use std::fmt::Write;
use std::time::Duration;

pub struct Plot {
    pub title: String,
    /// What grows.
    pub across: &'static str,
    pub up: Measure,
    pub curves: Vec<Curve>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Seconds,
    Megabytes,
}

pub struct Curve {
    pub name: String,
    pub origin: CurveOrigin,
    /// By the horizontal value. A curve without points is not in the legend either.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CurveOrigin {
    Ours,
    Paper,
}

/// Adds a point to the curve of that name, which is made if there is none.
pub fn add_point(curves: &mut Vec<Curve>, name: &str, origin: CurveOrigin, point: (f64, f64)) {
    match curves.iter_mut().find(|curve| curve.name == name) {
        Some(curve) => curve.points.push(point),
        None => curves.push(Curve { name: name.to_owned(), origin, points: vec![point] }),
    }
}

const WIDTH: f64 = 740.0;
const HEIGHT: f64 = 340.0;
/// The rectangle of the curves: left, top, right, bottom.
const FRAME: [f64; 4] = [76.0, 40.0, 500.0, 288.0];
/// Room between the frame and the outermost points.
const MARGIN: f64 = 14.0;
/// Numbers below the horizontal axis are at least so far apart.
const APART: f64 = 26.0;
const LINE: f64 = 20.0;
/// Colours of curves on a light and on a dark page, after Okabe and Ito, which colour-blind people can tell apart.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff9e5e"),
    ("#00795a", "#3fcf9f"),
    ("#a3478a", "#e3a3cd"),
    ("#8a6d00", "#f0e442"),
    ("#444444", "#cccccc"),
    ("#b80058", "#ff7ab5"),
];

impl Plot {
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        let title = escaped(&self.title);
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}">"#
        )?;
        writeln!(svg, "<title>{title}</title>")?;
        writeln!(svg, "<style>{}</style>", style())?;
        writeln!(svg, r#"<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="6"/>"#)?;
        writeln!(svg, r#"<text class="title" x="16" y="24">{title}</text>"#)?;
        let [left, top, right, bottom] = FRAME;
        writeln!(
            svg,
            r#"<rect class="frame" x="{left}" y="{top}" width="{}" height="{}"/>"#,
            right - left,
            bottom - top
        )?;
        let (middle, height) = ((left + right) / 2.0, (top + bottom) / 2.0);
        writeln!(
            svg,
            r#"<text class="label" x="{middle}" y="326" text-anchor="middle">{}</text>"#,
            escaped(self.across)
        )?;
        let up = match self.up {
            Measure::Seconds => "time",
            Measure::Megabytes => "memory",
        };
        writeln!(
            svg,
            r#"<text class="label" transform="translate(16 {height}) rotate(-90)" text-anchor="middle">{up}</text>"#
        )?;
        match self.scales() {
            None => writeln!(
                svg,
                r#"<text class="label" x="{middle}" y="{height}" text-anchor="middle">nothing was measured</text>"#
            )?,
            Some(scales) => {
                self.ticks(svg, &scales)?;
                for (number, curve) in self.curves.iter().enumerate() {
                    self.curve(svg, &scales, number, curve)?;
                }
            }
        }
        self.legend(svg)?;
        writeln!(svg, "</svg>")
    }

    /// None if there is nothing to show.
    fn scales(&self) -> Option<Scales> {
        let points = || self.curves.iter().flat_map(visible_points);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold(None, |range: Option<(f64, f64)>, value| {
                Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
            })
        };
        let (x_low, x_high) = range(&mut points().map(|(x, _)| x))?;
        let (y_low, y_high) = range(&mut points().map(|(_, y)| y))?;
        let [left, top, right, bottom] = FRAME;
        let far = x_low > 0.0 && x_high / x_low > 12.0;
        // Whole powers of ten enclose the points, so there are always two to read the others by.
        let (low, high) = (power_below(y_low), power_above(y_high));
        let high = if low == high { high * 10.0 } else { high };
        Some(Scales {
            x: Scale { logarithmic: far, low: x_low, high: x_high, from: left + MARGIN, to: right - MARGIN },
            y: Scale { logarithmic: true, low, high, from: bottom, to: top },
        })
    }

    fn ticks(&self, svg: &mut String, scales: &Scales) -> std::fmt::Result {
        let [left, top, right, bottom] = FRAME;
        let mut value = scales.y.low;
        while value <= scales.y.high * 1.0001 {
            let y = scales.y.place(value);
            writeln!(svg, r#"<line class="grid" x1="{left}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>"#)?;
            writeln!(
                svg,
                r#"<text class="tick" x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                left - 6.0,
                y + 4.0,
                self.up.show(value)
            )?;
            value *= 10.0;
        }
        let mut values: Vec<f64> = self.curves.iter().flat_map(|curve| visible_points(curve).map(|(x, _)| x)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut last = f64::NEG_INFINITY;
        for value in values {
            let x = scales.x.place(value);
            if x - last < APART {
                continue;
            }
            last = x;
            writeln!(svg, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{top}" y2="{}"/>"#, bottom + 4.0)?;
            writeln!(
                svg,
                r#"<text class="tick" x="{x:.1}" y="{}" text-anchor="middle">{value}</text>"#,
                bottom + 18.0
            )?;
        }
        Ok(())
    }

    fn curve(&self, svg: &mut String, scales: &Scales, number: usize, curve: &Curve) -> std::fmt::Result {
        let (class, origin) = (number % COLOURS.len(), curve.origin.class());
        let places: Vec<(f64, f64)> =
            visible_points(curve).map(|(x, y)| (scales.x.place(x), scales.y.place(y))).collect();
        writeln!(svg, r#"<g class="c{class} {origin}">"#)?;
        if places.len() > 1 {
            let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            writeln!(svg, r#"<polyline class="line" points="{}"/>"#, points.join(" "))?;
        }
        for ((x, y), (across, up)) in places.iter().zip(visible_points(curve)) {
            let tooltip = format!("{}, {across}: {}", escaped(&curve.name), self.up.show(up));
            mark(svg, curve.origin, *x, *y, &tooltip)?;
        }
        writeln!(svg, "</g>")
    }

    fn legend(&self, svg: &mut String) -> std::fmt::Result {
        let [_, top, right, _] = FRAME;
        let x = right + 16.0;
        // A curve keeps its colour whether or not another has values.
        let curves = self.curves.iter().enumerate().filter(|(_, curve)| visible_points(curve).next().is_some());
        for (line, (number, curve)) in curves.enumerate() {
            let y = top + 10.0 + LINE * line as f64;
            writeln!(svg, r#"<g class="c{} {}">"#, number % COLOURS.len(), curve.origin.class())?;
            writeln!(svg, r#"<line class="line" x1="{x}" x2="{}" y1="{y}" y2="{y}"/>"#, x + 24.0)?;
            mark(svg, curve.origin, x + 12.0, y, &escaped(&curve.name))?;
            writeln!(svg, "</g>")?;
            let (x, y) = (x + 30.0, y + 4.0);
            writeln!(svg, r#"<text class="tick" x="{x}" y="{y}">{}</text>"#, escaped(&curve.name))?;
        }
        Ok(())
    }
}

fn mark(svg: &mut String, origin: CurveOrigin, x: f64, y: f64, tooltip: &str) -> std::fmt::Result {
    match origin {
        CurveOrigin::Ours => {
            writeln!(svg, r#"<circle class="mark" cx="{x:.1}" cy="{y:.1}" r="3.5"><title>{tooltip}</title></circle>"#)
        }
        CurveOrigin::Paper => writeln!(
            svg,
            r#"<rect class="mark" x="{:.1}" y="{:.1}" width="7" height="7"><title>{tooltip}</title></rect>"#,
            x - 3.5,
            y - 3.5
        ),
    }
}

struct Scales {
    x: Scale,
    y: Scale,
}

/// From values to places in the picture.
struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.logarithmic { value.log10() } else { value };
        let range = scaled(self.high) - scaled(self.low);
        if range <= 0.0 {
            return (self.from + self.to) / 2.0;
        }
        self.from + (scaled(value) - scaled(self.low)) / range * (self.to - self.from)
    }
}

impl Measure {
    fn show(self, value: f64) -> String {
        match self {
            // Rounded, so that the marks of the axis are whole.
            Measure::Seconds if value >= 1.0 => format!("{} s", (value * 100.0).round() / 100.0),
            Measure::Seconds if value >= 1e-3 => format!("{} ms", (value * 1e5).round() / 100.0),
            Measure::Seconds if value >= 1e-6 => seconds(Duration::from_secs_f64(value)),
            Measure::Seconds => format!("{value:.0e} s"),
            Measure::Megabytes => format!("{} MB", (value * 100.0).round() / 100.0),
        }
    }
}

impl CurveOrigin {
    fn class(self) -> &'static str {
        match self {
            CurveOrigin::Ours => "ours",
            CurveOrigin::Paper => "paper",
        }
    }
}

fn visible_points(curve: &Curve) -> impl Iterator<Item = (f64, f64)> + '_ {
    curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite() && *y > 0.0)
}

fn power_below(value: f64) -> f64 {
    10f64.powf((value.log10() + 1e-9).floor())
}

fn power_above(value: f64) -> f64 {
    10f64.powf((value.log10() - 1e-9).ceil())
}

fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = write!(light, ".c{number}{{color:{on_light}}}");
        let _ = write!(dark, ".c{number}{{color:{on_dark}}}");
    }
    format!(
        "text{{font-family:system-ui,sans-serif;fill:#1f2328}}.title{{font-size:15px;font-weight:600}}.label{{font-size:13px}}.tick{{font-size:12px}}\
         .page{{fill:#ffffff;stroke:#d0d7de}}.frame{{fill:none;stroke:#8c959f}}.grid{{stroke:#d8dee4;stroke-width:1}}\
         .line{{fill:none;stroke:currentColor;stroke-width:2}}.mark{{fill:currentColor;stroke:currentColor;stroke-width:1.5}}\
         .paper .line{{stroke-dasharray:6 4}}.paper .mark{{fill:#ffffff}}{light}\
         @media (prefers-color-scheme: dark){{text{{fill:#e6edf3}}.page{{fill:#0d1117;stroke:#30363d}}.frame{{stroke:#6e7681}}.grid{{stroke:#262c36}}\
         .paper .mark{{fill:#0d1117}}{dark}}}"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::{Document, Node};

    fn plot(curves: Vec<Curve>) -> Plot {
        Plot { title: "Growth <of> \"N\" & M".to_owned(), across: "N", up: Measure::Seconds, curves }
    }

    fn curve(origin: CurveOrigin, points: &[(f64, f64)]) -> Curve {
        Curve { name: "a <tool> & more".to_owned(), origin, points: points.to_vec() }
    }

    /// The marks of the curves, without those of the legend: their place and tooltip.
    fn marks(svg: &str) -> Vec<(f64, f64, String)> {
        let document = Document::parse(svg).expect("well-formed");
        let number =
            |node: &Node, name| node.attribute(name).and_then(|value| value.parse::<f64>().ok()).expect("a number");
        let marks = document.descendants().filter(|node| node.attribute("class") == Some("mark"));
        marks
            .map(|node| {
                let tooltip =
                    node.descendants().find(|child| child.has_tag_name("title")).and_then(|title| title.text());
                let (x, y) = match node.tag_name().name() {
                    "circle" => (number(&node, "cx"), number(&node, "cy")),
                    _ => (number(&node, "x") + 3.5, number(&node, "y") + 3.5),
                };
                (x, y, tooltip.unwrap_or_default().to_owned())
            })
            .filter(|(x, ..)| *x < FRAME[2])
            .collect()
    }

    #[test]
    fn points_are_where_they_belong() {
        let ours = curve(CurveOrigin::Ours, &[(2.0, 0.001), (3.0, 0.01), (4.0, 0.1)]);
        let paper = curve(CurveOrigin::Paper, &[(4.0, 10.0)]);
        let svg = plot(vec![ours, paper]).svg();
        let marks = marks(&svg);
        assert_eq!(marks.len(), 4);
        let [left, top, right, bottom] = FRAME;
        // Four decades from the bottom to the top.
        let decade = (bottom - top) / 4.0;
        let expected = [
            (left + MARGIN, bottom),
            ((left + right) / 2.0, bottom - decade),
            (right - MARGIN, bottom - 2.0 * decade),
            (right - MARGIN, top),
        ];
        for ((x, y, _), (to_x, to_y)) in marks.iter().zip(expected) {
            assert!((x - to_x).abs() < 0.1 && (y - to_y).abs() < 0.1, "({x}, {y}), not ({to_x}, {to_y})");
        }
        assert_eq!(marks[1].2, "a <tool> & more, 3: 10 ms");
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
        assert_eq!(svg.matches(r#"<g class="c1 paper">"#).count(), 2, "the curve and its line in the legend");
    }

    #[test]
    fn values_far_apart_are_spread() {
        let svg = plot(vec![curve(CurveOrigin::Ours, &[(2.0, 1.0), (20.0, 1.0), (200.0, 1.0)])]).svg();
        let marks = marks(&svg);
        assert!((marks[1].0 - (FRAME[0] + FRAME[2]) / 2.0).abs() < 0.1);
    }

    #[test]
    fn nothing_and_one_point_are_pictures_too() {
        for curves in [
            Vec::new(),
            vec![curve(CurveOrigin::Ours, &[])],
            vec![curve(CurveOrigin::Paper, &[(1.0, 0.0), (f64::NAN, 1.0)])],
        ] {
            let svg = plot(curves).svg();
            assert!(marks(&svg).is_empty());
            assert!(svg.contains("nothing was measured"));
        }
        let one = marks(&plot(vec![curve(CurveOrigin::Ours, &[(3.0, 0.5)])]).svg());
        assert_eq!(one.len(), 1);
        let [left, top, right, bottom] = FRAME;
        assert!(one[0].0 > left && one[0].0 < right && one[0].1 > top && one[0].1 < bottom);
    }

    #[test]
    fn text_is_text() {
        let svg = plot(vec![curve(CurveOrigin::Ours, &[(1.0, 1.0)])]).svg();
        let document = Document::parse(&svg).expect("well-formed");
        let title = document.descendants().find(|node| node.has_tag_name("title")).and_then(|node| node.text());
        assert_eq!(title, Some("Growth <of> \"N\" & M"));
    }

    #[test]
    fn extremes_stay_in_the_frame() {
        let svg = plot(vec![curve(CurveOrigin::Ours, &[(1.0, 1e-9), (1e6, 1e9)])]).svg();
        for (x, y, _) in marks(&svg) {
            assert!((FRAME[0]..=FRAME[2]).contains(&x) && (FRAME[1] - 0.1..=FRAME[3] + 0.1).contains(&y));
        }
    }
}
