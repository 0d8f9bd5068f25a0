//! Heat: what each line of code costs, as a colour beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::profile::{Measure, Profile, Row};
use super::source::Sources;
use crate::reproduce::html::{begin_table, end_table};
use crate::reproduce::svg::escaped;

/// Writes the section of all profiles. Returns its link.
pub(super) fn write(
    text: &mut String,
    profiles: &[Profile],
    sources: &Sources,
) -> Option<(&'static str, &'static str)> {
    if profiles.is_empty() {
        return None;
    }
    text.push_str("<section><h2 id=\"lines\">What each line costs</h2>");
    for profile in profiles {
        one(text, profile, sources);
    }
    text.push_str("</section>");
    Some(("lines", "Lines"))
}

/// A number of lines, of which the largest has the full colour.
#[derive(Clone, Copy)]
struct Scale {
    measure: Measure,
    total: u64,
    most: u64,
}

impl Scale {
    fn percent(self, value: u64) -> f64 {
        if self.total == 0 { 0.0 } else { value as f64 / self.total as f64 * 100.0 }
    }

    /// Colour, share, number.
    fn cells(self, text: &mut String, value: u64) {
        let opacity = if self.most == 0 { 0.0 } else { value as f64 / self.most as f64 };
        let _ = write!(
            text,
            "<td class=\"heat\"><i style=\"opacity:{opacity:.3}\"></i></td><td \
             class=\"number\">{:.2}</td><td class=\"number\">{value}</td>",
            self.percent(value)
        );
    }
}

fn one(text: &mut String, profile: &Profile, sources: &Sources) {
    let Profile { tool, command, workload, design, mode, total, lines, lines_total, .. } = profile;
    let measure = profile.measure();
    let most = lines.iter().map(|line| measure.of(&line.cost)).max().unwrap_or(0);
    let scale = Scale { measure, total: measure.of(total), most };
    let left_out = lines_total - lines.len() as u64;
    let left_out = match left_out {
        0 => String::new(),
        _ => format!(" The profile leaves out {left_out} of {lines_total} lines."),
    };
    let _ = write!(
        text,
        "<article><h3>{}, {}, {mode} mode</h3><p>The colour is {}: the full colour is that of the \
         dearest line, {:.2} % of {}.{left_out}</p><p>Made by <code>{}</code> ({} {}).</p>",
        escaped(workload),
        escaped(design),
        measure.name(),
        scale.percent(most),
        scale.total,
        escaped(command),
        escaped(&tool.name),
        escaped(&tool.version)
    );
    for kernel in &profile.kernels {
        let own: Vec<&Row> = lines.iter().filter(|line| line.kernel == kernel.kernel).collect();
        let launches = match kernel.launches {
            1 => "1 launch".to_owned(),
            several => format!("{several} launches"),
        };
        let _ = write!(text, "<h4>{}: {launches}</h4>", escaped(&kernel.kernel));
        of_kernel(text, &kernel.kernel, own, scale);
    }
    of_cuda(text, profile, sources, scale);
    text.push_str("</article>");
}

/// The lines of PTX of a kernel, in the order of the file.
fn of_kernel(text: &mut String, kernel: &str, mut lines: Vec<&Row>, scale: Scale) {
    lines.sort_by_key(|line| line.ptx_line);
    let stalls = scale.measure == Measure::Stalls;
    let executions = scale.measure != Measure::Executions;
    let cuda = lines.iter().any(|line| line.cuda_line.is_some());
    let mut columns = vec!["heat", "%", scale.measure.column()];
    columns.extend(executions.then_some("executions"));
    columns.extend(stalls.then_some("mostly"));
    columns.push("line");
    columns.extend(cuda.then_some("CUDA"));
    columns.push("PTX");
    begin_lines(text, &format!("Lines of {kernel}"), &columns);
    for line in lines {
        text.push_str("<tr>");
        scale.cells(text, scale.measure.of(&line.cost));
        if executions {
            let _ = write!(text, "<td class=\"number\">{}</td>", line.cost.executions);
        }
        if stalls {
            let _ = write!(text, "<td>{}</td>", escaped(line.cost.mostly()));
        }
        let _ = write!(text, "<th scope=\"row\" class=\"number\">{}</th>", line.ptx_line);
        if cuda {
            let place = line.cuda_file.as_deref().zip(line.cuda_line);
            let place = place.map_or_else(String::new, |(file, line)| short(file, line));
            let _ = write!(text, "<td>{}</td>", escaped(&place));
        }
        let _ = write!(text, "<td><code>{}</code></td></tr>", escaped(&line.ptx));
    }
    end_lines(text);
}

/// The last part of a file's name, and a line.
fn short(file: &str, line: u32) -> String {
    format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file))
}

/// The lines of CUDA, each with all lines of PTX that it became, in all kernels.
fn of_cuda(text: &mut String, profile: &Profile, sources: &Sources, scale: Scale) {
    let mut sums = BTreeMap::<&str, BTreeMap<u32, u64>>::new();
    for line in &profile.lines {
        let Some((file, number)) = line.cuda_file.as_deref().zip(line.cuda_line) else { continue };
        let sum = sums.entry(file).or_default().entry(number).or_default();
        // The check has found that all together fit.
        *sum = sum.saturating_add(scale.measure.of(&line.cost));
    }
    for (file, lines) in sums {
        let most = lines.values().copied().max().unwrap_or(0);
        let scale = Scale { most, ..scale };
        let _ = write!(
            text,
            "<h4>{}</h4><p>Each line with all lines of PTX that it became; the full colour is \
             {:.2} %.</p>",
            escaped(file),
            scale.percent(most)
        );
        let mut columns = vec!["heat", "%", scale.measure.column(), "line"];
        columns.extend(sources.has(file).then_some("CUDA"));
        begin_lines(text, &format!("Lines of {file}"), &columns);
        for (line, value) in lines {
            text.push_str("<tr>");
            scale.cells(text, value);
            let _ = write!(text, "<th scope=\"row\" class=\"number\">{line}</th>");
            if let Some(code) = sources.line(file, line) {
                let _ = write!(text, "<td><code>{}</code></td>", escaped(code));
            }
            text.push_str("</tr>");
        }
        end_lines(text);
    }
}

fn begin_lines(text: &mut String, name: &str, columns: &[&str]) {
    text.push_str("<div class=\"lines\">");
    begin_table(text, name, columns.iter().copied());
}

fn end_lines(text: &mut String) {
    end_table(text);
    text.push_str("</div>");
}
