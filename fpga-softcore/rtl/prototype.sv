// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The prototype: the register hierarchy behind a bus, with a queue of commands before it and a queue
// of outcomes behind it.
//
// Mirrors core/src/prototype/sequencer.rs; registers are those of fpga-softcore/regmap.toml.
// docs/hw/prototype.md is the long form of this comment.
// Latency: the bus answers a write in the second clock of its request, a read in the fourth; a write
// to CONTROL in the third, and if it resets, when the reset is done.
// Throughput: commands run one a clock where no bank conflicts, however slow the bus is: a batch is
// queued first, and then runs from idle banks.
// Back-pressure: none on the bus. A command that finds the queue full, or a batch running, is lost,
// which STATUS says until the next reset; and nothing is run before the outcomes of the last batch
// have been read.
// Does not do: interrupts; bursts; bytes.

`default_nettype none

module prototype #(
  parameter int unsigned Warps        = 8,    // 1 to 8
  parameter int unsigned CacheEntries = 6,    // of one warp, 1 to 15
  parameter int unsigned PoolEntries  = 60,   // 1 to 63
  parameter int unsigned Lanes        = 4,    // of a register, 1 to 4; 32 bits each
  parameter int unsigned Batch        = 128   // commands that can be queued, a power of two to 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,         // asynchronous, active low, released with the clock

  // Bus. A request stands until it is answered.
  input  logic        bus_valid_i,
  input  logic        bus_write_i,
  input  logic [11:0] bus_address_i,  // in bytes, a multiple of 4
  input  logic [31:0] bus_wdata_i,
  output logic        bus_ready_o,
  output logic [31:0] bus_rdata_o,

  // Nothing changes before the next request.
  output logic        asleep_o
);

  if (Warps < 1 || Warps > 8 || Lanes < 1 || Lanes > 4 || Batch < 1 || Batch > 128
      || (Batch & (Batch - 1)) != 0) begin : g_check
    $error("prototype: Warps is 1 to 8, Lanes 1 to 4, Batch a power of two up to 128");
  end

  localparam int unsigned RegisterWidth = 8;
  localparam int unsigned CounterWidth  = 48;
  localparam int unsigned Banks         = 16;
  localparam int unsigned Rows          = 64;
  localparam int unsigned WarpWidth     = (Warps > 1) ? $clog2(Warps) : 1;
  localparam int unsigned WayWidth      = (CacheEntries > 1) ? $clog2(CacheEntries) : 1;
  localparam int unsigned SlotWidth     = (PoolEntries > 1) ? $clog2(PoolEntries) : 1;
  localparam int unsigned SelectWidth   = $clog2(regmap_pkg::Counters);
  localparam int unsigned DataWidth     = 32 * Lanes;
  localparam int unsigned PointerWidth  = (Batch > 1) ? $clog2(Batch) : 1;
  localparam int unsigned QueuedWidth   = $clog2(Batch) + 1;  // the highest bit: the queue is full
  localparam int unsigned WordWidth     = regmap_pkg::CommandLanesBit + Lanes;  // of a command
  localparam int unsigned SettingsWidth = regmap_pkg::SettingsWidth;
  localparam int unsigned OutcomeWidth  = regmap_pkg::OutcomeWidth;
  // Clocks after which every bank is idle, whatever was written.
  localparam logic [3:0]  Drain         = 4'd15;
  // No cache, no pool, writes of one clock.
  localparam logic [SettingsWidth-1:0] Bare =
      (SettingsWidth'((Banks * Rows / Warps > 255) ? 255 : Banks * Rows / Warps)
       << regmap_pkg::SettingsRegistersBit)
    | (SettingsWidth'(1) << regmap_pkg::SettingsWriteCyclesBit);

  // ---- Bus: a request is registered, does its work in the next clock, and is read from after it ----

  typedef enum logic [1:0] {
    BusIdle,    // a request may come
    BusAct,     // writes act
    BusSelect,  // what is read is chosen
    BusAnswer
  } bus_state_e;

  bus_state_e  bus_q, bus_d;
  logic        write_q;
  logic [11:0] address_q;
  logic [31:0] wdata_q;
  logic [31:0] rdata_q;
  logic        resetting;
  logic        acts;      // a write does its work in this clock
  logic        ready_q;
  logic        posts;     // a posted write: answered at once
  logic        posted_q;
  logic        resets, runs, clears, pushes;  // what writes do

  assign posts = bus_q == BusIdle && bus_valid_i && bus_write_i
                 && bus_address_i != regmap_pkg::AddressControl;
  assign acts = bus_q == BusAct && write_q;

  always_comb begin
    bus_d = bus_q;
    unique case (bus_q)
      BusIdle:   if (bus_valid_i) bus_d = BusAct;
      BusAct:    bus_d = posted_q ? BusIdle : write_q ? BusAnswer : BusSelect;
      BusSelect: bus_d = BusAnswer;
      BusAnswer: if (ready_q) bus_d = BusIdle;
      default:   bus_d = BusIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bus_q   <= BusIdle;
      ready_q <= 1'b0;
    end else begin
      bus_q   <= bus_d;
      ready_q <= posts || (bus_d == BusAnswer && !resetting && !resets && !ready_q);
    end
  end

  // Not reset: read only while a request is worked on.
  always_ff @(posedge clk_i) begin
    if (bus_q == BusIdle) begin
      write_q   <= bus_write_i;
      posted_q  <= posts;
      address_q <= bus_address_i;
      wdata_q   <= bus_wdata_i;
    end
  end

  assign bus_ready_o = ready_q;
  assign bus_rdata_o = rdata_q;

  // ---- What writes do ----

  assign resets = acts && address_q == regmap_pkg::AddressControl
                       && wdata_q[regmap_pkg::ControlResetBit];
  assign runs   = acts && address_q == regmap_pkg::AddressControl
                       && wdata_q[regmap_pkg::ControlRunBit];
  assign clears = acts && address_q == regmap_pkg::AddressControl
                       && wdata_q[regmap_pkg::ControlClearCountersBit];
  assign pushes = acts && address_q == regmap_pkg::AddressCommand;

  logic [SettingsWidth-1:0] asked_q;     // settings as written
  regmap_pkg::settings_t    settings_q;  // settings since the last reset
  (* mem2reg *) logic [31:0] value_q [Lanes];  // of the next command

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_q <= Bare;
    else if (acts && address_q == regmap_pkg::AddressSettings) begin
      asked_q <= wdata_q[SettingsWidth-1:0];
    end
  end

  // Not reset: a value is written before its command.
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (acts && address_q == regmap_pkg::AddressData + 12'(4 * l)) value_q[l] <= wdata_q;
    end
  end

  // ---- Reset of everything behind the bus: first asynchronous, then what needs a clock ----

  localparam logic [2:0] ResetReleased = 3'd3;
  localparam logic [2:0] ResetCleared  = 3'd6;
  localparam logic [2:0] ResetDone     = 3'd7;

  logic [2:0] reset_q;
  logic       core_rst_nq;
  logic       core_clear_q;

  assign resetting = reset_q != ResetDone;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reset_q      <= '0;
      core_rst_nq  <= 1'b0;
      core_clear_q <= 1'b1;
      settings_q   <= Bare;
    end else begin
      if (resets)         reset_q <= '0;
      else if (resetting) reset_q <= reset_q + 1'b1;
      core_rst_nq  <= !resets && reset_q >= ResetReleased;
      core_clear_q <= reset_q < ResetCleared;
      if (resets) settings_q <= asked_q;
    end
  end

  // ---- Queue of commands: memory, its output, and a register that the sequencer takes from ----

  logic [DataWidth+WordWidth-1:0] commands_q [Batch];
  logic [DataWidth+WordWidth-1:0] fetched_q;
  logic [DataWidth+WordWidth-1:0] command_q;
  logic                           fetched_valid_q;
  logic                           command_valid_q;
  logic [PointerWidth-1:0]        push_q;
  logic [PointerWidth-1:0]        fetch_q;
  logic [QueuedWidth-1:0]         queued_q;
  logic                           lost_q;   // a command found no room, or a batch running
  logic                           running_q;
  logic                           push, fetch, fetched_free, command_free;
  logic                           command_ready;
  logic [DataWidth-1:0]           value;
  logic                           busy;      // of the sequencer
  logic                           busy_q;
  logic                           wanted_q;  // a batch runs as soon as all banks are idle

  assign push         = pushes && !running_q && !wanted_q && !queued_q[QueuedWidth-1];
  assign command_free = !command_valid_q || command_ready;
  // All that is queued is there before it runs: so nothing is gained by a fetch beside a command
  // that waits, where nothing was fetched yet.
  assign fetched_free = command_free;
  assign fetch        = running_q && fetched_free && queued_q != '0;

  // The place behind another one, if it moves on.
  function automatic logic [PointerWidth-1:0] after(logic [PointerWidth-1:0] place, logic moves);
    after = (Batch > 1) ? place + PointerWidth'(moves) : '0;
  endfunction

  for (genvar l = 0; l < Lanes; l++) begin : g_value
    assign value[32*l +: 32] = value_q[l];
  end

  always_ff @(posedge clk_i) begin
    if (push)         commands_q[push_q] <= {value, wdata_q[WordWidth-1:0]};
    if (fetched_free) fetched_q <= commands_q[fetch_q];
    if (command_free) command_q <= fetched_q;
  end

  always_ff @(posedge clk_i or negedge core_rst_nq) begin
    if (!core_rst_nq) begin
      push_q          <= '0;
      fetch_q         <= '0;
      queued_q        <= '0;
      lost_q          <= 1'b0;
      fetched_valid_q <= 1'b0;
      command_valid_q <= 1'b0;
    end else begin
      push_q   <= after(push_q, push);
      fetch_q  <= after(fetch_q, fetch);
      queued_q <= queued_q + QueuedWidth'(push) - QueuedWidth'(fetch);
      lost_q   <= lost_q || (pushes && !push);
      if (fetched_free) fetched_valid_q <= fetch;
      if (command_free) command_valid_q <= fetched_valid_q;
    end
  end

  // ---- Batches ----

  logic        idle;
  logic [3:0]  drain_q;
  logic [31:0] clocks_q;
  logic        start;

  // Of the sequencer and of the queue of outcomes, both below; a name is declared before its use.
  logic                    out_valid;
  logic [OutcomeWidth-1:0] out_outcome;
  logic [DataWidth-1:0]    out_data;
  logic [CounterWidth-1:0] count;
  logic                    count_clear_q;

  logic [CacheEntries-1:0]               unused_occupied;
  logic [CacheEntries-1:0]               unused_dirty;
  logic [CacheEntries*RegisterWidth-1:0] unused_registers;
  logic [CacheEntries*Lanes-1:0]         unused_lanes;
  logic [CacheEntries*WayWidth-1:0]      unused_ages;
  logic                                  unused_entry_occupied;
  logic [WarpWidth-1:0]                  unused_entry_warp;
  logic [9:0]                            unused_entry_number;
  logic [Lanes-1:0]                      unused_entry_lanes;
  logic [PoolEntries-1:0]                unused_entry_newer;
  logic [3:0]                            unused_write_busy;
  logic                                  unused_written;
  logic                                  unused_command;  // bits of warps and lanes that are not there

  regmap_pkg::command_t command;

  logic [DataWidth+OutcomeWidth-1:0] outcomes_q [Batch];
  logic [DataWidth+OutcomeWidth-1:0] popped_q;
  logic [DataWidth+OutcomeWidth-1:0] head_q;
  logic [PointerWidth-1:0]           put_q;
  logic [PointerWidth-1:0]           pop_q;
  logic [QueuedWidth-1:0]            waiting_q;
  logic                              pop;

  assign idle  = queued_q == '0 && !fetched_valid_q && !command_valid_q && !busy && !busy_q;
  assign start = wanted_q && drain_q == '0;

  always_ff @(posedge clk_i or negedge core_rst_nq) begin
    if (!core_rst_nq) begin
      wanted_q  <= 1'b0;
      running_q <= 1'b0;
      drain_q   <= '0;
      busy_q    <= 1'b0;
      clocks_q  <= '0;
    end else begin
      busy_q <= busy;
      if (runs && !running_q && waiting_q == '0) wanted_q <= 1'b1;
      else if (start)                            wanted_q <= 1'b0;
      if (start)     running_q <= 1'b1;
      else if (idle) running_q <= 1'b0;
      if (running_q)            drain_q <= Drain;
      else if (drain_q != '0)   drain_q <= drain_q - 1'b1;
      if (start)       clocks_q <= '0;
      else if (busy_q) clocks_q <= clocks_q + 1'b1;
    end
  end

  assign asleep_o = bus_q == BusIdle && !ready_q && !resetting && core_rst_nq && !core_clear_q
                    && !running_q && !wanted_q && !command_valid_q && !busy && !busy_q
                    && drain_q == '0 && !count_clear_q;

  // ---- Sequencer ----

  always_ff @(posedge clk_i) begin
    count_clear_q <= clears;
  end

  assign command        = regmap_pkg::CommandWidth'(command_q[WordWidth-1:0]);
  assign unused_command = ^{command_q, command};

  access_sequencer #(
    .Warps         (Warps),
    .CacheEntries  (CacheEntries),
    .PoolEntries   (PoolEntries),
    .Lanes         (Lanes),
    .RegisterWidth (RegisterWidth),
    .CounterWidth  (CounterWidth)
  ) u_sequencer (
    .clk_i                (clk_i),
    .rst_ni               (core_rst_nq),
    .clear_i              (core_clear_q),
    .cfg_cache_entries_i  (settings_q.cache_entries),
    .cfg_lru_i            (settings_q.lru),
    .cfg_liveness_i       (settings_q.liveness),
    .cfg_pool_entries_i   (settings_q.pool_entries),
    .cfg_split_i          (settings_q.split),
    .cfg_write_cycles_i   (settings_q.write_cycles),
    .cfg_registers_i      (settings_q.registers),
    .cmd_valid_i          (command_valid_q),
    .cmd_ready_o          (command_ready),
    .cmd_op_i             (command.operation),
    .cmd_warp_i           (command.warp[WarpWidth-1:0]),
    .cmd_register_i       (command.register_number),
    .cmd_lanes_i          (command.lanes[Lanes-1:0]),
    .cmd_last_use_i       (command.last_use),
    .cmd_more_i           (command.more),
    .cmd_data_i           (command_q[WordWidth +: DataWidth]),
    .out_valid_o          (out_valid),
    .out_outcome_o        (out_outcome),
    .out_data_o           (out_data),
    .busy_o               (busy),
    .count_clear_i        (count_clear_q),
    .count_select_i       (address_q[3 +: SelectWidth]),
    .count_o              (count),
    .dbg_enable_i         (1'b0),
    .dbg_warp_i           ('0),
    .dbg_occupied_o       (unused_occupied),
    .dbg_dirty_o          (unused_dirty),
    .dbg_registers_o      (unused_registers),
    .dbg_lanes_o          (unused_lanes),
    .dbg_ages_o           (unused_ages),
    .dbg_entry_i          (SlotWidth'(0)),
    .dbg_entry_occupied_o (unused_entry_occupied),
    .dbg_entry_warp_o     (unused_entry_warp),
    .dbg_entry_number_o   (unused_entry_number),
    .dbg_entry_lanes_o    (unused_entry_lanes),
    .dbg_entry_newer_o    (unused_entry_newer),
    .dbg_bank_i           ('0),
    .dbg_write_busy_o     (unused_write_busy),
    .dbg_written_o        (unused_written)
  );

  // ---- Queue of outcomes: memory, its output, and a register that the bus reads ----

  assign pop = bus_q == BusSelect && address_q == regmap_pkg::AddressOutcome && waiting_q != '0;

  always_ff @(posedge clk_i) begin
    if (out_valid) outcomes_q[put_q] <= {out_data, out_outcome};
    popped_q <= outcomes_q[pop_q];
    head_q   <= popped_q;
  end

  always_ff @(posedge clk_i or negedge core_rst_nq) begin
    if (!core_rst_nq) begin
      put_q     <= '0;
      pop_q     <= '0;
      waiting_q <= '0;
    end else begin
      put_q     <= after(put_q, out_valid);
      pop_q     <= after(pop_q, pop);
      waiting_q <= waiting_q + QueuedWidth'(out_valid) - QueuedWidth'(pop);
    end
  end

  // ---- What reads show ----

  logic [31:0]              rdata;
  regmap_pkg::status_t      status;
  regmap_pkg::parameters0_t parameters0;
  regmap_pkg::parameters1_t parameters1;

  always_comb begin
    status          = '0;
    status.running  = running_q || wanted_q;
    status.lost     = lost_q;
    status.commands = 8'(queued_q);
    status.outcomes = 8'(waiting_q);
  end

  assign parameters0.warps         = 8'(Warps);
  assign parameters0.cache_entries = 8'(CacheEntries);
  assign parameters0.pool_entries  = 8'(PoolEntries);
  assign parameters0.lanes         = 8'(Lanes);
  assign parameters1.batch         = 16'(Batch);
  assign parameters1.banks         = 8'(Banks);
  assign parameters1.rows          = 8'(Rows);

  always_comb begin
    rdata = '0;
    unique case (address_q)
      regmap_pkg::AddressId:          rdata = regmap_pkg::Id;
      regmap_pkg::AddressVersion:     rdata = regmap_pkg::Version;
      regmap_pkg::AddressParameters0: rdata = parameters0;
      regmap_pkg::AddressParameters1: rdata = parameters1;
      regmap_pkg::AddressSettings:    rdata = 32'(asked_q);
      regmap_pkg::AddressStatus:      rdata = 32'(status);
      regmap_pkg::AddressClocks:      rdata = clocks_q;
      regmap_pkg::AddressOutcome: begin
        rdata = (waiting_q != '0) ? 32'(head_q[OutcomeWidth-1:0]) : '0;
      end
      default: ;
    endcase
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (address_q == regmap_pkg::AddressReadData + 12'(4 * l)) begin
        rdata = head_q[OutcomeWidth + 32*l +: 32];
      end
    end
    if (address_q[11:8] == regmap_pkg::AddressCounters[11:8]) begin
      rdata = address_q[2] ? 32'(count[CounterWidth-1:32]) : count[31:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (bus_q == BusSelect) rdata_q <= rdata;
  end

`ifdef FORMAL
`include "prototype_properties.svh"
`endif

endmodule

`default_nettype wire
