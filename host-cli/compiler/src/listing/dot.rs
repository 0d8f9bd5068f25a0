//! The control flow graph of a program in the language of Graphviz.
//!
//! One node for each stretch of a basic block in one strand (a block that several strands share is
//! several nodes, with bold edges between them), with its instructions as the listing
//! has them; one cluster for each strand. Solid edges are control flow, dashed ones lead from a
//! branch that may split a warp to where its lanes meet again.

use std::fmt::{self, Display, Formatter};

use crate::flow::{Flow, flow};
use crate::hierarchy::Start;

use super::{Blocks, Listing, Places};

/// Node that stands for the end of the kernel.
const EXIT: &str = "exit";

/// A program to be drawn; `Display` gives a Graphviz graph. The table of values is left out.
#[derive(Clone, Copy, Debug)]
pub struct Dot<'a>(pub Listing<'a>);

/// Instructions of one block and one strand.
struct Node {
    start: usize,
    end: usize,
    block: usize,
    strand: Option<u32>,
}

impl Display for Dot<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let program = self.0.program;
        let places = Places::new(self.0);
        let nodes = self.nodes(&places.blocks);
        writeln!(f, "digraph {} {{", quoted(&program.name))?;
        writeln!(f, "  graph [label={}, labelloc=t, fontname=monospace];", quoted(&program.name))?;
        writeln!(f, "  node [shape=box, fontname=monospace];")?;
        writeln!(f, "  edge [fontname=monospace];")?;
        let Some(hierarchy) = self.0.hierarchy else {
            for node in &nodes {
                places.node(f, node, "  ")?;
            }
            return self.edges(f, &nodes);
        };
        let mut by_strand: Vec<&Node> = nodes.iter().collect();
        by_strand.sort_by_key(|node| (node.strand, node.start));
        for inside in by_strand.chunk_by(|a, b| a.strand == b.strand) {
            let first = inside[0].start;
            let strand = hierarchy.strands.of[first];
            let reason = hierarchy.strands.starts[first].map_or("", Start::reason);
            writeln!(f, "  subgraph cluster_strand{strand} {{")?;
            let title = quoted(&format!("strand {strand}: {reason}"));
            writeln!(f, "    label={title}; style=\"rounded,filled\"; fillcolor=gray95;")?;
            for node in inside {
                places.node(f, node, "    ")?;
            }
            writeln!(f, "  }}")?;
        }
        self.edges(f, &nodes)
    }
}

impl Dot<'_> {
    fn nodes(&self, blocks: &Blocks) -> Vec<Node> {
        let strands = self.0.hierarchy.map(|hierarchy| &hierarchy.strands);
        let mut nodes: Vec<Node> = Vec::new();
        for pc in 0..self.0.program.instructions.len() {
            let block = blocks.containing(pc as u32);
            let strand = strands.map(|strands| strands.of[pc]);
            match nodes.last_mut() {
                Some(last) if (last.block, last.strand) == (block, strand) => last.end = pc + 1,
                _ => nodes.push(Node { start: pc, end: pc + 1, block, strand }),
            }
        }
        nodes
    }

    fn edges(&self, f: &mut Formatter<'_>, nodes: &[Node]) -> fmt::Result {
        let count = self.0.program.instructions.len() as u32;
        let name = |pc: u32| if pc < count { format!("n{pc}") } else { EXIT.to_owned() };
        writeln!(f, "  {EXIT} [shape=plaintext];")?;
        let following = nodes.iter().skip(1).map(Some).chain([None]);
        for (node, following) in nodes.iter().zip(following) {
            let last = node.end - 1;
            let from = format!("n{}", node.start);
            let entry = &self.0.program.instructions[last];
            let guarded = entry.instruction.guard.is_some();
            let flow = flow(&entry.instruction);
            if flow == Flow::Next || guarded {
                let next = name(node.end as u32);
                let split = following.is_some_and(|other| other.block == node.block);
                let style = if split { " [style=bold]" } else { "" };
                writeln!(f, "  {from} -> {next}{style};")?;
            }
            match flow {
                Flow::Next => {}
                Flow::Branch(label) => {
                    let to = name(self.0.program.targets[label.index()]);
                    writeln!(f, "  {from} -> {to} [label=taken];")?;
                }
                Flow::Table(table) => {
                    let targets = &self.0.program.branch_tables[table as usize];
                    for (index, &to) in targets.iter().enumerate() {
                        writeln!(f, "  {from} -> {} [label=\"taken {index}\"];", name(to))?;
                    }
                }
                Flow::Exit => writeln!(f, "  {from} -> {EXIT};")?,
            }
            let splits = matches!(flow, Flow::Branch(_)) && guarded;
            if splits || matches!(flow, Flow::Table(_)) {
                let to = entry.reconvergence.map_or_else(|| EXIT.to_owned(), name);
                let style = "style=dashed, constraint=false, color=gray40, label=join";
                writeln!(f, "  {from} -> {to} [{style}];")?;
            }
        }
        writeln!(f, "}}")
    }
}

impl Places<'_> {
    fn node(&self, f: &mut Formatter<'_>, node: &Node, indent: &str) -> fmt::Result {
        write!(f, "{indent}n{} [label=\"B{}\\l", node.start, node.block)?;
        for pc in node.start..node.end {
            let mut line = String::new();
            self.line(&mut line, pc)?;
            write!(f, "{}\\l", escaped(line.trim_end()))?;
        }
        writeln!(f, "\"];")
    }
}

/// Text between quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
