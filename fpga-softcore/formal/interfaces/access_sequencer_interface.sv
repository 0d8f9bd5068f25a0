// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `access_sequencer` keeps: assumed in
// ../access_sequencer_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here, too.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module access_sequencer_interface #(
  parameter int unsigned Warps         = 8,
  parameter int unsigned WarpWidth     = 3,
  parameter int unsigned CacheEntries  = 6,
  parameter int unsigned PoolEntries   = 60,
  parameter int unsigned Lanes         = 4,
  parameter int unsigned RegisterWidth = 8
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     clear_i,
  input logic [3:0]               cfg_cache_entries_i,
  input logic                     cfg_lru_i,
  input logic                     cfg_liveness_i,
  input logic [5:0]               cfg_pool_entries_i,
  input logic                     cfg_split_i,
  input logic [3:0]               cfg_write_cycles_i,
  input logic [7:0]               cfg_registers_i,
  input logic                     cmd_valid_i,
  input logic                     cmd_ready_o,
  input logic [2:0]               cmd_op_i,
  input logic [WarpWidth-1:0]     cmd_warp_i,
  input logic [RegisterWidth-1:0] cmd_register_i,
  input logic [Lanes-1:0]         cmd_lanes_i,
  input logic                     cmd_last_use_i,
  input logic                     cmd_more_i,
  input logic [32*Lanes-1:0]      cmd_data_i
);

  localparam int unsigned Width = 5 + WarpWidth + RegisterWidth + Lanes + 32 * Lanes;

  logic                 cleared_q;  // since the reset
  logic                 waits_q;
  logic                 more_q;     // the instruction has another read
  logic [WarpWidth-1:0] warp_q;     // of this warp
  logic [24:0]          settings, settings_q;
  logic [Width-1:0]     command, command_q;

  assign settings = {cfg_cache_entries_i, cfg_lru_i, cfg_liveness_i, cfg_pool_entries_i, cfg_split_i,
                     cfg_write_cycles_i, cfg_registers_i};
  assign command  = {cmd_op_i, cmd_warp_i, cmd_register_i, cmd_lanes_i, cmd_last_use_i, cmd_more_i,
                     cmd_data_i};

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (clear_i) begin
        e01_cache: assert (32'(cfg_cache_entries_i) <= CacheEntries);
        e01_pool: assert (32'(cfg_pool_entries_i) <= PoolEntries);
        e01_cycles: assert (cfg_write_cycles_i != '0);
        e01_registers: assert (cfg_registers_i != '0 && 32'(cfg_registers_i) * Warps <= 1024);
      end
      if (cmd_valid_i) begin
        e02_clear: assert (cleared_q && !clear_i);
        e03_warp: assert (32'(cmd_warp_i) < Warps);
        if (cmd_op_i < regmap_pkg::OpCodeFlush)
          e03_access: assert (8'(cmd_register_i) < cfg_registers_i && cmd_lanes_i != '0);
        if (more_q) e04_more: assert (cmd_op_i == regmap_pkg::OpCodeRead && cmd_warp_i == warp_q);
      end
      if (cleared_q && !clear_i) e05_settings: assert (settings == settings_q);
      if (waits_q) e05_holds: assert (cmd_valid_i && command == command_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cleared_q <= 1'b0;
      waits_q   <= 1'b0;
      more_q    <= 1'b0;
    end else begin
      cleared_q <= cleared_q || clear_i;
      waits_q   <= cmd_valid_i && !cmd_ready_o;
      if (cmd_valid_i && cmd_ready_o) more_q <= cmd_op_i == regmap_pkg::OpCodeRead && cmd_more_i;
    end
  end

  always_ff @(posedge clk_i) begin
    settings_q <= settings;
    command_q  <= command;
    if (cmd_valid_i && cmd_ready_o) warp_q <= cmd_warp_i;
  end
endmodule

bind access_sequencer access_sequencer_interface #(
  .Warps(Warps), .WarpWidth(WarpWidth), .CacheEntries(CacheEntries), .PoolEntries(PoolEntries),
  .Lanes(Lanes), .RegisterWidth(RegisterWidth)
) u_interface (.*);

`default_nettype wire
