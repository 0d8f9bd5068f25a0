// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One bank of the main register file: a memory with one read and one write port.
//
// Mirrors nothing: the twin has no values. docs/hw/main_register_file.md describes it.
// Latency: data stands in the clock after `rd_valid_i`, until the next read.
// Throughput: a read and a write a clock, not of the same row: that read gives anything.
// Does not do: conflicts and the time that a write takes, which are `split_bank_write`'s.

`default_nettype none

module main_register_file_bank #(
  parameter int unsigned Rows      = 64,  // registers, at least 2
  parameter int unsigned Lanes     = 4,   // lanes of a register, 32 bits each
  // Derived; do not override.
  localparam int unsigned RowWidth  = $clog2(Rows),
  localparam int unsigned DataWidth = 32 * Lanes
) (
  input  logic                 clk_i,
  input  logic                 rd_valid_i,
  input  logic [RowWidth-1:0]  rd_row_i,
  output logic [DataWidth-1:0] rd_data_o,
  input  logic                 wr_valid_i,
  input  logic [RowWidth-1:0]  wr_row_i,
  input  logic [Lanes-1:0]     wr_lanes_i,
  input  logic [DataWidth-1:0] wr_data_i
);

  if (Rows < 2 || Lanes < 1) begin : g_check
    $error("main_register_file_bank: Rows is at least 2, Lanes at least 1");
  end

  // Not reset: a row means nothing before it was written.
  (* ram_style = "block", no_rw_check *)
  logic [DataWidth-1:0] rows_q [Rows];

  // Only this process touches the rows, and reads before it writes, so that they can be assigned at
  // once: for a simulator, a memory that changes at the end of the clock is several times the work.
  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    if (rd_valid_i) rd_data_o <= rows_q[rd_row_i];
    if (wr_valid_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (wr_lanes_i[l]) rows_q[wr_row_i][32*l +: 32] = wr_data_i[32*l +: 32];
      end
    end
  end
  // verilator lint_on BLKSEQ

`ifdef FORMAL
`include "main_register_file_bank_properties.svh"
`endif

endmodule

`default_nettype wire
