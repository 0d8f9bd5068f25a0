//! Text of traces, changed by lines and words, so that most changes get past the first line.

use strata_ptx::fuzzing::Random;

/// Words that mean something somewhere, and numbers at the ends of ranges.
const WORDS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "8",
    "9",
    "16",
    "31",
    "32",
    "33",
    "128",
    "129",
    "255",
    "256",
    "1024",
    "1025",
    "4294967295",
    "4294967296",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-1",
    "-9223372036854775808",
    "0x0",
    "0xffffffffffffffff",
    "0x7f0000000000",
    "00000000",
    "00000001",
    "ffffffff",
    "fffffffe",
    "0000ffff",
    "80000001",
    "R0",
    "R1",
    "R2",
    "R253",
    "R254",
    "R255",
    "LDG.E.128",
    "STG.E",
    "LD.E.64",
    "ST",
    "LDS",
    "LDL",
    "LDC",
    "ATOM",
    "RED",
    "SHFL.IDX",
    "BAR.SYNC",
    "BAR.ARV",
    "EXIT",
    "BRA",
    "RET",
    "MUFU.RCP",
    "DADD",
    "TEX",
    "HMMA.16816.F32",
    "IMAD.WIDE",
    "XYZZY.64",
    "UR0",
    "UR63",
    "UR255",
    "UR256",
    "P0",
    "UP7",
    "NoVal",
    "Val",
    "HGMMA.64x8x16.F32",
    "UTMALDG.2D",
    "UBLKCP",
    "REPLAY_START",
    "LDGSTS",
    "(1,1,1)",
    "(2,1,1)",
    "(64,1,1)",
    "(1024,1,1)",
    "(2147483648,1,1)",
    "0,0,0",
    "1,0,0",
    "\u{1b}[2J",
    "\u{202e}",
];
/// Whole lines.
const LINES: &[&str] = &[
    "",
    "#BEGIN_TB",
    "#END_TB",
    "#",
    "#traces format = PC mask",
    "warp = 0",
    "warp = 1",
    "insts = 0",
    "insts = 1",
    "thread block = 0,0,0",
    "-enable lineinfo = 1",
    "-accelsim tracer version = 3",
    "-accelsim tracer version = 6",
    "cluster id = 0,0,0",
    "cluster cta = 0,0,0",
    "cluster rank = 0",
    "-unknown = 1",
    "-shmem = 49152",
    "0000 ffffffff 0 BAR.SYNC 0 0 0",
    "0010 00000000 1 R2 LDG.E 1 R2 4 1 0x0 0 0",
    "0020 00000001 1 R4 LDG.E.128 1 R2 16 2 0x7f1000000000 0",
    "0030 ffffffff 0 EXIT 0 0 0",
    "0000 ffffffff 0 REPLAY_START 0 0 0 0",
    "0000 ffffffff 0 REPLAY_END 0 0 0 0",
    "0040 ffffffff 0 BAR.SYNC 2 R0 UR4 0 0 0 Val 1 00000000 1 00000000 ",
    "0050 00000003 0 UTMALDG.2D 0 32 0x00000400 1 0x0003 96 0 4 0x7f2000000000 3 32 32 0 0 NoVal ",
    "0060 ffffffff 1 R8 HGMMA.64x8x16.F32 1 R8 1 0 0 0 Val 1 00000000 1 00000000 ",
];

/// Changes text in one to three places.
pub(super) fn mutate_text(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(3) {
        if lines.is_empty() {
            lines.push(Vec::new());
        }
        let at = random.below(lines.len());
        match random.below(12) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 => {
                let from = random.below(lines.len());
                lines.insert(at, lines[from].clone());
            }
            4 => lines.insert(at, LINES[random.below(LINES.len())].into()),
            5 => repeat_block(&mut lines, at, random),
            6 => change_byte(&mut lines[at], random),
            _ => change_words(&mut lines[at], random),
        }
    }
    lines.join(&b'\n')
}

/// Repeats some lines, as a loop would, and lets the warp's count grow with them half of the time.
fn repeat_block(lines: &mut Vec<Vec<u8>>, at: usize, random: &mut Random) {
    let end = (at + 1 + random.below(8)).min(lines.len());
    let block: Vec<Vec<u8>> = lines[at..end].to_vec();
    let times = 1 + random.below(16);
    for _ in 0..times {
        lines.splice(end..end, block.iter().cloned());
    }
    let Some(count) = lines[..at].iter().rposition(|line| line.starts_with(b"insts = ")) else {
        return;
    };
    let text = String::from_utf8_lossy(&lines[count][8..]).trim().parse::<usize>();
    if let Ok(before) = text
        && random.below(2) == 0
    {
        lines[count] = format!("insts = {}", before.wrapping_add(times * block.len())).into_bytes();
    }
}

fn change_byte(line: &mut Vec<u8>, random: &mut Random) {
    if line.is_empty() {
        return line.push(random.below(256) as u8);
    }
    let at = random.below(line.len());
    match random.below(3) {
        0 => line[at] = random.below(256) as u8,
        1 => line[at] = b"0123456789abcdefRx,-=# \t"[random.below(24)],
        _ => drop(line.remove(at)),
    }
}

fn change_words(line: &mut Vec<u8>, random: &mut Random) {
    let mut words: Vec<Vec<u8>> =
        line.split(|&byte| byte == b' ').map(<[u8]>::to_vec).filter(|w| !w.is_empty()).collect();
    let new = WORDS[random.below(WORDS.len())].as_bytes().to_vec();
    let at = random.below(words.len());
    match random.below(6) {
        0 if !words.is_empty() => drop(words.remove(at)),
        1 if !words.is_empty() => words.insert(at, words[at].clone()),
        2 => words.insert(at, new),
        3 if !words.is_empty() => {
            let number = String::from_utf8_lossy(&words[at]).parse::<u64>();
            let step = [1, u64::MAX, 31][random.below(3)];
            words[at] = number.map_or(new, |n| n.wrapping_add(step).to_string().into_bytes());
        }
        _ if !words.is_empty() => words[at] = new,
        _ => words.push(new),
    }
    *line = words.join(&b' ');
}
