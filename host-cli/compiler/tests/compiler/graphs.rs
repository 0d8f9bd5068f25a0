//! Control flow graphs for Graphviz: read back by a small parser, and compared with the program.

use std::collections::{BTreeMap, BTreeSet};

use strata_compiler::hierarchy::{Code, Lrf, fit};
use strata_compiler::listing::{Dot, Listing};
use strata_compiler::{CompileOptions, RegisterLimit, compile};

use crate::hierarchy::config;
use crate::kernels::{SPILLING, TEXTS};

/// A graph as read back.
#[derive(Debug, Default)]
struct Graph {
    /// Labels by node.
    nodes: BTreeMap<String, String>,
    edges: Vec<(String, String)>,
    clusters: usize,
}

/// Words, signs and quoted texts of a graph; texts keep their quotation marks.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let mut token = c.to_string();
        match c {
            '"' => loop {
                let c = rest.next().expect("a quoted text ends");
                assert_ne!(c, '\n', "a text ends in its line: {token}");
                token.push(c);
                match c {
                    '\\' => token.push(rest.next().expect("an escape ends")),
                    '"' => break,
                    _ => {}
                }
            },
            '-' => token.push(rest.next_if_eq(&'>').expect("only edges have dashes")),
            c if c.is_alphanumeric() => {
                while let Some(c) = rest.next_if(|&c| c.is_alphanumeric() || c == '_') {
                    token.push(c);
                }
            }
            c if c.is_whitespace() => continue,
            c => assert!("{}[]=,;".contains(c), "`{c}` in {text}"),
        }
        tokens.push(token);
    }
    tokens
}

/// Reads a graph as strictly as we write it.
fn read(text: &str) -> Graph {
    let mut graph = Graph::default();
    let tokens = tokens(text);
    let mut depth = 0;
    for statement in tokens.split_inclusive(|token| [";", "{", "}"].contains(&&**token)) {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        match &words[..] {
            ["digraph", _, "{"] => depth += 1,
            ["subgraph", _, "{"] => {
                depth += 1;
                graph.clusters += 1;
            }
            ["}"] => depth -= 1,
            [_, "=", _, ";"] | ["graph" | "node" | "edge", "[", .., "]", ";"] => {}
            [from, "->", to, ";"] | [from, "->", to, "[", .., "]", ";"] => {
                graph.edges.push(((*from).to_owned(), (*to).to_owned()));
            }
            [node, "[", _, "=", label, .., "]", ";"] => {
                let new = graph.nodes.insert((*node).to_owned(), (*label).to_owned());
                assert!(new.is_none(), "{node} twice");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(depth, 0, "{text}");
    graph
}

#[test]
fn graphs_can_be_read_back() {
    let all = TEXTS.into_iter().chain([("spill", SPILLING)]);
    for (name, text) in all {
        let module = strata_ptx::parse(text).module;
        for (id, function) in module.kernels() {
            let name = format!("{name}, {}", function.name);
            let limit = RegisterLimit::new(24);
            let program = compile(
                &module,
                id,
                CompileOptions { registers: limit, ..CompileOptions::default() },
            );
            let program = program.expect("real kernels compile");
            let code = Code::new(&program).expect("small");
            let fitted = fit(&code, &config(Lrf::Split)).expect("a good config");
            for hierarchy in [None, Some(&fitted)] {
                let (module, program) = (&module, &program);
                let listing = Listing { module, program, values: true, hierarchy, margin: &[] };
                let graph = read(&Dot(listing).to_string());
                let strands = hierarchy.map_or(0, |hierarchy| hierarchy.strands.count as usize);
                assert_eq!(graph.clusters, strands, "{name}");
                for end in graph.edges.iter().flat_map(|(from, to)| [from, to]) {
                    assert!(graph.nodes.contains_key(end), "{name}: {end} is not declared");
                }
                // Every instruction once, every block somewhere.
                let lines = graph.nodes.values().map(|label| label.matches("\\l").count());
                let nodes = graph.nodes.len() - 1;
                assert_eq!(lines.sum::<usize>(), program.instructions.len() + nodes, "{name}");
                let starts = listing.blocks();
                let starts =
                    (0..starts.len()).filter(|&pc| pc == 0 || starts[pc] != starts[pc - 1]);
                let starts: Vec<String> = starts.map(|pc| format!("n{pc}")).collect();
                assert!(starts.iter().all(|start| graph.nodes.contains_key(start)), "{name}");
                // Whatever is not the first instruction can be reached.
                let reached: BTreeSet<&String> = graph.edges.iter().map(|(_, to)| to).collect();
                for node in graph.nodes.keys().filter(|&node| node != "n0" && node != "exit") {
                    assert!(reached.contains(node), "{name}: {node} is not reached");
                }
            }
        }
    }
}
