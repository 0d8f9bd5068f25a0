// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `split_bank_write` keeps: assumed in
// ../split_bank_write_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here, too.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module split_bank_write_interface #(
  parameter int unsigned BankWidth = 4
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 cfg_split_i,
  input logic [3:0]           cfg_read_cycles_i,
  input logic [3:0]           cfg_write_cycles_i,
  input logic [BankWidth-1:0] rd_bank_i,
  input logic                 rd_can_o,
  input logic                 rd_start_i,
  input logic [BankWidth-1:0] wr_bank_i,
  input logic                 wr_can_o,
  input logic                 wr_start_i,
  input logic                 busy_i        // any bank
);

  logic split_q, fixed_q;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (rd_start_i) e01_read: assert (cfg_read_cycles_i != '0);
      if (wr_start_i) e01_write: assert (cfg_write_cycles_i != '0);
      if (rd_start_i) e02_read: assert (rd_can_o);
      if (wr_start_i) e02_write: assert (wr_can_o);
      if (rd_start_i && wr_start_i) e03_banks: assert (rd_bank_i != wr_bank_i);
      if (fixed_q) e04_split: assert (cfg_split_i == split_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fixed_q <= 1'b0;
    end else begin
      fixed_q <= busy_i || rd_start_i || wr_start_i;
    end
  end

  always_ff @(posedge clk_i) begin
    split_q <= cfg_split_i;
  end
endmodule

bind split_bank_write split_bank_write_interface #(.BankWidth(BankWidth)) u_interface (
  .busy_i((reading_q | writing_q) != '0), .*
);

`default_nettype wire
