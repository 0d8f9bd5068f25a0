//! The report: one page with every figure, which asks nothing of a network.

use std::fmt::Write as _;

use super::catalogue::Status;
use super::svg::escaped;
use super::{Reproduction, Trends, catalogue, explorer, html};
use strata_study::exact;

/// What a browser lets the page do: nothing that leaves it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' \
                      'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'";

/// The page.
pub fn page(of: &Reproduction) -> String {
    let mut text = html::beginning("the papers' figures remade", POLICY);
    header(&mut text, of);
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
    text.push_str(html::END);
    text
}

fn header(text: &mut String, of: &Reproduction) {
    let lead = format!(
        "<p>Strata {}, model {}; workloads at their {} \
         size. Lines and bars are ours, means over our workloads unless a workload is named; \
         bands and dashed or pale marks are what the papers print, of their own workloads. \
         Nothing is fitted to them.</p><p>Made by <code>strata reproduce {}</code>.</p>",
        env!("CARGO_PKG_VERSION"),
        strata_core::MODEL_VERSION,
        of.scale.name(),
        if of.papers.is_empty() {
            "explorer".to_owned()
        } else {
            format!("--scale {}", of.scale.name())
        },
    );
    let mut sections = Vec::new();
    sections.extend(of.explorer.as_ref().map(|_| ("explorer", "Explorer")));
    sections.extend(of.trends.as_ref().map(|_| ("claims", "Claims")));
    sections.extend(of.papers.iter().map(|(paper, _)| (paper.key.as_str(), paper.title.as_str())));
    sections.push(("contradictions", "Contradictions"));
    html::header(text, "The papers' figures, remade", &lead, &sections);
}

fn claims(text: &mut String, trends: &Trends) {
    let [ptx, scheduled, renamed] = trends.held();
    let _ = write!(
        text,
        "<section><h2 id=\"claims\">What the papers claim</h2><p>Of {} numbers in prose the trend \
         holds for {ptx} with instructions in the order of the PTX, {scheduled} scheduled and \
         {renamed} renamed as well. Where we differ, the entry of docs/DEVIATIONS.md says why.</p>",
        trends.claims().len()
    );
    let columns =
        ["claim", "paper", "printed", "ptx", "scheduled", "renamed", "difference", "trend", "why"];
    html::begin_table(text, "Claims", columns);
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
    html::end_table(text);
    text.push_str("</section>");
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
                            html::figure(text, panel, &format!("{id}-{at}"));
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
    text.push_str("<h3>Tables that come out exactly, and what is not produced</h3>");
    html::begin_table(text, "Not drawn", ["label", "shows", "here"]);
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
    html::end_table(text);
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
            "<details id=\"exact-{}\"><summary>{}: {}</summary><p>{}</p>",
            escaped(&one.id),
            escaped(&one.id),
            if one.status == exact::Status::Pass { "agrees" } else { "does not agree" },
            escaped(&one.what)
        );
        html::begin_table(text, "Exact", ["number", "computed", "printed"]);
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
        html::end_table(text);
        text.push_str("</details>");
    }
    text.push_str("</section>");
}
