// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Clock of a block that is often idle. On a device the clock passes through, since an FPGA has no
// gates in its clock tree. In simulation it stands while `enable_i` is low, so that what cannot
// change costs no time: whoever instantiates this promises that `enable_i` is high in every clock
// in which a register of the block would take another value.

`default_nettype none

module clock_gate (
  input  logic clk_i,
  input  logic enable_i,  // a register, or what follows from registers
  output logic clk_o
);

`ifdef VERILATOR
  logic enable_q;

  // Holds still while the clock is high: no edge comes from anything but the clock.
  /* verilator lint_off COMBDLY */
  always_latch begin
    if (!clk_i) enable_q <= enable_i;
  end
  /* verilator lint_on COMBDLY */

  assign clk_o = clk_i && enable_q;
`else
  logic unused_enable;
  assign unused_enable = enable_i;

  assign clk_o = clk_i;
`endif
endmodule

`default_nettype wire
