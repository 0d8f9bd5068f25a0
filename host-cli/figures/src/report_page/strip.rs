//! Strip: a timeline as a small picture, warps from above to below, cycles from left to right.

use std::fmt::Write as _;
use std::ops::Range;

use strata_core::sm::WarpPhase;

use super::timeline::{Place, State, Timeline};
use crate::reproduce::html::{begin_table, end_table};
use crate::reproduce::svg::escaped;

/// Columns of the picture at most.
const COLUMNS: u64 = 170;
/// Size of the picture. Unit: pixels.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
/// The strip of the issue slots.
const SLOTS_HEIGHT: f64 = 40.0;
const GAP: f64 = 10.0;

/// What states with one colour are called, by the place of the colour.
const GROUPS: [&str; 8] = [
    "issues",
    "waits for a result of a unit, or a branch",
    "ready, or issues in the next cycle",
    "at a barrier",
    "waits for memory",
    "outside the active set, waits",
    "outside the active set, can return",
    "moves registers, or ends",
];

/// The place of a state's colour.
const fn group(state: State) -> usize {
    use WarpPhase::{
        Arithmetic, Barrier, Branch, Drain, Ended, Flush, InOrder, LongLatency, Outside,
        OutsideBarrier, Prefetch, Ready, Returnable, ShortMemory, SpecialFunction,
    };
    match state {
        State::Issues => 0,
        State::Stands(Branch | Arithmetic | SpecialFunction) => 1,
        State::Stands(Ready | InOrder) => 2,
        State::Stands(Barrier | OutsideBarrier) => 3,
        State::Stands(ShortMemory | LongLatency) => 4,
        State::Stands(Outside) => 5,
        State::Stands(Returnable) => 6,
        State::Stands(Prefetch | Flush | Drain | Ended) => 7,
    }
}

/// All states, in the order in which tables show them.
fn states() -> impl Iterator<Item = State> {
    [State::Issues].into_iter().chain(WarpPhase::ALL.map(State::Stands))
}

/// Writes the section of all timelines. Returns its link.
pub(super) fn write(
    text: &mut String,
    timelines: &[Timeline],
) -> Option<(&'static str, &'static str)> {
    if timelines.is_empty() {
        return None;
    }
    text.push_str("<section><h2 id=\"time\">Warps in time</h2>");
    for (place, timeline) in timelines.iter().enumerate() {
        one(text, timeline, place);
    }
    text.push_str("</section>");
    Some(("time", "Time"))
}

/// The columns of a picture: as many cycles in each, but for the last.
struct Columns {
    cycles: Range<u64>,
    width: u64,
}

impl Columns {
    fn of(cycles: &Range<u64>) -> Self {
        let width = (cycles.end - cycles.start).div_ceil(COLUMNS).max(1);
        Self { cycles: cycles.clone(), width }
    }

    fn count(&self) -> usize {
        (self.cycles.end - self.cycles.start).div_ceil(self.width) as usize
    }

    /// Where a cycle is on the page.
    fn x(&self, cycle: u64) -> f64 {
        let share =
            (cycle - self.cycles.start) as f64 / (self.cycles.end - self.cycles.start) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * share
    }

    /// The cycles of a column.
    fn cycles(&self, column: usize) -> Range<u64> {
        let first = self.cycles.start + column as u64 * self.width;
        first..(first + self.width).min(self.cycles.end)
    }

    /// Calls `add` with each column that some cycles lie in, and how many of them.
    fn spread(&self, cycles: &Range<u64>, mut add: impl FnMut(usize, u64)) {
        let mut first = cycles.start;
        while first < cycles.end {
            let column = ((first - self.cycles.start) / self.width) as usize;
            let end = self.cycles(column).end.min(cycles.end);
            add(column, end - first);
            first = end;
        }
    }

    /// The cycles of a place in each group, by column.
    fn of_place(&self, place: &Place) -> Vec<[u64; GROUPS.len()]> {
        let mut all = vec![[0; GROUPS.len()]; self.count()];
        for slice in &place.slices {
            self.spread(&slice.cycles, |column, cycles| {
                all[column][group(slice.state)] += cycles;
            });
        }
        all
    }

    /// The group of each column in which the place is longest; none where no warp is longer.
    fn shown(&self, place: &Place) -> Vec<Option<usize>> {
        let most = |(column, groups): (usize, [u64; GROUPS.len()])| {
            let cycles = self.cycles(column);
            let empty = (cycles.end - cycles.start) - groups.iter().sum::<u64>();
            let (mut shown, mut longest) = (None, empty);
            for (group, cycles) in groups.into_iter().enumerate() {
                if cycles > longest {
                    (shown, longest) = (Some(group), cycles);
                }
            }
            shown
        };
        self.of_place(place).into_iter().enumerate().map(most).collect()
    }
}

fn one(text: &mut String, timeline: &Timeline, place: usize) {
    let about = &timeline.about;
    let title =
        format!("{}, {}: launch {} of {}", about.input, about.design, about.launch, about.kernel);
    let columns = Columns::of(&about.drawn);
    let Range { start, end } = about.drawn;
    let reading = format!(
        "Cycles {start} to {end} of a launch of {} (grid {}, block {}), {} in each column, by \
         {}. Above, how much of the issue slots is used; below, a row for each place of a resident \
         warp. A column has the colour of what the warp does longest in it, and none where the \
         place is empty for longer: the table has every cycle.",
        about.all.end, about.grid, about.block, columns.width, about.tool
    );
    let _ = write!(
        text,
        "<figure><figcaption><strong>{}</strong></figcaption>{}<p>{}</p>",
        escaped(&title),
        picture(timeline, &columns, &format!("time-{place}"), [&title, &reading]),
        escaped(&reading)
    );
    legend(text, timeline);
    numbers(text, timeline);
    text.push_str("</figure>");
}

/// Cycles in each state, of one place or all.
fn sums<'p>(places: impl Iterator<Item = &'p Place>) -> Vec<(State, u64)> {
    let mut sums: Vec<(State, u64)> = states().map(|state| (state, 0)).collect();
    for slice in places.flat_map(|place| &place.slices) {
        let cycles = slice.cycles.end - slice.cycles.start;
        sums.iter_mut().filter(|(state, _)| *state == slice.state).for_each(|(_, sum)| {
            *sum += cycles;
        });
    }
    sums
}

fn picture(timeline: &Timeline, columns: &Columns, id: &str, told: [&str; 2]) -> String {
    let places: Vec<&Place> = timeline.tracks.places.values().collect();
    let row = (240.0 / places.len().max(1) as f64).clamp(6.0, 24.0);
    let top = SLOTS_HEIGHT + GAP;
    let bottom = top + row * places.len() as f64;
    let height = bottom + 36.0;
    let mut text = format!(
        "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} \
         {height:.1}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title \
         id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
        escaped(told[0]),
        escaped(told[1])
    );
    slots(&mut text, timeline, columns);
    let mut paths: [String; GROUPS.len()] = Default::default();
    for (place, of) in places.iter().enumerate() {
        runs(columns, &columns.shown(of), |group, from, until| {
            let _ = write!(
                paths[group],
                "M{from:.1} {:.1}H{until:.1}v{:.1}H{from:.1}z",
                top + row * place as f64,
                row * 0.9
            );
        });
    }
    for (group, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let name = GROUPS[group];
        let _ = write!(
            text,
            "<path class=\"c{group}\" style=\"stroke:none\" \
             d=\"{path}\"><title>{name}</title></path>"
        );
    }
    // As many names as there is room for.
    let every = (14.0 / row).ceil() as usize;
    for (place, of) in places.iter().enumerate().step_by(every.max(1)) {
        let y = top + row * (place as f64 + 0.5) + 4.0;
        let name = of.name.rsplit(' ').next().unwrap_or(&of.name);
        let _ = write!(
            text,
            "<text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            escaped(name)
        );
    }
    time(&mut text, columns, bottom);
    text.push_str("</svg>");
    text
}

/// Calls `draw` with each group and the ends of its columns, those beside each other together.
fn runs(columns: &Columns, shown: &[Option<usize>], mut draw: impl FnMut(usize, f64, f64)) {
    let mut first = 0;
    while first < shown.len() {
        let same = shown[first..].iter().take_while(|group| **group == shown[first]).count();
        if let Some(group) = shown[first] {
            let [from, until] = [
                columns.x(columns.cycles(first).start),
                columns.x(columns.cycles(first + same - 1).end),
            ];
            draw(group, from, until);
        }
        first += same;
    }
}

/// How much of the issue slots each column uses.
fn slots(text: &mut String, timeline: &Timeline, columns: &Columns) {
    let mut issued = vec![0_u64; columns.count()];
    for slice in timeline.tracks.places.values().flat_map(|place| &place.slices) {
        if slice.state == State::Issues {
            columns.spread(&slice.cycles, |column, cycles| issued[column] += cycles);
        }
    }
    let slots = u64::from(timeline.tracks.slots);
    let mut path = String::new();
    for (column, issued) in issued.into_iter().enumerate() {
        let cycles = columns.cycles(column);
        let share = issued as f64 / ((cycles.end - cycles.start) * slots) as f64;
        let [from, until] = [columns.x(cycles.start), columns.x(cycles.end)];
        let _ = write!(
            path,
            "M{from:.1} {SLOTS_HEIGHT}V{:.1}H{until:.1}V{SLOTS_HEIGHT}z",
            SLOTS_HEIGHT * (1.0 - share.min(1.0))
        );
    }
    let _ = write!(
        text,
        "<path class=\"c0\" style=\"stroke:none\" d=\"{path}\"><title>issue slots in \
         use</title></path><line class=\"axis\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{SLOTS_HEIGHT}\" \
         y2=\"{SLOTS_HEIGHT}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">slots</text>",
        WIDTH - RIGHT,
        LEFT - 6.0,
        SLOTS_HEIGHT / 2.0 + 4.0
    );
}

/// The axis of time.
fn time(text: &mut String, columns: &Columns, bottom: f64) {
    let Range { start, end } = columns.cycles;
    let quarter = |part: u64| start + (end - start) / 4 * part;
    let mut ticks = vec![start, quarter(1), quarter(2), quarter(3), end];
    ticks.dedup();
    for tick in ticks {
        let anchor = if tick == end { "end" } else { "middle" };
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{tick}</text>",
            columns.x(tick),
            bottom + 14.0
        );
    }
    let _ =
        write!(text, "<text x=\"{LEFT}\" y=\"{:.1}\">cycle of the launch</text>", bottom + 30.0);
}

/// What the colours are, and how many cycles each stands for.
fn legend(text: &mut String, timeline: &Timeline) {
    let sums = sums(timeline.tracks.places.values());
    let all: u64 = sums.iter().map(|(_, cycles)| cycles).sum();
    begin_table(text, "Legend", ["colour", "a warp", "as timelines name it", "warp cycles", "%"]);
    for (place, name) in GROUPS.iter().enumerate() {
        let own = sums.iter().filter(|(state, cycles)| group(*state) == place && *cycles > 0);
        let names: Vec<&str> = own.clone().map(|(state, _)| state.name()).collect();
        let cycles: u64 = own.map(|(_, cycles)| cycles).sum();
        if cycles == 0 {
            continue;
        }
        let _ = write!(
            text,
            "<tr><td><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect \
             class=\"c{place}\" width=\"10\" height=\"10\"/></svg></td><th \
             scope=\"row\">{name}</th><td>{}</td><td class=\"number\">{cycles}</td><td \
             class=\"number\">{:.2}</td></tr>",
            names.join("; "),
            cycles as f64 / all as f64 * 100.0
        );
    }
    end_table(text);
}

/// The cycles of every place in every state that occurs.
fn numbers(text: &mut String, timeline: &Timeline) {
    let all = sums(timeline.tracks.places.values());
    let occurs: Vec<State> =
        all.iter().filter(|(_, cycles)| *cycles > 0).map(|(state, _)| *state).collect();
    text.push_str("<details><summary>Cycles of each warp</summary>");
    let names = occurs.iter().map(|state| state.name());
    begin_table(text, "Cycles of each warp", ["place"].into_iter().chain(names));
    let mut row = |name: &str, sums: &[(State, u64)]| {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(name));
        for (_, cycles) in sums.iter().filter(|(state, _)| occurs.contains(state)) {
            let _ = write!(text, "<td class=\"number\">{cycles}</td>");
        }
        text.push_str("</tr>");
    };
    for place in timeline.tracks.places.values() {
        row(&place.name, &sums([place].into_iter()));
    }
    row("all", &all);
    end_table(text);
    text.push_str("</details>");
}
