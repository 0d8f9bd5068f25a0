//! Finds the forms that have the words of an instruction.

use std::fmt::Write as _;

use crate::forms::{Form, Group, Pipe, Slot, SlotKind, SlotType, Words, forms};
use crate::module::Span;
use crate::opcode::{Modifiers, Opcode};
use crate::types::ScalarType;
use crate::words;

/// A modifier or type as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    /// Without its dot.
    pub(crate) text: &'a str,
    /// With its dot.
    pub(crate) span: Span,
}

/// Why no form has the words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mismatch {
    /// No form of the opcode has this word.
    UnknownWord(usize),
    /// Each word is known, but not all together; this form comes nearest.
    Combination(&'static Form),
}

/// A form and, for each of its groups, the word that was chosen.
pub(crate) type Candidate = (&'static Form, Vec<Option<usize>>);

/// The forms whose groups take up all words, in the order of the tables.
pub(crate) fn candidates(opcode: Opcode, words: &[Word<'_>]) -> Result<Vec<Candidate>, Mismatch> {
    let forms = forms(opcode);
    let mut matched = Vec::new();
    let mut assigned = Vec::new();
    for form in forms {
        let takes_all = assign(form, words, &mut assigned).is_ok();
        if takes_all && keeps_order(opcode, form, &assigned) {
            matched.push((form, assigned.clone()));
        }
    }
    if !matched.is_empty() {
        return Ok(matched);
    }
    let known = |word: &Word<'_>| {
        forms.iter().flat_map(|form| &form.groups).any(|group| has(group, word.text))
    };
    if let Some(index) = words.iter().position(|word| !known(word)) {
        return Err(Mismatch::UnknownWord(index));
    }
    // The first of the forms that come nearest: reverse, because the last maximum is taken.
    let nearest = forms
        .iter()
        .rev()
        .max_by_key(|form| assign(form, words, &mut assigned).err().unwrap_or(usize::MAX));
    nearest.map_or(Err(Mismatch::UnknownWord(0)), |form| Err(Mismatch::Combination(form)))
}

/// Words whose order among each other says what they mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    /// Belong to the opcode, and follow it at once.
    Opcode,
    /// Where a copy goes to, and where it comes from.
    Spaces,
    /// Layouts of matrices, one after the other.
    Layouts,
    /// Types of matrices, some of which are no types of registers.
    Elements,
    /// How bits are multiplied, and how they are summed.
    Reduction,
}

impl Chain {
    /// The chain of a group, by the first of its words.
    fn of(opcode: Opcode, group: &Group) -> Option<Self> {
        let word = match &group.words {
            Words::Types(_) => return Some(Self::Elements),
            Words::Modifiers(words) => *words.first()?,
        };
        match word {
            "async" | "mbarrier" | "arrive" | "load" | "store" | "mma" | "a" | "b" | "c" | "d" => {
                Some(Self::Opcode)
            }
            "shared" | "global" if opcode == Opcode::CpAsync => Some(Self::Spaces),
            "e4m3" | "u4" | "b1" => Some(Self::Elements),
            "row" | "col" => Some(Self::Layouts),
            "xor" | "popc" => Some(Self::Reduction),
            _ => None,
        }
    }
}

/// Whether words whose order matters are in the order of the form. Source: what ptxas 13.5 accepts.
fn keeps_order(opcode: Opcode, form: &Form, assigned: &[Option<usize>]) -> bool {
    if !matches!(opcode, Opcode::CpAsync | Opcode::Mma | Opcode::Wmma) {
        return true;
    }
    let in_chain = |chain| {
        let groups = form.groups.iter().zip(assigned);
        let groups = groups.filter(move |(group, _)| Chain::of(opcode, group) == Some(chain));
        groups.filter_map(|(_, &word)| word)
    };
    let first = in_chain(Chain::Opcode).enumerate().all(|(place, word)| place == word);
    let chains = [Chain::Spaces, Chain::Layouts, Chain::Elements, Chain::Reduction];
    first && chains.into_iter().all(|chain| in_chain(chain).is_sorted())
}

fn has(group: &Group, word: &str) -> bool {
    match &group.words {
        Words::Types(types) => types.iter().any(|ty| ty.name() == word),
        Words::Modifiers(modifiers) => modifiers.contains(&word),
    }
}

/// Gives each word to a group: modifiers to any that is free, types to the next. Leaves in
/// `assigned` the word of each group. When that does not work out, the error is how many words did,
/// less one for each group that must have a word.
fn assign(form: &Form, words: &[Word<'_>], assigned: &mut Vec<Option<usize>>) -> Result<(), usize> {
    assigned.clear();
    assigned.resize(form.groups.len(), None);
    let mut types_from = 0;
    let mut taken = 0;
    for (index, word) in words.iter().enumerate() {
        let free = |group: usize| assigned[group].is_none() && has(&form.groups[group], word.text);
        let is_type = |group: usize| matches!(form.groups[group].words, Words::Types(_));
        let all = 0..form.groups.len();
        let modifier = all.clone().find(|&group| !is_type(group) && free(group));
        let chosen = modifier.or_else(|| {
            let next = all.clone().skip(types_from).find(|&group| is_type(group));
            next.filter(|&group| free(group))
        });
        if let Some(group) = chosen {
            assigned[group] = Some(index);
            taken += 1;
            if is_type(group) {
                types_from = group + 1;
            }
        }
    }
    let missing =
        form.groups.iter().zip(&*assigned).filter(|(g, a)| !g.optional && a.is_none()).count();
    if taken == words.len() && missing == 0 {
        Ok(())
    } else {
        Err((taken + 32).saturating_sub(missing))
    }
}

/// The modifiers and types of an instruction of this form.
pub(crate) fn modifiers(
    opcode: Opcode,
    form: &Form,
    words: &[Word<'_>],
    assigned: &[Option<usize>],
) -> (Modifiers, Vec<ScalarType>) {
    let mut modifiers = Modifiers::default();
    let mut types = Vec::new();
    // In the order of the form, whatever the order written, so that `other` has one order.
    for (group, &index) in form.groups.iter().zip(assigned) {
        let Some(word) = index.and_then(|index| words.get(index)) else { continue };
        match &group.words {
            Words::Types(_) => types.extend(ScalarType::from_name(word.text)),
            Words::Modifiers(_) => words::apply(&mut modifiers, opcode, word.text),
        }
    }
    (modifiers, types)
}

/// A form as the manual would write it, for hints.
pub(crate) fn usage(opcode: Opcode, form: &Form) -> String {
    let mut out = opcode.name().to_owned();
    for group in &form.groups {
        let words: Vec<&str> = match &group.words {
            Words::Types(types) => types.iter().map(|ty| ty.name()).collect(),
            Words::Modifiers(words) => words.clone(),
        };
        let (open, close) = match (group.optional, words.len()) {
            (true, _) => ("{", "}"),
            (false, 1) => ("", ""),
            (false, _) => ("(", ")"),
        };
        // Writing to a string cannot fail.
        let _ = write!(out, "{open}.{}{close}", words.join("|."));
    }
    for (index, slot) in form.slots.iter().enumerate() {
        out.push_str(if index == 0 { " " } else { ", " });
        out.push_str(&slot_name(slot, index));
    }
    out
}

fn slot_name(slot: &Slot, index: usize) -> String {
    let letters = ["d", "a", "b", "c", "e", "f"];
    let letter = letters.get(index).copied().unwrap_or("...");
    let name = match slot.kind {
        SlotKind::Predicate if slot.destination => "p".to_owned(),
        SlotKind::Predicate => "q".to_owned(),
        SlotKind::Address => format!("[{letter}]"),
        SlotKind::Texture => "[t, {x, y, ..}]".to_owned(),
        SlotKind::Label => "label".to_owned(),
        SlotKind::Table => "table".to_owned(),
        SlotKind::Immediate(limit) => format!("0..{limit}"),
        SlotKind::Rest => "...".to_owned(),
        _ if matches!(slot.ty, SlotType::Fixed(_)) && !slot.destination => letter.to_owned(),
        _ => letter.to_owned(),
    };
    let pipe = match slot.pipe {
        Pipe::None => "",
        Pipe::Optional => "{|p}",
        Pipe::Required => "|p",
    };
    if slot.optional { format!("{{{name}}}") } else { format!("{name}{pipe}") }
}
