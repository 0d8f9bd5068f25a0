//! A block between shift registers: what is reached from outside by four pins, so that it fits a
//! device, and starts and ends at registers, so that its frequency is the block's own.

use std::fmt::Write as _;

use crate::process::Failure;

/// The module that is made.
pub(crate) const MODULE: &str = "block_alone";

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    name: String,
    is_input: bool,
    width: u32,
    /// For debugging: no hardware reads it, and inputs are 0.
    debugs: bool,
}

/// A block with its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ports(Vec<Port>);

impl Ports {
    /// Reads what `portlist` of Yosys prints, one `input [7:0] name` a line. Clock and reset are
    /// left out.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut ports = Vec::new();
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [direction @ ("input" | "output"), range, name] = words[..] else { continue };
            if ["clk_i", "rst_ni"].contains(&name) {
                continue;
            }
            let highest = range.strip_prefix('[').and_then(|range| range.strip_suffix(":0]"));
            let highest: u32 = highest
                .and_then(|highest| highest.parse().ok())
                .ok_or_else(|| Failure(format!("a port without a width: `{line}`")))?;
            ports.push(Port {
                name: name.to_owned(),
                is_input: direction == "input",
                width: highest + 1,
                debugs: name.starts_with("dbg_"),
            });
        }
        let ports = Self(ports);
        if ports.inputs() == 0 || ports.outputs() == 0 {
            return Err(Failure(format!("no input or no output in the list of ports:\n{text}")));
        }
        Ok(ports)
    }

    /// Bits of all inputs but those for debugging.
    pub(crate) fn inputs(&self) -> u32 {
        self.bits(true)
    }

    /// Bits of all outputs but those for debugging.
    pub(crate) fn outputs(&self) -> u32 {
        self.bits(false)
    }

    fn bits(&self, inputs: bool) -> u32 {
        let counted = self.0.iter().filter(|port| port.is_input == inputs && !port.debugs);
        counted.map(|port| port.width).sum()
    }

    /// Flip-flops of the wrapper: one for each input, two for each output.
    pub(crate) fn flip_flops(&self) -> u32 {
        self.inputs() + 2 * self.outputs()
    }

    /// Look-up tables of the wrapper: one for each output but the first.
    pub(crate) fn tables(&self) -> u32 {
        self.outputs() - 1
    }

    /// The wrapper around a module. Outputs are collected by exclusive or, so that each matters.
    pub(crate) fn wrapper(&self, module: &str, parameters: &[(&str, u32)]) -> String {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let mut instance = String::new();
        let (mut input, mut output) = (0, 0);
        for Port { name, is_input, width, debugs } in &self.0 {
            if *debugs {
                let tied = if *is_input { "0" } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(instance, ",\n    .{name}({tied})");
                continue;
            }
            let (vector, first) =
                if *is_input { ("in_q", &mut input) } else { ("out", &mut output) };
            let _ = write!(instance, ",\n    .{name}({vector}[{first} +: {width}])");
            *first += width;
        }
        let parameters: Vec<String> =
            parameters.iter().map(|(name, value)| format!(".{name}({value})")).collect();
        format!(
            "module {MODULE} (input clk_i, input rst_ni, input scan_i, output scan_o);\n  \
             reg [{}:0] in_q;\n  reg [{}:0] seen_q, chain_q;\n  wire [{}:0] out;\n  \
             always @(posedge clk_i) begin\n    in_q <= {{in_q, scan_i}};\n    seen_q <= out;\n    \
             chain_q <= {{chain_q, 1'b0}} ^ seen_q;\n  end\n  \
             assign scan_o = chain_q[{}];\n  {module} #({}) u_block (\n    .clk_i(clk_i),\n    \
             .rst_ni(rst_ni){instance}\n  );\nendmodule\n",
            inputs - 1,
            outputs - 1,
            outputs - 1,
            outputs - 1,
            parameters.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "module m\ninput [0:0] clk_i\ninput [0:0] rst_ni\ninput [7:0] a_i\n\
                        input [1:0] dbg_warp_i\ninput [0:0] b_i\noutput [3:0] c_o\n\
                        output [5:0] dbg_ages_o\noutput [0:0] d_o\n";

    #[test]
    fn clock_reset_and_debugging_are_no_ports_of_a_block() {
        let ports = Ports::parse(LIST).expect("a list");
        assert_eq!((ports.inputs(), ports.outputs()), (9, 5));
        assert_eq!((ports.flip_flops(), ports.tables()), (19, 4));
    }

    #[test]
    fn each_port_has_its_own_bits() {
        let text = Ports::parse(LIST).expect("a list").wrapper("m", &[("N", 3), ("W", 4)]);
        assert!(text.contains("reg [8:0] in_q;") && text.contains("wire [4:0] out;"), "{text}");
        assert!(text.contains("m #(.N(3), .W(4)) u_block"), "{text}");
        assert!(
            text.contains(".a_i(in_q[0 +: 8]),\n    .dbg_warp_i(0),\n    .b_i(in_q[8 +: 1])"),
            "{text}"
        );
        assert!(
            text.contains(".c_o(out[0 +: 4]),\n    .dbg_ages_o(),\n    .d_o(out[4 +: 1])"),
            "{text}"
        );
    }

    #[test]
    fn a_list_without_ports_is_refused() {
        assert!(Ports::parse("module m\ninput [0:0] clk_i\n").is_err());
        let Failure(why) = Ports::parse("input [7:1] a_i\n").expect_err("bit 0 is not there");
        assert_eq!(why, "a port without a width: `input [7:1] a_i`");
    }
}
