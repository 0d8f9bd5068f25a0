// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An access sequencer behind a register for commands, as in the prototype: with all that a clock
// needs in registers, the simulator has to work it out once a clock, not once an edge.

`default_nettype none

module sequencer_bench #(
  parameter int unsigned Warps         = 8,
  parameter int unsigned CacheEntries  = 6,
  parameter int unsigned PoolEntries   = 60,
  parameter int unsigned Lanes         = 4,
  localparam int unsigned WarpWidth    = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned WayWidth     = (CacheEntries > 1) ? $clog2(CacheEntries) : 1,
  localparam int unsigned SlotWidth    = (PoolEntries > 1) ? $clog2(PoolEntries) : 1,
  localparam int unsigned SelectWidth  = $clog2(regmap_pkg::Counters)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       clear_i,
  input  logic [31:0]                cfg_i,      // as SETTINGS

  // A command is taken where both are high; `feed_ready_o` depends on no input.
  input  logic                       feed_valid_i,
  output logic                       feed_ready_o,
  input  logic [31:0]                feed_word_i,  // as COMMAND, whose lanes do not count
  input  logic [Lanes-1:0]           feed_lanes_i,
  input  logic [32*Lanes-1:0]        feed_data_i,

  output logic                       out_valid_o,
  output logic [regmap_pkg::OutcomeWidth-1:0] out_outcome_o,
  output logic [32*Lanes-1:0]        out_data_o,

  input  logic                       count_clear_i,
  input  logic [SelectWidth-1:0]     count_select_i,
  output logic [47:0]                count_o,

  // Debug: 0 without the enable, and then nearly no work.
  input  logic                             dbg_enable_i,
  input  logic [WarpWidth-1:0]             dbg_warp_i,
  output logic [CacheEntries-1:0]          dbg_cache_occupied_o,
  output logic [CacheEntries-1:0]          dbg_cache_dirty_o,
  output logic [CacheEntries*8-1:0]        dbg_cache_registers_o,
  output logic [CacheEntries*Lanes-1:0]    dbg_cache_lanes_o,
  output logic [CacheEntries*WayWidth-1:0] dbg_cache_ages_o,
  input  logic [SlotWidth-1:0]             dbg_entry_i,
  output logic                             dbg_occupied_o,
  output logic [WarpWidth-1:0]             dbg_warp_o,
  output logic [9:0]                       dbg_number_o,
  output logic [Lanes-1:0]                 dbg_lanes_o,
  output logic [PoolEntries-1:0]           dbg_newer_o
);

  logic                   valid_q;
  logic                   ready;
  logic [31:0]            word_q;
  logic [Lanes-1:0]       lanes_q;
  logic [32*Lanes-1:0]    data_q;
  logic [31:0]            cfg_q;
  logic                   clear_q;
  logic                   count_clear_q;
  logic [SelectWidth-1:0] count_select_q;
  logic                   unused_busy;
  logic [3:0]             unused_write_busy;
  logic                   unused_written;
  logic                   unused_bits;
  regmap_pkg::settings_t  settings;
  regmap_pkg::command_t   command;

  assign feed_ready_o = !valid_q || ready;
  assign settings     = cfg_q[regmap_pkg::SettingsWidth-1:0];
  assign command      = word_q;
  assign unused_bits  = ^{cfg_q, command};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (feed_ready_o) valid_q <= feed_valid_i;
  end

  always_ff @(posedge clk_i) begin
    cfg_q          <= cfg_i;
    clear_q        <= clear_i;
    count_clear_q  <= count_clear_i;
    count_select_q <= count_select_i;
    if (feed_ready_o) begin
      word_q  <= feed_word_i;
      lanes_q <= feed_lanes_i;
      data_q  <= feed_data_i;
    end
  end

  access_sequencer #(
    .Warps         (Warps),
    .CacheEntries  (CacheEntries),
    .PoolEntries   (PoolEntries),
    .Lanes         (Lanes)
  ) u_sequencer (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .clear_i              (clear_q),
    .cfg_cache_entries_i  (settings.cache_entries),
    .cfg_lru_i            (settings.lru),
    .cfg_liveness_i       (settings.liveness),
    .cfg_pool_entries_i   (settings.pool_entries),
    .cfg_split_i          (settings.split),
    .cfg_write_cycles_i   (settings.write_cycles),
    .cfg_registers_i      (settings.registers),
    .cmd_valid_i          (valid_q),
    .cmd_ready_o          (ready),
    .cmd_op_i             (command.operation),
    .cmd_warp_i           (command.warp[WarpWidth-1:0]),
    .cmd_register_i       (command.register_number),
    .cmd_lanes_i          (lanes_q),
    .cmd_last_use_i       (command.last_use),
    .cmd_more_i           (command.more),
    .cmd_data_i           (data_q),
    .out_valid_o          (out_valid_o),
    .out_outcome_o        (out_outcome_o),
    .out_data_o           (out_data_o),
    .busy_o               (unused_busy),
    .count_clear_i        (count_clear_q),
    .count_select_i       (count_select_q),
    .count_o              (count_o),
    .dbg_enable_i         (dbg_enable_i),
    .dbg_warp_i           (dbg_warp_i),
    .dbg_occupied_o       (dbg_cache_occupied_o),
    .dbg_dirty_o          (dbg_cache_dirty_o),
    .dbg_registers_o      (dbg_cache_registers_o),
    .dbg_lanes_o          (dbg_cache_lanes_o),
    .dbg_ages_o           (dbg_cache_ages_o),
    .dbg_entry_i          (dbg_entry_i),
    .dbg_entry_occupied_o (dbg_occupied_o),
    .dbg_entry_warp_o     (dbg_warp_o),
    .dbg_entry_number_o   (dbg_number_o),
    .dbg_entry_lanes_o    (dbg_lanes_o),
    .dbg_entry_newer_o    (dbg_newer_o),
    .dbg_bank_i           ('0),
    .dbg_write_busy_o     (unused_write_busy),
    .dbg_written_o        (unused_written)
  );

endmodule

`default_nettype wire
