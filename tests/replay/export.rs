//! Paths of warps, read back from what `strata trace export` writes.

use std::path::Path;

/// One executed instruction: its index in the kernel's code, and the lanes that took part.
pub(crate) type Step = (usize, u32);

/// One launch: its kernel and the path of each warp.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: String,
    pub(crate) warps: Vec<Vec<Step>>,
}

/// Bytes from one instruction to the next in an export.
const INSTRUCTION_BYTES: usize = 16;

/// Reads all launches of a folder, in order.
pub(crate) fn read(folder: &Path) -> Vec<Launch> {
    let list = std::fs::read_to_string(folder.join("kernelslist.g")).expect("a list of launches");
    list.lines()
        .filter(|line| line.ends_with(".traceg"))
        .map(|name| launch(&folder.join(name)))
        .collect()
}

fn launch(path: &Path) -> Launch {
    let text = std::fs::read_to_string(path).expect("a trace");
    let mut launch = Launch { kernel: String::new(), warps: Vec::new() };
    let mut left = 0;
    for line in text.lines() {
        if left > 0 {
            launch.warps.last_mut().expect("a warp").push(step(line));
            left -= 1;
        } else if let Some(name) = line.strip_prefix("-kernel name = ") {
            name.clone_into(&mut launch.kernel);
        } else if line.starts_with("warp = ") {
            launch.warps.push(Vec::new());
        } else if let Some(count) = line.strip_prefix("insts = ") {
            left = count.parse().expect("a number of instructions");
        }
    }
    assert_eq!(left, 0, "{} is cut", path.display());
    launch
}

fn step(line: &str) -> Step {
    let mut words = line.split(' ');
    let mut hex = || u32::from_str_radix(words.next().expect("a word"), 16).expect("hexadecimal");
    let (address, lanes) = (hex() as usize, hex());
    assert_eq!(address % INSTRUCTION_BYTES, 0, "{line}");
    (address / INSTRUCTION_BYTES, lanes)
}
