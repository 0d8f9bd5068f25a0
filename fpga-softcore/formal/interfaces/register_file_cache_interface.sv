// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `register_file_cache` keeps: assumed in
// ../register_file_cache_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here, too.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module register_file_cache_interface #(
  parameter int unsigned Warps         = 8,
  parameter int unsigned WarpWidth     = 3,
  parameter int unsigned Entries       = 6,
  parameter int unsigned CountWidth    = 3,
  parameter int unsigned Lanes         = 4,
  parameter int unsigned RegisterWidth = 8
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic [CountWidth-1:0]    cfg_entries_i,
  input logic                     cfg_lru_i,
  input logic                     cfg_liveness_i,
  input logic                     req_valid_i,
  input logic                     req_ready_o,
  input logic [2:0]               req_op_i,
  input logic [WarpWidth-1:0]     req_warp_i,
  input logic [RegisterWidth-1:0] req_register_i,
  input logic [Lanes-1:0]         req_lanes_i,
  input logic                     req_last_use_i,
  input logic                     req_more_i,
  input logic [32*Lanes-1:0]      req_data_i
);

  localparam int unsigned Width = 5 + WarpWidth + RegisterWidth + Lanes + 32 * Lanes;

  logic                  waits_q;
  logic                  more_q;   // the instruction has another read
  logic [WarpWidth-1:0]  warp_q;   // of this warp
  logic                  asked_q;  // since the reset
  logic [CountWidth+1:0] settings, settings_q;
  logic [Width-1:0]      request, request_q;

  assign settings = {cfg_entries_i, cfg_lru_i, cfg_liveness_i};
  assign request  = {req_op_i, req_warp_i, req_register_i, req_lanes_i, req_last_use_i, req_more_i,
                     req_data_i};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (req_valid_i) begin
        e01_entries: assert (cfg_entries_i != '0 && 32'(cfg_entries_i) <= Entries);
        e02_warp: assert (32'(req_warp_i) < Warps);
        if (req_op_i < regmap_pkg::OpCodeFlush) e02_lanes: assert (req_lanes_i != '0);
        if (more_q) e03_more: assert (req_op_i == regmap_pkg::OpCodeRead && req_warp_i == warp_q);
      end
      if (waits_q) e05_holds: assert (req_valid_i && request == request_q);
      if (asked_q) e06_settings: assert (settings == settings_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      asked_q <= 1'b0;
      more_q  <= 1'b0;
    end else begin
      waits_q <= req_valid_i && !req_ready_o;
      asked_q <= asked_q || req_valid_i;
      if (req_valid_i && req_ready_o) more_q <= req_op_i == regmap_pkg::OpCodeRead && req_more_i;
    end
  end

  always_ff @(posedge clk_i) begin
    settings_q <= settings;
    request_q  <= request;
    if (req_valid_i && req_ready_o) warp_q <= req_warp_i;
  end
endmodule

bind register_file_cache register_file_cache_interface #(
  .Warps(Warps), .WarpWidth(WarpWidth), .Entries(Entries), .CountWidth(CountWidth), .Lanes(Lanes),
  .RegisterWidth(RegisterWidth)
) u_interface (.*);

`default_nettype wire
