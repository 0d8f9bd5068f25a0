//! Section: the explorer's place on the page, with all that it needs inlined.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::controls::{CONTROLS, Control, Kind, LEVELS};
use super::{Explorer, MOST_BYTES, SCALE};
use crate::reproduce::svg::escaped;

/// What runs in the browser.
const SCRIPT: &str = include_str!("../explorer.js");

/// The workload at first: divergent, in time not worth a notice.
const FIRST: &str = "bfs";

/// Rows of the table: the name that counters and energies begin with, and what is shown.
const ROWS: [(&str, &str); 5] =
    [("mrf", "main"), ("rfc", "RFC"), ("lrf", "LRF"), ("orf", "ORF"), ("writeback", "moves")];

/// The section, at the end of `text`.
pub fn write(text: &mut String, explorer: &Explorer) {
    let _ = write!(
        text,
        "<section><h2 id=\"explorer\">Explorer</h2><p>Choose a workload and a design: your \
         browser counts its accesses as <code>strata run</code> does, with the same core. \
         Nothing is sent anywhere. Workloads have their {} size here, whatever that of the \
         figures.{} RFC is a register file cache, LRF a last result file, ORF an operand register \
         file.</p><p id=\"explorer-absent\">This section needs JavaScript and \
         WebAssembly, which are off or not there.</p>",
        SCALE.name(),
        left_out(explorer)
    );
    form(text, explorer);
    result(text);
    for (id, bytes) in [("module", &explorer.module), ("catalogue", &explorer.catalogue)] {
        data(text, id, bytes);
    }
    for packed in &explorer.inputs {
        if let Some(input) = &packed.input {
            data(text, &format!("input-{}", packed.workload), input);
        }
    }
    let _ = write!(text, "</section><script>{SCRIPT}</script>");
}

/// Which workloads are too large, in a sentence.
fn left_out(explorer: &Explorer) -> String {
    let absent = explorer.inputs.iter().filter(|packed| packed.input.is_none());
    let absent: Vec<&str> = absent.map(|packed| packed.workload).collect();
    if absent.is_empty() {
        return String::new();
    }
    format!(
        " Left out, because each would add more than {} KB to the page: {}.",
        MOST_BYTES / 1024,
        absent.join(", ")
    )
}

/// Bytes that the script unpacks.
fn data(text: &mut String, id: &str, bytes: &[u8]) {
    let _ = write!(
        text,
        "<script type=\"application/octet-stream\" id=\"explorer-{id}\">{}</script>",
        STANDARD.encode(bytes)
    );
}

fn form(text: &mut String, explorer: &Explorer) {
    text.push_str(
        "<form id=\"explorer-form\" hidden><div class=\"controls\"><div><label \
         for=\"explorer-workload\">Workload</label><select id=\"explorer-workload\" \
         autocomplete=\"off\">",
    );
    for packed in explorer.inputs.iter().filter(|packed| packed.input.is_some()) {
        let selected = if packed.workload == FIRST { " selected" } else { "" };
        let _ = write!(
            text,
            "<option value=\"{0}\"{selected}>{0} ({1})</option>",
            packed.workload,
            SCALE.name()
        );
    }
    text.push_str("</select></div>");
    for (place, one) in CONTROLS.iter().enumerate() {
        control(text, one, place == LEVELS);
    }
    text.push_str("</div></form>");
}

fn control(text: &mut String, control: &Control, levels: bool) {
    let Control { id, label, kind, first, applies, choices } = *control;
    let role = if levels { "levels" } else { "choice" };
    let _ = write!(text, "<div><label for=\"explorer-{id}\">{}</label>", escaped(label));
    let common = format!("id=\"explorer-{id}\" data-{role}=\"{applies}\" autocomplete=\"off\"");
    match kind {
        Kind::List => {
            let _ = write!(text, "<select {common}>");
            for (place, (shown, _)) in choices.iter().enumerate() {
                let selected = if place == first { " selected" } else { "" };
                let _ =
                    write!(text, "<option value=\"{place}\"{selected}>{}</option>", escaped(shown));
            }
            text.push_str("</select></div>");
        }
        Kind::Slider => {
            let shown: Vec<String> = choices.iter().map(|(shown, _)| escaped(shown)).collect();
            let _ = write!(
                text,
                "<div class=\"slider\"><input type=\"range\" {common} min=\"0\" max=\"{}\" \
                 step=\"1\" value=\"{first}\" data-shown=\"{}\"><output \
                 id=\"explorer-{id}-shown\" for=\"explorer-{id}\">{}</output></div></div>",
                choices.len() - 1,
                shown.join("|"),
                shown[first]
            );
        }
    }
}

/// Where the answer goes; the script fills it in.
fn result(text: &mut String) {
    text.push_str(
        "<div id=\"explorer-answer\" hidden><p id=\"explorer-result\" aria-live=\"polite\"></p>\
         <p>Again: <code id=\"explorer-command\"></code></p><div id=\"explorer-numbers\"><svg \
         id=\"explorer-bar\" class=\"chart\" viewBox=\"0 0 640 30\" \
         preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\"></svg><div \
         class=\"wide\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Accesses and energy by level\"><table><thead><tr>",
    );
    let heads =
        ["level", "reads", "writes", "banks, nJ", "wires, nJ", "together, nJ", "percent of flat"];
    for head in heads {
        let _ = write!(text, "<th scope=\"col\">{head}</th>");
    }
    text.push_str("</tr></thead><tbody>");
    for (place, (name, shown)) in ROWS.iter().enumerate() {
        let _ = write!(
            text,
            "<tr data-level=\"{name}\"><th scope=\"row\"><svg class=\"swatch\" viewBox=\"0 0 10 \
             10\" aria-hidden=\"true\"><rect class=\"c{place}\" width=\"10\" \
             height=\"10\"/></svg>{shown}</th>{}</tr>",
            "<td class=\"number\"></td>".repeat(heads.len() - 1)
        );
    }
    let _ = write!(
        text,
        "<tr data-level=\"total\"><th scope=\"row\">together</th>{}</tr></tbody></table></div>\
         <p>Reads and writes are accesses of a warp&#39;s register: reads by instructions, writes \
         with what moves into a level. Moves are evictions and writebacks from level to level. \
         The line behind the bar is the energy of the flat main register file, 100 \
         percent.</p><details><summary>All counters and energies</summary><p>Digest of the \
         counters: <code id=\"explorer-digest\"></code></p><div class=\"wide\" tabindex=\"0\" \
         role=\"region\" aria-label=\"All counters and energies\"><table><thead><tr><th \
         scope=\"col\">name</th><th scope=\"col\">number</th></tr></thead><tbody \
         id=\"explorer-all\"></tbody></table></div></details></div></div>",
        "<td class=\"number\"></td>".repeat(heads.len() - 1)
    );
}
