//! Launch rules: what a kernel's directives say of the grids and blocks that may launch it.
//!
//! Source: PTX ISA 9.1, "Performance-Tuning Directives" and "Cluster Dimension Directives":
//! each of them makes another launch fail.

use crate::diagnostic::{Diagnostic, counted};
use crate::module::span::Span;

/// Most CTAs of a cluster on any GPU, where kernels may have more than the portable 8 (CUDA C++
/// Programming Guide, "Thread Block Clusters").
const MAX_CLUSTER_CTAS: u128 = 16;

/// `.maxntid` or `.reqntid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRule {
    /// Unit: threads.
    pub sides: [u32; 3],
    /// True for `.reqntid`: the block has these sides. Otherwise it has at most as many threads.
    pub exact: bool,
    /// Place of the directive.
    pub span: Span,
}

/// `.reqnctapercluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterRule {
    /// Unit: CTAs. May be 0, with which nothing can be launched.
    pub sides: [u32; 3],
    /// Place of the directive.
    pub span: Span,
}

/// What the directives of a kernel say of its launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchRules {
    /// `.maxntid` or `.reqntid`.
    pub block: Option<BlockRule>,
    /// `.reqnctapercluster`.
    pub cluster: Option<ClusterRule>,
    /// `.maxclusterrank`: no launch here has a cluster that is too large for it.
    pub max_cluster: Option<Span>,
    /// `.explicitcluster`.
    pub explicit_cluster: Option<Span>,
    /// `.blocksareclusters`.
    pub blocks_are_clusters: Option<Span>,
}

impl LaunchRules {
    /// The sides that `.maxntid` or `.reqntid` give. Unit: threads.
    pub fn block_sides(&self) -> Option<[u32; 3]> {
        self.block.map(|rule| rule.sides)
    }

    /// CTAs of a cluster in each direction.
    pub fn cluster_sides(&self) -> [u32; 3] {
        self.cluster.map_or([1; 3], |rule| rule.sides)
    }

    /// CTAs in each unit of a launch's grid: a cluster's under `.blocksareclusters`, else 1.
    pub fn ctas_of_grid_unit(&self) -> [u32; 3] {
        if self.blocks_are_clusters.is_some() { self.cluster_sides() } else { [1; 3] }
    }

    /// Refuses directives that contradict each other. (The assembler refuses them too.)
    pub(crate) fn contradiction(&self) -> Option<Diagnostic> {
        if let (Some(span), Some(_)) = (self.max_cluster, self.cluster) {
            let message = "`.maxclusterrank` and `.reqnctapercluster` do not go together";
            return Some(Diagnostic::error("conflict", span, message));
        }
        let span = self.blocks_are_clusters?;
        let exact = self.block.is_some_and(|rule| rule.exact);
        let missing = match (exact, self.cluster) {
            (true, Some(_)) => return None,
            (false, _) => "reqntid",
            (true, None) => "reqnctapercluster",
        };
        let message = format!("`.blocksareclusters` needs `.{missing}` beside it");
        let hint = "write `.reqntid`, `.reqnctapercluster` and `.blocksareclusters` together";
        Some(Diagnostic::error("missing-directive", span, message).with_hint(hint))
    }

    /// Whether a launch of so many CTAs, each of so many threads, is allowed.
    ///
    /// # Errors
    /// Why not, at the directive that forbids it.
    pub fn check(&self, grid: [u32; 3], block: [u32; 3]) -> Result<(), Diagnostic> {
        let refuse = |span, message: String, hint: String| {
            Err(Diagnostic::error("launch", span, message).with_hint(hint))
        };
        if let Some(BlockRule { sides, exact, span }) = self.block {
            let [x, y, z] = sides;
            let [bx, by, bz] = block;
            let product = |sides: [u32; 3]| sides.iter().map(|&side| u128::from(side)).product();
            let (most, threads): (u128, u128) = (product(sides), product(block));
            if exact && sides != block {
                let message = format!(
                    "`.reqntid {x}, {y}, {z}` allows blocks of these sides only; the launch has \
                     {bx}, {by}, {bz}"
                );
                return refuse(span, message, format!("launch with `block = [{x}, {y}, {z}]`"));
            }
            if !exact && threads > most {
                let message = format!(
                    "`.maxntid {x}, {y}, {z}` allows at most {} in a block; the launch has {bx} x \
                     {by} x {bz} = {threads}",
                    counted(most, "thread"),
                );
                let hint = "make the launch's `block` smaller, or raise `.maxntid`".to_owned();
                return refuse(span, message, hint);
            }
        }
        if let (Some(span), None) = (self.explicit_cluster, self.cluster) {
            let message = "`.explicitcluster` needs a launch that gives the sides of a cluster, \
                           which none can here"
                .to_owned();
            let hint = "give the kernel `.reqnctapercluster 1`, or leave `.explicitcluster` out";
            return refuse(span, message, hint.to_owned());
        }
        if let Some(ClusterRule { sides, span }) = self.cluster {
            let ctas: u128 = sides.iter().map(|&side| u128::from(side)).product();
            if !(1..=MAX_CLUSTER_CTAS).contains(&ctas) {
                let [x, y, z] = sides;
                let message = format!(
                    "`.reqnctapercluster {x}, {y}, {z}` asks for clusters of {}; a GPU has those \
                     of 1 to {MAX_CLUSTER_CTAS}",
                    counted(ctas, "CTA"),
                );
                let hint = "give `.reqnctapercluster` sides whose product is in this range";
                return refuse(span, message, hint.to_owned());
            }
            let odd = (0..3).find(|&axis| !grid[axis].is_multiple_of(sides[axis]));
            if let Some(axis) = odd {
                let [x, y, z] = sides;
                let (name, ctas) = (["x", "y", "z"][axis], counted(grid[axis], "CTA"));
                let message = format!(
                    "`.reqnctapercluster {x}, {y}, {z}` allows grids of whole clusters only; the \
                     launch has {ctas} in {name}"
                );
                let hint = format!("make that side of `grid` a multiple of {}", sides[axis]);
                return refuse(span, message, hint);
            }
        }
        Ok(())
    }
}
