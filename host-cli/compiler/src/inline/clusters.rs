//! Clusters: what depends on their CTAs runs where there is one.
//! (DEV-143)

use strata_ptx::module::{Function, Instruction, Operand, SpecialRegister};
use strata_ptx::opcode::Opcode;

use super::Inliner;

impl Inliner<'_> {
    /// Clusters have one CTA each: refuses what depends on it in a kernel that needs more.
    pub(super) fn refuse_clusters(&mut self, function: &Function) {
        let ctas = function.launch.cluster_sides();
        // No launch is allowed where a side is 0.
        if ctas == [1; 3] || ctas.contains(&0) {
            return;
        }
        let places = self.instructions.iter().filter(|one| depends_on_cluster(one));
        for span in places.map(|instruction| instruction.span).collect::<Vec<_>>() {
            let [x, y, z] = ctas;
            let message = format!(
                "this depends on the CTAs of a cluster, and `.reqnctapercluster {x}, {y}, {z}` \
                 asks for several: clusters of one CTA can be executed"
            );
            self.complain("cluster", span, message);
        }
    }
}

/// Whether an instruction depends on which CTAs are in a cluster.
fn depends_on_cluster(instruction: &Instruction) -> bool {
    let modifiers = &instruction.modifiers;
    match instruction.opcode {
        Opcode::Mapa | Opcode::Getctarank => true,
        Opcode::Barrier => modifiers.has("cluster"),
        _ => {
            modifiers.subspace.as_deref() == Some("cluster")
                || instruction.sources.iter().any(asks_for_cluster)
        }
    }
}

/// Whether an operand is a special register of clusters, or has one among its components.
fn asks_for_cluster(operand: &Operand) -> bool {
    use SpecialRegister as S;
    match operand {
        Operand::Vector(elements) => elements.iter().any(asks_for_cluster),
        Operand::Special(special) => matches!(
            special,
            S::Clusterid(_)
                | S::Nclusterid(_)
                | S::ClusterCtaid(_)
                | S::ClusterNctaid(_)
                | S::ClusterCtarank
                | S::ClusterNctarank
        ),
        _ => false,
    }
}
