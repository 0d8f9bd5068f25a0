// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `main_register_file_bank` keeps: assumed in
// ../main_register_file_bank_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module main_register_file_bank_interface #(
  parameter int unsigned Rows     = 64,
  parameter int unsigned RowWidth = 6
) (
  input logic                clk_i,
  input logic                rd_valid_i,
  input logic [RowWidth-1:0] rd_row_i,
  input logic                wr_valid_i,
  input logic [RowWidth-1:0] wr_row_i
);

  always_ff @(posedge clk_i) begin
    if (rd_valid_i) e01_read: assert (32'(rd_row_i) < Rows);
    if (wr_valid_i) e01_write: assert (32'(wr_row_i) < Rows);
  end
endmodule

bind main_register_file_bank main_register_file_bank_interface #(
  .Rows(Rows), .RowWidth(RowWidth)
) u_interface (.*);

`default_nettype wire
