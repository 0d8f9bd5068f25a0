use super::*;

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

/// What an execution saves with 0, 1, ... entries; nothing more with more than are listed.
fn curve(savings: &[i64]) -> Curve {
    let last = savings.last().copied().unwrap_or(0);
    let mut all = [last; CHOICES];
    all[..savings.len()].copy_from_slice(savings);
    Curve::new(all)
}

/// First cycle, the cycle after the last, what it saves, and the cycles that it holds each entry.
type Case = (u64, u64, Curve, [(u64, u64); ENTRIES]);

/// One that holds all its entries in all its cycles.
fn whole(from: u64, until: u64, curve: Curve) -> Case {
    (from, until, curve, [(from, until); ENTRIES])
}

/// Shows an oracle some cases as they end, and finds what it gives each and what it saves.
fn play(cases: &[Case], capacity: u32, fair: u8, epoch: usize) -> (Vec<u32>, Bracket) {
    let mut oracle = Oracle::with_epochs(capacity, fair, epoch);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&case| cases[case].1);
    let mut given = vec![None; cases.len()];
    let mut used = vec![0; cases.len()];
    let mut settled = 0;
    for place in 0..order.len() {
        let (from, until, curve, held) = cases[order[place]];
        let (curve, given_before) = (oracle.curve(curve), given[order[place]]);
        oracle.add(Execution { from, until, held, curve, given: given_before });
        let last = place + 1 == order.len();
        if oracle.is_full() || last {
            let rest = order[place + 1..].iter().copied();
            let open: Vec<usize> = rest.filter(|&case| cases[case].0 < until).collect();
            let running = |&case: &usize| Open { from: cases[case].0, given: given[case] };
            let mut running: Vec<Open> = open.iter().map(running).collect();
            let ended = std::mem::take(&mut oracle.ended);
            let decided = oracle.decide(&ended, until, &mut running);
            for (&case, entries) in order[settled..].iter().zip(decided) {
                used[case] = entries as u32;
            }
            for (case, open) in open.into_iter().zip(running) {
                given[case] = open.given;
            }
            settled = place + 1;
        }
    }
    let held = given.iter().zip(&used).map(|(given, &used)| given.map_or(used, u32::from));
    (held.collect(), oracle.bracket())
}

/// Entries held in the busiest cycle.
fn busiest(cases: &[Case], held: &[u32]) -> u32 {
    let last = cases.iter().map(|case| case.1).max().unwrap_or(0);
    let in_cycle = |cycle: u64| {
        let there = |&&(from, until): &&(u64, u64)| from <= cycle && cycle < until;
        let of =
            |(case, &held): (&Case, &u32)| case.3[..held as usize].iter().filter(there).count();
        cases.iter().zip(held).map(of).sum::<usize>() as u32
    };
    (0..last).map(in_cycle).max().unwrap_or(0)
}

/// The best of all choices, each tried.
fn best(cases: &[Case], capacity: u32, most: u32) -> i128 {
    let mut held = vec![0; cases.len()];
    let mut best = 0;
    loop {
        if busiest(cases, &held) <= capacity {
            let saved = cases.iter().zip(&held);
            let saved = saved.map(|(case, &held)| i128::from(case.2.0[held as usize]));
            best = best.max(saved.sum());
        }
        let Some(next) = held.iter().position(|&held| held < most) else { return best };
        held[next] += 1;
        held[..next].fill(0);
    }
}

#[test]
fn entries_go_to_whom_they_serve_best() {
    // Both run in the same cycles, and four entries are enough for one of them and a half.
    let steep = curve(&[0, 10, 19, 27]);
    let flat = curve(&[0, 6, 11, 12]);
    let (held, bracket) = play(&[whole(0, 10, steep), whole(0, 10, flat)], 4, 2, 100);
    assert_eq!(held, [3, 1]);
    assert_eq!(bracket.attained, 33);
    // With prices the last entry of four is worth 6 to `flat`: 27 + 6 is also the bound.
    assert_eq!(bracket.bound, 33);
    // One after the other each takes what it can use, and the bound is what they save.
    let (held, bracket) = play(&[whole(0, 10, steep), whole(10, 20, flat)], 4, 2, 100);
    assert_eq!((held, bracket), (vec![3, 3], Bracket { attained: 39, bound: 39 }));
    // Entries are held in every cycle of an execution: a long one pays for more of them.
    let cases = [(0, 2, steep), (0, 30, flat), (2, 4, steep), (4, 30, steep)];
    let cases = cases.map(|(from, until, curve)| whole(from, until, curve));
    let (held, bracket) = play(&cases, 3, 1, 100);
    assert_eq!((held, bracket.attained), (vec![3, 0, 3, 3], 81));
}

/// Two executions in the same ten cycles and one entry: whole executions share it out, while entries
/// held from a first write to a last read that do not overlap serve both.
#[test]
fn entries_serve_another_when_they_were_read_last() {
    let one = curve(&[0, 10]);
    let cases = |until: u64| {
        let entry = |from: u64, until: u64| {
            let mut held = [(from, from); ENTRIES];
            held[0] = (from, until);
            (0, 10, one, held)
        };
        [entry(1, until), entry(5, 9)]
    };
    let both = Bracket { attained: 20, bound: 20 };
    assert_eq!(play(&cases(5), 1, 1, 100), (vec![1, 1], both));
    let (held, bracket) = play(&cases(6), 1, 1, 100);
    assert_eq!((held.iter().sum::<u32>(), bracket.attained), (1, 10));
    let (held, bracket) = play(&[whole(0, 10, one), whole(0, 10, one)], 1, 1, 100);
    assert_eq!((held.iter().sum::<u32>(), bracket.attained), (1, 10));
    // The first entry is held for longer than the second, which is all that is left in cycle 7.
    let mut stairs = [(0, 0); ENTRIES];
    (stairs[0], stairs[1]) = ((0, 10), (0, 7));
    let steep = curve(&[0, 10, 30]);
    let late = (7, 10, one, [(7, 10); ENTRIES]);
    let (held, bracket) = play(&[(0, 10, steep, stairs), late], 2, 1, 100);
    assert_eq!((held, bracket), (vec![2, 1], Bracket { attained: 40, bound: 40 }));
}

#[test]
fn a_curve_never_falls_and_its_corners_are_where_less_is_gained_on() {
    let one = curve(&[0, 3, 2, 8, 9]);
    assert_eq!(one.0, [0, 3, 3, 8, 9, 9, 9, 9, 9]);
    let corners = |curve: Curve, from: usize, costs: [i128; CHOICES]| {
        curve.corners(from, costs).collect::<Vec<_>>()
    };
    let even = [0, 5, 10, 15, 20, 25, 30, 35, 40];
    assert_eq!(corners(one, 0, even), [1, 3, 4]);
    assert_eq!(corners(one, 1, even), [3, 4]);
    assert_eq!(corners(curve(&[0, 1, 5, 9]), 0, even), [3]);
    assert_eq!(corners(curve(&[0, -4, -1]), 0, even), [0; 0]);
    // The third entry is held for long: five for it are less than three for the first.
    assert_eq!(corners(curve(&[0, 3, 6, 11]), 0, [0, 1, 2, 9, 10, 11, 12, 13, 14]), [2, 3]);
    // What costs nothing is taken first.
    assert_eq!(corners(curve(&[0, 1, 2, 90]), 0, [0, 0, 0, 1, 2, 3, 4, 5, 6]), [2, 3]);
    assert_eq!([0, 1, 2, 3, 8].map(|limit| one.enough(limit)), [0, 1, 1, 3, 4]);
}

/// Against every choice: what is attained fits and is no better than the best, which the bound is
/// no worse than, also when epochs cut executions in two.
#[test]
fn the_bracket_holds_the_best_choice() {
    let (mut exact, mut narrow) = (0, 0);
    for seed in 0..400 {
        let random = &mut Random(seed);
        let cases: Vec<Case> = (0..=random.below(6))
            .map(|_| {
                let from = random.below(12);
                let until = from + 1 + random.below(8);
                let mut savings = [0; 4];
                for entries in 1..4 {
                    savings[entries] = savings[entries - 1] + random.below(40) as i64 - 4;
                }
                let span = |()| {
                    let first = from + random.below(until - from + 1);
                    (first, first + random.below(until - first + 1))
                };
                let held = [(); ENTRIES].map(span);
                let curve = curve(&savings);
                if seed % 2 == 0 { whole(from, until, curve) } else { (from, until, curve, held) }
            })
            .collect();
        let capacity = 1 + random.below(6) as u32;
        let fair = 1 + random.below(u64::from(capacity.min(3))) as u8;
        let best = best(&cases, capacity, 3);
        for epoch in [1, 2, 100] {
            let (held, bracket) = play(&cases, capacity, fair, epoch);
            let at = format!("seed {seed}, epochs of {epoch}: {cases:?}: {held:?}, {bracket:?}");
            assert!(busiest(&cases, &held) <= capacity, "{at}: more than {capacity}");
            assert!(bracket.attained <= best && best <= bracket.bound, "{at}: best {best}");
            if epoch == 100 {
                exact += u32::from(bracket.attained == best);
                narrow += u32::from(bracket.bound * 10 <= best * 11);
            }
        }
    }
    assert!(exact > 300, "the best choice was found in {exact} of 400");
    assert!(narrow > 300, "the bound was within a tenth in {narrow} of 400");
}

/// The design itself is a choice, so that the oracle is never worse if that fits.
#[test]
fn no_strand_is_worse_off_than_with_equal_shares() {
    for seed in 0..200 {
        let random = &mut Random(seed);
        let mut clock = [0; 4];
        let mut cases: Vec<Case> = Vec::new();
        for _ in 0..60 {
            let warp = random.below(4) as usize;
            let from = clock[warp] + random.below(3);
            clock[warp] = from + 1 + random.below(9);
            let mut savings = [0; CHOICES];
            for entries in 1..CHOICES {
                savings[entries] = savings[entries - 1] + random.below(20) as i64;
            }
            cases.push(whole(from, clock[warp], Curve::new(savings)));
        }
        let equal: i128 = cases.iter().map(|case| i128::from(case.2.0[2])).sum();
        for epoch in [4, 100] {
            let (held, bracket) = play(&cases, 8, 2, epoch);
            assert!(busiest(&cases, &held) <= 8, "seed {seed}, epochs of {epoch}");
            assert!(bracket.attained >= equal, "seed {seed}, epochs of {epoch}: {bracket:?}");
            assert!(bracket.bound >= bracket.attained, "seed {seed}, epochs of {epoch}");
        }
    }
}
