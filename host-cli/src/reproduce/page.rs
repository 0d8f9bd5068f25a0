//! The report: one page with every figure, which asks nothing of a network.

use std::fmt::Write as _;

use super::catalogue::Status;
use super::figure::{DECIMALS, Figure};
use super::svg::{self, escaped};
use super::{Reproduction, Trends, catalogue, explorer};
use crate::exact;

const STYLE: &str = include_str!("page.css");

/// What a browser lets the page do: nothing that leaves it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' \
                      'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'";

/// How a page begins.
pub const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
                        <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
                        <meta name=\"color-scheme\" content=\"light dark\">\
                        <meta name=\"generator\" content=\"Strata\">";

/// A page with one figure, which runs no script.
pub fn single(figure: &Figure) -> String {
    let mut text = format!(
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\"><title>Strata: {title}</title><style>{STYLE}{}</style></head>\
         <body><main><h1>{title}</h1>",
        svg::STYLE,
        title = escaped(&figure.title),
    );
    self::figure(&mut text, figure, "figure");
    text.push_str("</main></body></html>\n");
    text
}

/// The page.
pub fn page(of: &Reproduction) -> String {
    let mut text = format!(
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <title>Strata: the papers' figures remade</title><style>{STYLE}{}</style></head><body>",
        svg::STYLE
    );
    header(&mut text, of);
    text.push_str("<main>");
    if let Some(explorer) = &of.explorer {
        explorer::section::write(&mut text, explorer);
    }
    if let Some(trends) = &of.trends {
        claims(&mut text, trends);
    }
    for place in 0..of.papers.len() {
        paper(&mut text, of, place);
    }
    contradictions(&mut text);
    text.push_str("</main></body></html>\n");
    text
}

fn header(text: &mut String, of: &Reproduction) {
    let _ = write!(
        text,
        "<a class=\"skip\" href=\"#content\">Skip to the content</a><header>\
         <h1>The papers&#39; figures, remade</h1><p>Strata {}, model {}; workloads at their {} \
         size. Lines and bars are ours, means over our workloads unless a workload is named; \
         bands and dashed or pale marks are what the papers print, of their own workloads. \
         Nothing is fitted to them.</p><p>Made by <code>strata reproduce \
         {}</code>.</p></header><nav aria-label=\"Sections\"><ul>",
        env!("CARGO_PKG_VERSION"),
        strata_core::MODEL_VERSION,
        of.scale.name(),
        if of.papers.is_empty() {
            "explorer".to_owned()
        } else {
            format!("--scale {}", of.scale.name())
        },
    );
    if of.explorer.is_some() {
        text.push_str("<li><a href=\"#explorer\">Explorer</a></li>");
    }
    if of.trends.is_some() {
        text.push_str("<li><a href=\"#claims\">Claims</a></li>");
    }
    for (paper, _) in &of.papers {
        let _ = write!(text, "<li><a href=\"#{}\">{}</a></li>", paper.key, escaped(&paper.title));
    }
    text.push_str(
        "<li><a href=\"#contradictions\">Contradictions</a></li></ul></nav><a id=\"content\"></a>",
    );
}

fn claims(text: &mut String, trends: &Trends) {
    let [ptx, scheduled, renamed] = trends.held();
    let _ = write!(
        text,
        "<section><h2 id=\"claims\">What the papers claim</h2><p>Of {} numbers in prose the trend \
         holds for {ptx} with instructions in the order of the PTX, {scheduled} scheduled and \
         {renamed} renamed as well. Where we differ, the entry of docs/DEVIATIONS.md says why.</p>\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Claims\"><table><thead><tr>",
        trends.claims().len()
    );
    for name in
        ["claim", "paper", "printed", "ptx", "scheduled", "renamed", "difference", "trend", "why"]
    {
        let _ = write!(text, "<th scope=\"col\">{name}</th>");
    }
    text.push_str("</tr></thead><tbody>");
    for (place, claim) in trends.claims().iter().enumerate() {
        let holding = trends.holding(place);
        let (class, told) = match holding.len() {
            3 => ("yes", "holds".to_owned()),
            0 => ("no", "does not hold".to_owned()),
            _ => ("partly", format!("holds {}", holding.join(", "))),
        };
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>",
            escaped(claim.what),
            claim.paper,
            escaped(claim.printed)
        );
        for number in trends.numbers(place) {
            let _ = write!(text, "<td class=\"number\">{number}</td>");
        }
        let _ = write!(
            text,
            "<td class=\"number\">{}</td><td class=\"{class}\">{told}</td><td>{}</td></tr>",
            trends.difference(place),
            claim.deviation.unwrap_or("")
        );
    }
    text.push_str("</tbody></table></div></section>");
}

fn paper(text: &mut String, of: &Reproduction, place: usize) {
    let (paper, entries) = &of.papers[place];
    let _ = write!(
        text,
        "<section><h2 id=\"{}\">{}</h2><p>Paper <code>{}</code>.</p>",
        paper.key,
        escaped(&paper.title),
        paper.key
    );
    let mut others = Vec::new();
    for entry in entries {
        match entry.status() {
            Status::Drawn(id) => {
                let anchor = format!("{}-{}", paper.key, entry.label.replace([' ', '.'], "-"));
                let _ = write!(
                    text,
                    "<article><h3 id=\"{anchor}\">{}: {}</h3>",
                    escaped(&entry.label),
                    escaped(&entry.shows)
                );
                match first_place(of, id) {
                    Some(first) if first != (place, entry.label.as_str()) => {
                        let (paper, _) = &of.papers[first.0];
                        let _ = write!(
                            text,
                            "<p>The same as <a href=\"#{}-{}\">{} of {}</a>.</p>",
                            paper.key,
                            first.1.replace([' ', '.'], "-"),
                            first.1,
                            paper.key
                        );
                    }
                    _ => {
                        for (at, panel) in of.panels(id).iter().enumerate() {
                            figure(text, panel, &format!("{id}-{at}"));
                        }
                    }
                }
                text.push_str("</article>");
            }
            status => others.push((entry, status)),
        }
    }
    not_drawn(text, &others);
    text.push_str("</section>");
}

/// Where a plate stands for the first time: the paper's place and the label.
fn first_place<'a>(of: &'a Reproduction, id: &str) -> Option<(usize, &'a str)> {
    of.papers.iter().enumerate().find_map(|(place, (_, entries))| {
        let mut drawn = entries.iter().filter(|entry| entry.status() == Status::Drawn(id));
        drawn.next().map(|entry| (place, entry.label.as_str()))
    })
}

fn not_drawn(text: &mut String, others: &[(&&catalogue::Entry, Status<'_>)]) {
    if others.is_empty() {
        return;
    }
    text.push_str(
        "<h3>Tables that come out exactly, and what is not produced</h3>\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Not \
         drawn\"><table><thead><tr><th scope=\"col\">label</th><th scope=\"col\">shows</th><th \
         scope=\"col\">here</th></tr></thead><tbody>",
    );
    for (entry, status) in others {
        let told = match status {
            Status::Exact(id) => format!("exact, see <a href=\"#exact-{id}\">{id}</a>"),
            Status::Absent(why) => format!("not produced, because: {}", escaped(why)),
            Status::Drawn(_) => continue,
        };
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{told}</td></tr>",
            escaped(&entry.label),
            escaped(&entry.shows)
        );
    }
    text.push_str("</tbody></table></div>");
}

/// A panel: the chart, how to read it, what is printed, the command, and the numbers as a table.
fn figure(text: &mut String, panel: &Figure, id: &str) {
    let _ = write!(
        text,
        "<figure><figcaption><strong>{}</strong></figcaption>{}<p>{}</p>",
        escaped(&panel.title),
        svg::chart(panel, id),
        escaped(&panel.reading)
    );
    if !panel.bands.is_empty() {
        text.push_str("<ul class=\"printed\">");
        for band in &panel.bands {
            let _ =
                write!(text, "<li>In print, {}: {}</li>", escaped(&band.what), escaped(&band.text));
        }
        text.push_str("</ul>");
    }
    let _ = write!(text, "<p>Again: <code>{}</code></p>", escaped(&panel.command));
    table(text, panel);
    text.push_str("</figure>");
}

fn table(text: &mut String, panel: &Figure) {
    let _ = write!(
        text,
        "<details><summary>Numbers of \u{201c}{}\u{201d}</summary><div class=\"wide\" \
         tabindex=\"0\" role=\"region\" aria-label=\"Numbers\"><table><thead><tr><th \
         scope=\"col\">{}</th>",
        escaped(&panel.title),
        escaped(&panel.x)
    );
    for series in &panel.series {
        let _ = write!(text, "<th scope=\"col\">{}</th>", escaped(&series.name));
    }
    text.push_str("</tr></thead><tbody>");
    for (place, tick) in panel.ticks.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(tick));
        for series in &panel.series {
            let value = series.values.get(place).copied().flatten();
            let value = value.map_or_else(String::new, |value| format!("{value:.DECIMALS$}"));
            let _ = write!(text, "<td class=\"number\">{value}</td>");
        }
        text.push_str("</tr>");
    }
    text.push_str("</tbody></table></div></details>");
}

/// What follows from the papers' parameters, and what they contradict.
fn contradictions(text: &mut String) {
    text.push_str(
        "<section><h2 id=\"contradictions\">Where the papers contradict themselves</h2><p>What is \
         printed, and what follows from the papers&#39; own parameters. docs/DEVIATIONS.md says \
         how ours decides.</p>",
    );
    for one in exact::inconsistencies() {
        let _ = write!(
            text,
            "<h3>{}</h3><dl><dt>printed</dt><dd>{}</dd><dt>computed</dt><dd>",
            escaped(&one.id),
            escaped(&one.printed)
        );
        let numbers = one.computed.unwrap_or_default();
        let numbers: Vec<String> = numbers
            .iter()
            .map(|(label, number)| format!("{}: {}", escaped(label), escaped(number)))
            .collect();
        let _ = write!(text, "{}</dd></dl>", numbers.join("; "));
    }
    text.push_str(
        "</section><section><h2 id=\"exact\">What comes out exactly</h2>\
         <p>The same as <code>strata exact</code>.</p>",
    );
    for one in exact::evaluate() {
        let _ = write!(
            text,
            "<details id=\"exact-{}\"><summary>{}: {}</summary><p>{}</p>\
             <div class=\"wide\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Exact\"><table><thead><tr><th scope=\"col\">number</th><th \
             scope=\"col\">computed</th><th scope=\"col\">printed</th></tr></thead><tbody>",
            escaped(&one.id),
            escaped(&one.id),
            if one.status == exact::Status::Pass { "agrees" } else { "does not agree" },
            escaped(&one.what)
        );
        for item in &one.items {
            let _ = write!(
                text,
                "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td \
                 class=\"number\">{}</td></tr>",
                escaped(&item.label),
                escaped(&item.computed),
                escaped(&item.printed)
            );
        }
        text.push_str("</tbody></table></div></details>");
    }
    text.push_str("</section>");
}
