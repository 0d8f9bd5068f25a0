//! Pairwise covering arrays: few combinations of several factors' values in which every two values
//! of every two factors occur together.

use std::collections::BTreeSet;

/// Two values of two factors, the first factor before the second: `(factor, value)` each.
type Pair = [(usize, usize); 2];

/// Rows with a value for each factor, `sizes[f]` being how many values factor `f` has.
///
/// Greedy and deterministic: each row starts with the first pair that is still missing, and takes
/// for each other factor the value that adds most missing pairs to those already there.
pub(crate) fn covering(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut missing = pairs(sizes);
    let mut rows = Vec::new();
    while let Some(&seed) = missing.first() {
        let row = row(sizes, seed, &missing);
        missing.retain(|[(f, a), (g, b)]| row[*f] != *a || row[*g] != *b);
        rows.push(row);
    }
    rows
}

/// Every combination of the factors' values, in counting order.
pub(crate) fn product(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new()];
    for &size in sizes {
        let longer = |row: Vec<usize>| {
            (0..size).map(move |value| row.iter().copied().chain([value]).collect())
        };
        rows = rows.into_iter().flat_map(longer).collect();
    }
    rows
}

/// Every pair of values of two factors.
fn pairs(sizes: &[usize]) -> BTreeSet<Pair> {
    let values = |factor: usize| (0..sizes[factor]).map(move |value| (factor, value));
    let mut pairs = BTreeSet::new();
    for second in 0..sizes.len() {
        for first in 0..second {
            pairs.extend(values(first).flat_map(|a| values(second).map(move |b| [a, b])));
        }
    }
    pairs
}

fn row(sizes: &[usize], seed: Pair, missing: &BTreeSet<Pair>) -> Vec<usize> {
    let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
    for (factor, value) in seed {
        row[factor] = Some(value);
    }
    for factor in 0..sizes.len() {
        if row[factor].is_some() {
            continue;
        }
        let added = |value: usize| {
            let others =
                row.iter().enumerate().filter_map(|(other, value)| Some((other, (*value)?)));
            let pair = |other: (usize, usize)| {
                let mut pair = [other, (factor, value)];
                pair.sort_unstable();
                pair
            };
            others.filter(|&other| missing.contains(&pair(other))).count()
        };
        // Of equals the lowest.
        row[factor] = (0..sizes[factor]).rev().max_by_key(|&value| added(value));
    }
    row.into_iter().map(Option::unwrap_or_default).collect()
}

#[test]
fn every_pair_of_values_occurs() {
    for sizes in [&[2, 2][..], &[2, 2, 2], &[8, 3, 2, 2, 2, 4, 5, 2], &[3, 3, 3, 3], &[1, 4, 1, 7]]
    {
        let rows = covering(sizes);
        for (first, &a_values) in sizes.iter().enumerate() {
            for (second, &b_values) in sizes.iter().enumerate().skip(first + 1) {
                for (a, b) in (0..a_values).flat_map(|a| (0..b_values).map(move |b| (a, b))) {
                    let found = rows.iter().any(|row| row[first] == a && row[second] == b);
                    assert!(found, "{sizes:?}: value {a} of {first} with value {b} of {second}");
                }
            }
        }
        assert!(rows.iter().all(|row| row.iter().zip(sizes).all(|(value, size)| value < size)));
        // No array can be shorter than the product of its two largest factors.
        let mut largest = sizes.to_vec();
        largest.sort_unstable();
        let bound: usize = largest.iter().rev().take(2).product();
        assert!(rows.len() <= bound * 3 / 2, "{sizes:?}: {} rows, at least {bound}", rows.len());
    }
}

#[test]
fn a_missing_row_is_noticed() {
    let sizes = [8, 3, 2, 2, 2, 4, 5, 2];
    let covered = |rows: &[Vec<usize>]| {
        let all = pairs(&sizes);
        let found = |[(f, a), (g, b)]: &Pair| rows.iter().any(|row| row[*f] == *a && row[*g] == *b);
        all.iter().filter(|pair| found(pair)).count()
    };
    // 8 * 5 pairs of the two largest factors need a row each.
    let rows = covering(&sizes);
    let all = covered(&rows);
    assert_eq!(all, 8 * 20 + 3 * 17 + 2 * 15 + 2 * 13 + 2 * 11 + 4 * 7 + 5 * 2);
    assert!((0..40).any(|row| covered(&[&rows[..row], &rows[row + 1..]].concat()) < all));
}

#[test]
fn the_product_has_every_combination_once() {
    assert_eq!(product(&[]), [Vec::<usize>::new()]);
    assert_eq!(product(&[2, 1, 2]), [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
    let rows = product(&[8, 3, 2, 2, 2, 4, 5, 2]);
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 8 * 3 * 8 * 4 * 10);
}
