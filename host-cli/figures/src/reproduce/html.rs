//! HTML: the parts that every page of ours is made of.
//!
//! A page is one file, asks nothing of a network, is light or dark as its reader wants, and has the
//! numbers behind each chart as a table. What scrolls can be reached by keys.

use std::fmt::Write as _;

use super::figure::{DECIMALS, Figure};
use super::svg::{self, escaped};
use strata_files::output::Kind;

const STYLE: &str = include_str!("html.css");

/// How a page begins.
pub const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
                        <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
                        <meta name=\"color-scheme\" content=\"light dark\">\
                        <meta name=\"generator\" content=\"Strata\">";

/// A page, as an output.
pub const KIND: Kind = Kind { name: "a page of Strata", begins: HEAD.as_bytes() };

/// What a browser lets a page do that runs no script: nothing but to be styled.
pub const NO_SCRIPT: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// How a page ends.
pub const END: &str = "</main></body></html>\n";

/// A page up to its body. `policy` is what a browser lets it do.
pub fn beginning(title: &str, policy: &str) -> String {
    format!(
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><title>Strata: \
         {}</title><style>{STYLE}{}</style></head><body>",
        escaped(title),
        svg::STYLE,
    )
}

/// The head of a page with sections: a link past it, the title, `lead` as it stands, and a link to
/// each section by its id and name. `<main>` is open after it.
pub fn header(text: &mut String, title: &str, lead: &str, sections: &[(&str, &str)]) {
    let _ = write!(
        text,
        "<a class=\"skip\" href=\"#content\">Skip to the content</a><header>\
         <h1>{}</h1>{lead}</header><nav aria-label=\"Sections\"><ul>",
        escaped(title)
    );
    for (id, name) in sections {
        let _ = write!(text, "<li><a href=\"#{id}\">{}</a></li>", escaped(name));
    }
    text.push_str("</ul></nav><a id=\"content\"></a><main>");
}

/// A page with one figure, which runs no script.
pub fn single(panel: &Figure) -> String {
    let mut text = beginning(&panel.title, NO_SCRIPT);
    let _ = write!(text, "<main><h1>{}</h1>", escaped(&panel.title));
    figure(&mut text, panel, "figure");
    text.push_str(END);
    text
}

/// A panel: the chart, how to read it, what is printed, the command if it has one of its own, and
/// the numbers as a table.
pub fn figure(text: &mut String, panel: &Figure, id: &str) {
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
    if !panel.command.is_empty() {
        let _ = write!(text, "<p>Again: <code>{}</code></p>", escaped(&panel.command));
    }
    numbers(text, panel);
    text.push_str("</figure>");
}

fn numbers(text: &mut String, panel: &Figure) {
    let _ = write!(
        text,
        "<details><summary>Numbers of \u{201c}{}\u{201d}</summary>",
        escaped(&panel.title)
    );
    let names = panel.series.iter().map(|series| series.name.as_str());
    begin_table(text, "Numbers", [panel.x.as_str()].into_iter().chain(names));
    for (place, tick) in panel.ticks.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(tick));
        for series in &panel.series {
            let value = series.values.get(place).copied().flatten();
            let value = value.map_or_else(String::new, |value| format!("{value:.DECIMALS$}"));
            let _ = write!(text, "<td class=\"number\">{value}</td>");
        }
        text.push_str("</tr>");
    }
    end_table(text);
    text.push_str("</details>");
}

/// A table up to its first row, in a region of this name that scrolls where the table is wider than
/// the page.
pub fn begin_table<'a>(text: &mut String, name: &str, columns: impl IntoIterator<Item = &'a str>) {
    let _ = write!(
        text,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{}\"><table><thead><tr>",
        escaped(name)
    );
    for column in columns {
        let _ = write!(text, "<th scope=\"col\">{}</th>", escaped(column));
    }
    text.push_str("</tr></thead><tbody>");
}

/// The end of a table that [`begin_table`] began.
pub fn end_table(text: &mut String) {
    text.push_str("</tbody></table></div>");
}
