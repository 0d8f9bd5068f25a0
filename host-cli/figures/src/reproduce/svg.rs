//! Charts as SVG, drawn by the same code for files and for the report page.
//!
//! Colours are classes, so that a page can be light or dark; a file brings the style itself. Text
//! is
//! text, and every mark has its numbers as a title, which browsers show and readers speak.

mod axis;

use std::fmt::Write as _;

use super::figure::{Figure, Kind, Series};
use axis::{Axis, number};

/// Size of the drawing. Unit: pixels.
const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 280.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;
/// Width of a letter of the legend, on the average.
const LETTER: f64 = 6.6;
/// Series have one of so many colours.
pub const COLOURS: usize = 8;

/// What gives the classes their colours: blue, orange, green and so on, told apart by most eyes.
pub const STYLE: &str = "\
.chart{font:12px system-ui,sans-serif;color:#1b1f24;background:transparent}\
.chart text{fill:currentColor}.chart .grid{stroke:currentColor;stroke-opacity:.15}\
.chart .axis{stroke:currentColor;stroke-opacity:.6}\
.chart .line{fill:none;stroke-width:2}.chart .whisker{stroke-width:1.5;stroke-opacity:.7}\
.chart .band{fill:#8a6d00;fill-opacity:.16;stroke:#8a6d00;stroke-width:1.5}\
.chart .paper{stroke-dasharray:5 4}.chart .hollow{fill-opacity:.25}\
.c0{fill:#0060a8;stroke:#0060a8}.c1{fill:#c55a00;stroke:#c55a00}.c2{fill:#007a55;stroke:#007a55}\
.c3{fill:#a33c86;stroke:#a33c86}.c4{fill:#5b6ee1;stroke:#5b6ee1}.c5{fill:#8c6a00;stroke:#8c6a00}\
.c6{fill:#3d8ea8;stroke:#3d8ea8}.c7{fill:#777777;stroke:#777777}\
@media(prefers-color-scheme:dark){.chart{color:#e6e8eb}\
.c0{fill:#5cb3ff;stroke:#5cb3ff}.c1{fill:#ff9a4d;stroke:#ff9a4d}.c2{fill:#3fcf9c;stroke:#3fcf9c}\
.c3{fill:#e58acb;stroke:#e58acb}.c4{fill:#a3aeff;stroke:#a3aeff}.c5{fill:#e0b93c;stroke:#e0b93c}\
.c6{fill:#7fd1e8;stroke:#7fd1e8}.c7{fill:#aaaaaa;stroke:#aaaaaa}\
.chart .band{fill:#ffd84d;stroke:#ffd84d}}";

/// How a file begins.
pub const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg class=\"chart\" ";

/// A chart as a file of its own.
pub fn file(figure: &Figure) -> String {
    let chart = chart(figure, "figure");
    let style = format!("<style>{STYLE}</style>");
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let end_of_tag = chart.find('>').map_or(0, |at| at + 1);
    format!("{head}{}{style}{}\n", &chart[..end_of_tag], &chart[end_of_tag..])
}

/// A chart within a page; `id` is not used twice in it.
pub fn chart(figure: &Figure, id: &str) -> String {
    let axis = Axis::of(figure);
    let labels = Labels::of(&figure.ticks);
    let legend = legend(figure);
    let height = TOP + PLOT_HEIGHT + labels.height + 24.0 + legend.height;
    let mut text = format!(
        "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} \
         {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title>\
         <desc id=\"{id}-d\">{}</desc>",
        escaped(&figure.title),
        escaped(&figure.reading)
    );
    grid(&mut text, figure, &axis);
    match figure.kind {
        Kind::Lines => lines(&mut text, figure, &axis),
        Kind::Bars => bars(&mut text, figure, &axis),
        Kind::Stacked => stacked(&mut text, figure, &axis),
    }
    bands(&mut text, figure, &axis);
    labels.draw(&mut text, figure);
    let below = TOP + PLOT_HEIGHT + labels.height;
    let _ = write!(
        text,
        "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        LEFT + plot_width() / 2.0,
        below + 14.0,
        escaped(&figure.x),
        TOP + PLOT_HEIGHT / 2.0,
        escaped(&figure.y)
    );
    let _ = write!(
        text,
        "<g transform=\"translate({LEFT} {:.1})\">{}</g></svg>",
        below + 24.0,
        legend.text
    );
    text
}

/// Text between tags and in attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const fn plot_width() -> f64 {
    WIDTH - LEFT - RIGHT
}

/// The width of a place of the axis.
fn step(figure: &Figure) -> f64 {
    plot_width() / figure.ticks.len().max(1) as f64
}

/// The middle of a place.
fn middle(figure: &Figure, place: usize) -> f64 {
    LEFT + step(figure) * (place as f64 + 0.5)
}

/// The height of a value on the page.
fn height_of(axis: &Axis, value: f64) -> f64 {
    TOP + PLOT_HEIGHT * (1.0 - axis.share(value))
}

fn grid(text: &mut String, figure: &Figure, axis: &Axis) {
    for tick in axis.ticks() {
        let y = height_of(axis, tick);
        let _ = write!(
            text,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            axis.label(tick)
        );
    }
    let base = height_of(axis, axis.base());
    let _ = write!(
        text,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{base:.1}\" y2=\"{base:.1}\"/>",
        LEFT + step(figure) * figure.ticks.len() as f64
    );
}

fn bands(text: &mut String, figure: &Figure, axis: &Axis) {
    for band in &figure.bands {
        let [first, last] = band.places;
        let left = LEFT + step(figure) * first as f64;
        let width = step(figure) * (last - first + 1) as f64;
        let [low, high] = band.range.map(|value| height_of(axis, value));
        let _ = write!(
            text,
            "<rect class=\"band\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
             height=\"{:.1}\"><title>paper, {}: {}</title></rect>",
            high - 1.0,
            low - high + 2.0,
            escaped(&band.what),
            escaped(&band.text)
        );
    }
}

/// The class of a series' marks.
fn class(place: usize, series: &Series) -> String {
    format!("c{}{}", place % COLOURS, if series.printed { " hollow" } else { "" })
}

fn title(series: &Series, tick: &str, value: f64) -> String {
    format!("<title>{}, {}: {}</title>", escaped(&series.name), escaped(tick), number(value))
}

fn lines(text: &mut String, figure: &Figure, axis: &Axis) {
    for (place, series) in figure.series.iter().enumerate() {
        let mut path = String::new();
        let mut pen = 'M';
        for (at, value) in series.values.iter().enumerate() {
            let Some(value) = value else {
                pen = 'M';
                continue;
            };
            let _ = write!(path, "{pen}{:.1} {:.1}", middle(figure, at), height_of(axis, *value));
            pen = 'L';
        }
        let paper = if series.printed { " paper" } else { "" };
        let colour = place % COLOURS;
        let _ = write!(
            text,
            "<path class=\"line c{colour}{paper}\" style=\"fill:none\" d=\"{path}\"/>"
        );
        for (at, (tick, value)) in figure.ticks.iter().zip(&series.values).enumerate() {
            let Some(value) = *value else { continue };
            let x = middle(figure, at);
            // Beside each other, so that one does not hide the other.
            let beside = x + 4.0 * (place as f64 - (figure.series.len() - 1) as f64 / 2.0);
            let deviation =
                series.deviations.as_ref().and_then(|all| all.get(at).copied().flatten());
            if let Some(deviation) = deviation {
                let [low, high] = [value - deviation, value + deviation];
                let _ = write!(
                    text,
                    "<line class=\"whisker c{colour}\" x1=\"{beside:.1}\" x2=\"{beside:.1}\" \
                     y1=\"{:.1}\" y2=\"{:.1}\"/>",
                    height_of(axis, low),
                    height_of(axis, high)
                );
            }
            let _ = write!(
                text,
                "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.5\">{}</circle>",
                class(place, series),
                height_of(axis, value),
                title(series, tick, value)
            );
        }
    }
}

/// Bars beside each other.
fn bars(text: &mut String, figure: &Figure, axis: &Axis) {
    let group = step(figure) * 0.82;
    let width = group / figure.series.len().max(1) as f64;
    let base = height_of(axis, axis.base());
    for (place, series) in figure.series.iter().enumerate() {
        for (at, (tick, value)) in figure.ticks.iter().zip(&series.values).enumerate() {
            let Some(value) = *value else { continue };
            let left = middle(figure, at) - group / 2.0 + width * place as f64;
            let y = height_of(axis, value);
            rectangle(
                text,
                &class(place, series),
                [left, y.min(base), width * 0.92, (y - base).abs()],
            );
            let _ = write!(text, "{}</rect>", title(series, tick, value));
        }
    }
}

/// Bars on top of each other.
fn stacked(text: &mut String, figure: &Figure, axis: &Axis) {
    let width = step(figure) * 0.7;
    for (at, tick) in figure.ticks.iter().enumerate() {
        let mut below = 0.0;
        for (place, series) in figure.series.iter().enumerate() {
            let Some(value) = series.values.get(at).copied().flatten() else { continue };
            let [low, high] = [below, below + value].map(|value| height_of(axis, value));
            below += value;
            let left = middle(figure, at) - width / 2.0;
            rectangle(text, &class(place, series), [left, high, width, (low - high).max(0.0)]);
            let _ = write!(text, "{}</rect>", title(series, tick, value));
        }
    }
}

/// The beginning of a rectangle: its left, its top, its width and its height.
fn rectangle(text: &mut String, class: &str, [left, top, width, height]: [f64; 4]) {
    let _ = write!(
        text,
        "<rect class=\"{class}\" style=\"stroke:none\" x=\"{left:.1}\" y=\"{top:.1}\" \
         width=\"{width:.1}\" height=\"{height:.1}\">"
    );
}

/// Names of the places of the axis, slanted where they do not fit beside each other.
struct Labels {
    slanted: bool,
    height: f64,
}

impl Labels {
    fn of(ticks: &[String]) -> Self {
        let longest = ticks.iter().map(|tick| tick.chars().count()).max().unwrap_or(0) as f64;
        let slanted = longest * LETTER > plot_width() / ticks.len().max(1) as f64 - 4.0;
        let height = if slanted { 14.0 + longest * LETTER * 0.6 } else { 20.0 };
        Self { slanted, height }
    }

    fn draw(&self, text: &mut String, figure: &Figure) {
        let y = TOP + PLOT_HEIGHT + 15.0;
        for (place, tick) in figure.ticks.iter().enumerate() {
            let (x, tick) = (middle(figure, place), escaped(tick));
            let _ = if self.slanted {
                write!(
                    text,
                    "<text transform=\"translate({:.1} {y}) rotate(-36)\" \
                     text-anchor=\"end\">{tick}</text>",
                    x + 4.0
                )
            } else {
                write!(text, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{tick}</text>")
            };
        }
    }
}

/// The names of the series beside their colours.
struct Legend {
    text: String,
    height: f64,
}

fn legend(figure: &Figure) -> Legend {
    let mut text = String::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut entry = |class: &str, name: &str| {
        let width = 26.0 + name.chars().count() as f64 * LETTER;
        if x > 0.0 && x + width > plot_width() {
            x = 0.0;
            y += LEGEND_LINE;
        }
        let _ = write!(
            text,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            y + 2.0,
            x + 17.0,
            y + 12.0,
            escaped(name)
        );
        x += width + 10.0;
    };
    for (place, series) in figure.series.iter().enumerate() {
        entry(&class(place, series), &series.name);
    }
    if !figure.bands.is_empty() {
        entry("band", "printed in the paper");
    }
    Legend { text, height: y + LEGEND_LINE }
}
