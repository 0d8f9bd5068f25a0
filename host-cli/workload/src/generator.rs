//! Initial contents of buffers: the same bytes on every host and in every version.
//!
//! Models: the pseudo-random sequence of `SplitMix64` (Steele, Lea and Flood, 2014), which is fixed
//! by its seed alone, and the few distributions that launch files name.
//! Does not model: statistics beyond what a test input needs. The sequence must never change,
//! because recorded results depend on it; a test pins its first values.

/// A random sequence that depends on its seed only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, by multiplication rather than remainder; 0 when `bound` is 0.
    ///
    /// The bias is below `bound / 2^64`, which no test input can notice.
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

/// A directed graph in compressed sparse rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each node's edges start, one more than there are nodes.
    pub offsets: Vec<u32>,
    /// The node that each edge leads to.
    pub edges: Vec<u32>,
}

/// A random graph of `nodes` nodes and `edges` edges; empty rows when `nodes` is 0.
///
/// The source of an edge is the product of two uniform numbers, so that the degrees are skewed as
/// in real graphs (nodes of low number have many edges, those of high number few or none);
/// its destination is uniform. Cost: two passes over the edges.
pub fn random_graph(nodes: u32, edges: u32, seed: u64) -> Graph {
    if nodes == 0 {
        return Graph { offsets: vec![0], edges: Vec::new() };
    }
    let bound = u64::from(nodes);
    let draw = |random: &mut SplitMix64| {
        let skewed = (random.next_u64() >> 32) * (random.next_u64() >> 32);
        let source = (u128::from(skewed) * u128::from(bound)) >> 64;
        (source as usize, random.below(bound) as u32)
    };

    let mut offsets = vec![0_u32; nodes as usize + 1];
    let mut random = SplitMix64::new(seed);
    for _ in 0..edges {
        let (source, _) = draw(&mut random);
        offsets[source + 1] += 1;
    }
    for node in 0..nodes as usize {
        offsets[node + 1] += offsets[node];
    }

    let mut next = offsets.clone();
    let mut targets = vec![0_u32; edges as usize];
    let mut random = SplitMix64::new(seed);
    for _ in 0..edges {
        let (source, target) = draw(&mut random);
        targets[next[source] as usize] = target;
        next[source] += 1;
    }
    Graph { offsets, edges: targets }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The reference implementation's first outputs for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_stay_in_range() {
        let mut random = SplitMix64::new(7);
        for bound in [1, 2, 3, 1000, u64::MAX] {
            for _ in 0..1000 {
                assert!(random.below(bound) < bound);
                assert!((0.0..1.0).contains(&random.unit()));
            }
        }
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_graph_is_well_formed() {
        for (nodes, edges) in [(1, 0), (1, 5), (10, 100), (1000, 3000)] {
            let graph = random_graph(nodes, edges, 3);
            assert_eq!(graph.offsets.len(), nodes as usize + 1);
            assert_eq!(graph.offsets[0], 0);
            assert_eq!(graph.offsets[nodes as usize], edges);
            assert!(graph.offsets.is_sorted());
            assert_eq!(graph.edges.len(), edges as usize);
            assert!(graph.edges.iter().all(|&target| target < nodes));
        }
        assert_eq!(random_graph(0, 0, 3), Graph { offsets: vec![0], edges: vec![] });
        assert_ne!(random_graph(50, 200, 1), random_graph(50, 200, 2));
    }
}
