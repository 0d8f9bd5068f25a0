// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `main_register_file` keeps: assumed in
// ../main_register_file_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here, too.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module main_register_file_interface #(
  parameter int unsigned Warps         = 8,
  parameter int unsigned WarpWidth     = 3,
  parameter int unsigned PoolEntries   = 60,
  parameter int unsigned Lanes         = 4,
  parameter int unsigned RegisterWidth = 8
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     clear_i,
  input logic [5:0]               cfg_pool_entries_i,
  input logic                     cfg_split_i,
  input logic [3:0]               cfg_write_cycles_i,
  input logic [7:0]               cfg_registers_i,
  input logic                     req_valid_i,
  input logic                     req_ready_o,
  input logic [2:0]               req_op_i,
  input logic [WarpWidth-1:0]     req_warp_i,
  input logic [RegisterWidth-1:0] req_register_i,
  input logic [Lanes-1:0]         req_lanes_i,
  input logic [32*Lanes-1:0]      req_data_i
);

  localparam int unsigned Width = 3 + WarpWidth + RegisterWidth + Lanes + 32 * Lanes;

  logic             cleared_q;  // since the reset
  logic             waits_q;
  logic [18:0]      settings, settings_q;
  logic [Width-1:0] request, request_q;

  assign settings = {cfg_pool_entries_i, cfg_split_i, cfg_write_cycles_i, cfg_registers_i};
  assign request  = {req_op_i, req_warp_i, req_register_i, req_lanes_i, req_data_i};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (clear_i) begin
        e01_pool: assert (32'(cfg_pool_entries_i) <= PoolEntries);
        e01_cycles: assert (cfg_write_cycles_i != '0);
        e01_registers: assert (cfg_registers_i != '0 && 32'(cfg_registers_i) * Warps <= 1024);
      end
      if (req_valid_i) begin
        e02_clear: assert (cleared_q && !clear_i);
        e03_request: assert (32'(req_warp_i) < Warps && req_op_i <= regmap_pkg::MainAccessNothing);
        if (req_op_i < regmap_pkg::MainAccessDemote)
          e03_access: assert (8'(req_register_i) < cfg_registers_i && req_lanes_i != '0);
      end
      if (cleared_q && !clear_i) e04_settings: assert (settings == settings_q);
      if (waits_q) e04_holds: assert (req_valid_i && request == request_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cleared_q <= 1'b0;
      waits_q   <= 1'b0;
    end else begin
      cleared_q <= cleared_q || clear_i;
      waits_q   <= req_valid_i && !req_ready_o;
    end
  end

  always_ff @(posedge clk_i) begin
    settings_q <= settings;
    request_q  <= request;
  end
endmodule

bind main_register_file main_register_file_interface #(
  .Warps(Warps), .WarpWidth(WarpWidth), .PoolEntries(PoolEntries), .Lanes(Lanes),
  .RegisterWidth(RegisterWidth)
) u_interface (.*);

`default_nettype wire
