// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `write_pool` keeps: assumed in
// ../write_pool_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here, too.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module write_pool_interface #(
  parameter int unsigned Entries     = 60,
  parameter int unsigned Warps       = 8,
  parameter int unsigned WarpWidth   = 3,
  parameter int unsigned NumberWidth = 10,
  parameter int unsigned Lanes       = 4
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   clear_i,
  input logic [5:0]             cfg_entries_i,
  input logic                   req_valid_i,
  input logic                   req_ready_o,
  input logic [2:0]             req_op_i,
  input logic [WarpWidth-1:0]   req_warp_i,
  input logic [NumberWidth-1:0] req_number_i,
  input logic [Lanes-1:0]       req_lanes_i,
  input logic [32*Lanes-1:0]    req_data_i,
  input logic                   dec_valid_o
);

  localparam int unsigned Width = 3 + WarpWidth + NumberWidth + Lanes + 32 * Lanes;

  logic                    accesses;
  logic                    waits_q;
  logic [Width-1:0]        request, request_q;
  logic [2**NumberWidth-1:0] owned_q;
  logic [WarpWidth-1:0]    owners_q [2**NumberWidth];

  assign accesses = req_op_i < regmap_pkg::MainAccessDemote;
  assign request  = {req_op_i, req_warp_i, req_number_i, req_lanes_i, req_data_i};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (clear_i)
        e01_clear: assert (32'(cfg_entries_i) <= Entries && !req_valid_i && !dec_valid_o);
      if (req_valid_i) e02_warp: assert (32'(req_warp_i) < Warps);
      if (req_valid_i && accesses) e02_lanes: assert (req_lanes_i != '0);
      if (req_valid_i && accesses && owned_q[req_number_i])
        e03_owner: assert (req_warp_i == owners_q[req_number_i]);
      if (waits_q) e04_holds: assert (req_valid_i && request == request_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      owned_q <= '0;
    end else begin
      waits_q <= req_valid_i && !req_ready_o;
      if (clear_i) owned_q <= '0;
      else if (req_valid_i && accesses) owned_q[req_number_i] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    request_q <= request;
    if (req_valid_i && accesses) owners_q[req_number_i] <= req_warp_i;
  end
endmodule

bind write_pool write_pool_interface #(
  .Entries(Entries), .Warps(Warps), .WarpWidth(WarpWidth), .NumberWidth(NumberWidth), .Lanes(Lanes)
) u_interface (.*);

`default_nettype wire
