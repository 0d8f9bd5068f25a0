//! Report page: a user's own runs as one page that needs nothing else.
//!
//! [`input`] reads what `strata run`, `strata inspect --profile` and `strata run --timeline` wrote,
//! and tells them apart by what they hold. [`run`] and [`profile`] are what the page shows of
//! reports, [`timeline`] what it shows of warps in time; [`sections`], [`heat`] and [`strip`] draw
//! them with the charts and tables of [`crate::reproduce::html`].

mod heat;
mod input;
mod profile;
mod run;
mod sections;
mod source;
mod strip;
mod timeline;

use crate::reproduce::html;
use crate::reproduce::svg::escaped;

pub use input::Inputs;

/// The page. `command` makes it again.
pub fn page(inputs: &Inputs, command: &str) -> String {
    let lead = format!(
        "<p>Strata {}, model {}.</p><p>Made by <code>{}</code>.</p>",
        env!("CARGO_PKG_VERSION"),
        strata_core::MODEL_VERSION,
        escaped(command)
    );
    let mut text = html::beginning("your runs", html::NO_SCRIPT);
    let mut body = String::new();
    let mut links = sections::write(&mut body, &inputs.runs);
    links.extend(heat::write(&mut body, &inputs.profiles, &inputs.sources));
    links.extend(strip::write(&mut body, &inputs.timelines));
    html::header(&mut text, "Your runs", &lead, &links);
    text.push_str(&body);
    text.push_str(html::END);
    text
}
