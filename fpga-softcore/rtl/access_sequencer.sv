// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Access sequencer: commands in, each through the register file cache and then the main register
// file, outcomes and what was read out.
//
// Mirrors core/src/prototype/sequencer.rs. docs/hw/access_sequencer.md is the long form of this
// comment.
// Latency: an outcome stands seven clocks after its command was taken, later by the clocks that it
// or those before it had to wait for a bank, and for all but the last write-back of a flush.
// Throughput: one command a clock where no bank conflicts.
// Back-pressure: `cmd_ready_o` falls while a bank is waited for, and during a flush; it depends
// combinationally on the command. Outcomes cannot be held up: the commander has room for them.
// Does not do: queueing; checking of settings and commands.

`default_nettype none

module access_sequencer #(
  parameter int unsigned Warps         = 8,   // warps that have registers, at least 1
  parameter int unsigned CacheEntries  = 6,   // entries of one warp's cache, 1 to 15
  parameter int unsigned PoolEntries   = 60,  // entries of the write pool, 1 to 63
  parameter int unsigned Lanes         = 4,   // lanes of a register, 1 to 32; 32 bits each
  parameter int unsigned RegisterWidth = 8,   // bits of a register number
  parameter int unsigned CounterWidth  = 48,
  // Derived; do not override.
  localparam int unsigned WarpWidth    = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned WayWidth     = (CacheEntries > 1) ? $clog2(CacheEntries) : 1,
  localparam int unsigned CountWidth   = $clog2(CacheEntries + 1),
  localparam int unsigned DataWidth    = 32 * Lanes,
  localparam int unsigned SlotWidth    = (PoolEntries > 1) ? $clog2(PoolEntries) : 1,
  localparam int unsigned SelectWidth  = $clog2(regmap_pkg::Counters)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,   // asynchronous, active low
  input  logic                                  clear_i,  // for the main register file; reset both

  // Configuration. Changes only while nothing is held, before a reset.
  input  logic [3:0]                            cfg_cache_entries_i,  // 0 without a cache
  input  logic                                  cfg_lru_i,
  input  logic                                  cfg_liveness_i,
  input  logic [5:0]                            cfg_pool_entries_i,   // 0 without a pool
  input  logic                                  cfg_split_i,
  input  logic [3:0]                            cfg_write_cycles_i,   // 1 to 15
  input  logic [7:0]                            cfg_registers_i,      // of each warp

  // Commands. A command holds still until it is taken.
  input  logic                                  cmd_valid_i,
  output logic                                  cmd_ready_o,
  input  logic [2:0]                            cmd_op_i,
  input  logic [WarpWidth-1:0]                  cmd_warp_i,
  input  logic [RegisterWidth-1:0]              cmd_register_i,
  input  logic [Lanes-1:0]                      cmd_lanes_i,     // never empty
  input  logic                                  cmd_last_use_i,  // READ: the last of the value
  input  logic                                  cmd_more_i,      // READ: another operand follows
  input  logic [DataWidth-1:0]                  cmd_data_i,      // WRITE, BYPASS, FILL

  // Outcomes, one a command, in order, each for one clock.
  output logic                                  out_valid_o,
  output logic [regmap_pkg::OutcomeWidth-1:0]   out_outcome_o,
  output logic [DataWidth-1:0]                  out_data_o,      // READ: the lanes asked for

  // A command stands, or its outcome has not stood before this clock.
  output logic                                  busy_o,

  // Counters.
  input  logic                                  count_clear_i,
  input  logic [SelectWidth-1:0]                count_select_i,
  output logic [CounterWidth-1:0]               count_o,

  // Debug: the cache of a warp and an entry of the write pool, 0 without the enable; a bank.
  input  logic                                  dbg_enable_i,
  input  logic [WarpWidth-1:0]                  dbg_warp_i,
  output logic [CacheEntries-1:0]               dbg_occupied_o,
  output logic [CacheEntries-1:0]               dbg_dirty_o,
  output logic [CacheEntries*RegisterWidth-1:0] dbg_registers_o,
  output logic [CacheEntries*Lanes-1:0]         dbg_lanes_o,
  output logic [CacheEntries*WayWidth-1:0]      dbg_ages_o,
  input  logic [SlotWidth-1:0]                  dbg_entry_i,
  output logic                                  dbg_entry_occupied_o,
  output logic [WarpWidth-1:0]                  dbg_entry_warp_o,
  output logic [9:0]                            dbg_entry_number_o,
  output logic [Lanes-1:0]                      dbg_entry_lanes_o,
  output logic [PoolEntries-1:0]                dbg_entry_newer_o,
  input  logic [3:0]                            dbg_bank_i,
  output logic [3:0]                            dbg_write_busy_o,
  output logic                                  dbg_written_o
);

  if (CacheEntries < 1 || CacheEntries > 15) begin : g_check
    $error("access_sequencer: CacheEntries is 1 to 15");
  end

  localparam logic [2:0] OpRead   = regmap_pkg::OpCodeRead;
  localparam logic [2:0] OpWrite  = regmap_pkg::OpCodeWrite;
  localparam logic [2:0] OpBypass = regmap_pkg::OpCodeBypass;
  localparam logic [2:0] OpFill   = regmap_pkg::OpCodeFill;
  localparam logic [2:0] OpFlush  = regmap_pkg::OpCodeFlush;
  localparam logic [2:0] OpExit   = regmap_pkg::OpCodeExit;
  localparam logic [2:0] OpDemote = regmap_pkg::OpCodeDemote;
  localparam logic [2:0] OpDrop   = regmap_pkg::OpCodeDrop;

  localparam logic [2:0] MainRead    = regmap_pkg::MainAccessRead;
  localparam logic [2:0] MainWrite   = regmap_pkg::MainAccessWrite;
  localparam logic [2:0] MainDemote  = regmap_pkg::MainAccessDemote;
  localparam logic [2:0] MainDrop    = regmap_pkg::MainAccessDrop;
  localparam logic [2:0] MainNothing = regmap_pkg::MainAccessNothing;

  localparam logic [2:0] CacheMiss        = regmap_pkg::CacheOutcomeMiss;
  localparam logic [2:0] CachePartialHit  = regmap_pkg::CacheOutcomePartialHit;
  localparam logic [2:0] CacheHit         = regmap_pkg::CacheOutcomeHit;
  localparam logic [2:0] CacheInPlace     = regmap_pkg::CacheOutcomeInPlace;
  localparam logic [2:0] CacheAllocation  = regmap_pkg::CacheOutcomeAllocation;
  localparam logic [2:0] CacheInvalidated = regmap_pkg::CacheOutcomeInvalidated;

  localparam logic [2:0] PoolBank        = regmap_pkg::MainOutcomeBank;
  localparam logic [2:0] PoolHit         = regmap_pkg::MainOutcomePoolHit;
  localparam logic [2:0] PoolPartialHit  = regmap_pkg::MainOutcomePoolPartialHit;
  localparam logic [2:0] PoolAllocation  = regmap_pkg::MainOutcomePoolAllocation;
  localparam logic [2:0] PoolReplacement = regmap_pkg::MainOutcomePoolReplacement;

  // ---- Stage A: the cache, or a register in its place, takes the command ----

  logic with_cache;
  logic cache_ready;
  logic main_ready;

  // The command behind the answer that stands in stage B; without a cache it is its own answer.
  logic                     b_valid_q;
  logic [2:0]               b_op_q;
  logic [WarpWidth-1:0]     b_warp_q;
  logic [RegisterWidth-1:0] b_register_q;
  logic [Lanes-1:0]         b_lanes_q;
  logic [DataWidth-1:0]     b_data_q;
  logic                     b_free;

  assign with_cache  = cfg_cache_entries_i != '0;
  assign b_free      = !b_valid_q || main_ready;
  assign cmd_ready_o = with_cache ? cache_ready : b_free;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) b_valid_q <= 1'b0;
    else if (b_free) b_valid_q <= cmd_valid_i;
  end

  // Not reset: read only where `b_valid_q` is set.
  always_ff @(posedge clk_i) begin
    if (b_free) begin
      b_op_q       <= cmd_op_i;
      b_warp_q     <= cmd_warp_i;
      b_register_q <= cmd_register_i;
      b_lanes_q    <= cmd_lanes_i;
      b_data_q     <= cmd_data_i;
    end
  end

  logic                     unused_cache_valid;  // as `b_valid_q`
  logic                     unused_victim;       // each that matters is to be written back
  logic [2:0]               cache_outcome;
  logic                     cache_last;
  logic [WayWidth-1:0]      cache_way;
  logic [Lanes-1:0]         cache_served;
  logic [Lanes-1:0]         cache_missing;
  logic [CacheEntries-1:0]  cache_dropped;
  logic                     cache_writeback;
  logic [RegisterWidth-1:0] cache_victim_register;
  logic [Lanes-1:0]         cache_victim_lanes;
  logic [DataWidth-1:0]     cache_data;

  register_file_cache #(
    .Warps         (Warps),
    .Entries       (CacheEntries),
    .Lanes         (Lanes),
    .RegisterWidth (RegisterWidth)
  ) u_cache (
    .clk_i                 (clk_i),
    .rst_ni                (rst_ni),
    .cfg_entries_i         (cfg_cache_entries_i[CountWidth-1:0]),
    .cfg_lru_i             (cfg_lru_i),
    .cfg_liveness_i        (cfg_liveness_i),
    .req_valid_i           (cmd_valid_i && with_cache),
    .req_ready_o           (cache_ready),
    .req_op_i              (cmd_op_i),
    .req_warp_i            (cmd_warp_i),
    .req_register_i        (cmd_register_i),
    .req_lanes_i           (cmd_lanes_i),
    .req_last_use_i        (cmd_last_use_i),
    .req_more_i            (cmd_more_i),
    .req_data_i            (cmd_data_i),
    .rsp_valid_o           (unused_cache_valid),
    .rsp_ready_i           (main_ready),
    .rsp_outcome_o         (cache_outcome),
    .rsp_last_o            (cache_last),
    .rsp_way_o             (cache_way),
    .rsp_served_o          (cache_served),
    .rsp_missing_o         (cache_missing),
    .rsp_dropped_o         (cache_dropped),
    .rsp_victim_o          (unused_victim),
    .rsp_writeback_o       (cache_writeback),
    .rsp_victim_register_o (cache_victim_register),
    .rsp_victim_lanes_o    (cache_victim_lanes),
    .rsp_data_o            (cache_data),
    .dbg_enable_i          (dbg_enable_i),
    .dbg_warp_i            (dbg_warp_i),
    .dbg_occupied_o        (dbg_occupied_o),
    .dbg_dirty_o           (dbg_dirty_o),
    .dbg_registers_o       (dbg_registers_o),
    .dbg_lanes_o           (dbg_lanes_o),
    .dbg_ages_o            (dbg_ages_o)
  );

  // ---- Stage B: what is left to the main register file ----

  logic [2:0]               main_op;
  logic [RegisterWidth-1:0] main_register;
  logic [Lanes-1:0]         main_lanes;
  logic [DataWidth-1:0]     main_data;
  logic                     writes_back;

  assign writes_back = with_cache && cache_writeback;

  always_comb begin
    // Defaults first: the command's own register, and nothing to do.
    main_op       = MainNothing;
    main_register = b_register_q;
    main_lanes    = b_lanes_q;
    main_data     = b_data_q;
    unique case (b_op_q)
      OpRead: begin
        if (with_cache) main_lanes = cache_missing;
        if (main_lanes != '0) main_op = MainRead;
      end
      OpWrite:  if (!with_cache) main_op = MainWrite;
      OpBypass: main_op = MainWrite;
      OpDemote: main_op = MainDemote;
      OpDrop:   main_op = MainDrop;
      default:  ;
    endcase
    if (writes_back) begin
      main_op       = MainWrite;
      main_register = cache_victim_register;
      main_lanes    = cache_victim_lanes;
      main_data     = cache_data;
    end
  end

  logic                 unused_tag;
  logic                 main_valid;
  logic [2:0]           done_op;
  logic [2:0]           done_outcome;
  logic [5:0]           done_count;
  logic                 done_beside_write;
  logic [3:0]           done_waited;
  logic [DataWidth-1:0] done_data;

  main_register_file #(
    .Warps         (Warps),
    .PoolEntries   (PoolEntries),
    .Lanes         (Lanes),
    .RegisterWidth (RegisterWidth),
    .TagWidth      (1)
  ) u_main (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .clear_i            (clear_i),
    .cfg_pool_entries_i (cfg_pool_entries_i),
    .cfg_split_i        (cfg_split_i),
    .cfg_write_cycles_i (cfg_write_cycles_i),
    .cfg_registers_i    (cfg_registers_i),
    .req_valid_i        (b_valid_q),
    .req_ready_o        (main_ready),
    .req_op_i           (main_op),
    .req_warp_i         (b_warp_q),
    .req_register_i     (main_register),
    .req_lanes_i        (main_lanes),
    .req_data_i         (main_data),
    .req_tag_i          (1'b0),
    .rsp_valid_o        (main_valid),
    .rsp_op_o           (done_op),
    .rsp_outcome_o      (done_outcome),
    .rsp_count_o        (done_count),
    .rsp_beside_write_o (done_beside_write),
    .rsp_waited_o       (done_waited),
    .rsp_data_o         (done_data),
    .rsp_tag_o          (unused_tag),
    .dbg_enable_i       (dbg_enable_i),
    .dbg_entry_i        (dbg_entry_i),
    .dbg_occupied_o     (dbg_entry_occupied_o),
    .dbg_warp_o         (dbg_entry_warp_o),
    .dbg_number_o       (dbg_entry_number_o),
    .dbg_lanes_o        (dbg_entry_lanes_o),
    .dbg_newer_o        (dbg_entry_newer_o),
    .dbg_bank_i         (dbg_bank_i),
    .dbg_write_busy_o   (dbg_write_busy_o),
    .dbg_written_o      (dbg_written_o)
  );

  // ---- Beside the main register file: what the cache has answered, first in, first out ----

  // More places than the main register file has requests under way, so it never fills.
  localparam int unsigned Places     = 16;
  localparam int unsigned PlaceWidth = $clog2(Places);

  typedef struct packed {
    logic                    last;
    logic [2:0]              op;
    logic [2:0]              outcome;
    logic [WayWidth-1:0]     way;
    logic                    writeback;
    logic [CacheEntries-1:0] dropped;
    logic [Lanes-1:0]        served;
    logic [DataWidth-1:0]    data;
  } answer_t;

  localparam int unsigned AnswerWidth = 8 + WayWidth + CacheEntries + Lanes + DataWidth;

  logic [AnswerWidth-1:0] answers_q [Places];  // of answer_t
  answer_t                answer, stood;
  logic [PlaceWidth-1:0] head_q, tail_q;
  logic                  turn;

  assign turn = b_valid_q && main_ready;

  always_comb begin
    answer           = '0;
    answer.last      = 1'b1;
    answer.op        = b_op_q;
    answer.data      = cache_data;
    if (with_cache) begin
      answer.last      = cache_last;
      answer.outcome   = cache_outcome;
      answer.way       = cache_way;
      answer.writeback = cache_writeback;
      answer.dropped   = cache_dropped;
      answer.served    = cache_served;
    end
  end

  always_ff @(posedge clk_i) begin
    if (turn) answers_q[tail_q] <= answer;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
    end else begin
      if (turn)       tail_q <= tail_q + 1'b1;
      if (main_valid) head_q <= head_q + 1'b1;
    end
  end

  assign stood = answers_q[head_q];

  // ---- Stage C: both answers become an outcome; those of a flush are added up ----

  logic [2:0] main_q, main_d;
  logic [3:0] writebacks_q, writebacks_d;
  logic [5:0] dropped_q, dropped_d;
  logic [7:0] waited_q, waited_d;
  logic [3:0] given_up;

  always_comb begin
    given_up = '0;
    for (int unsigned e = 0; e < CacheEntries; e++) given_up = given_up + 4'(stood.dropped[e]);
  end

  always_comb begin
    main_d       = (done_op == MainNothing) ? main_q : done_outcome;
    writebacks_d = writebacks_q + 4'(stood.writeback);
    dropped_d    = dropped_q + 6'(given_up) + ((done_op == MainDrop) ? done_count : '0);
    // Fifteen entries that wait fifteen clocks each fit.
    waited_d     = waited_q + 8'(done_waited);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o  <= 1'b0;
      main_q       <= '0;
      writebacks_q <= '0;
      dropped_q    <= '0;
      waited_q     <= '0;
    end else begin
      out_valid_o <= main_valid && stood.last;
      if (main_valid) begin
        main_q       <= stood.last ? '0 : main_d;
        writebacks_q <= stood.last ? '0 : writebacks_d;
        dropped_q    <= stood.last ? '0 : dropped_d;
        waited_q     <= stood.last ? '0 : waited_d;
      end
    end
  end

  regmap_pkg::outcome_t outcome;

  assign outcome.cache      = stood.outcome;
  assign outcome.way        = 4'(stood.way);
  assign outcome.main       = main_d;
  assign outcome.writebacks = writebacks_d;
  assign outcome.dropped    = dropped_d;
  assign outcome.waited     = waited_d;

  // Not reset: read only where `out_valid_o` is set.
  always_ff @(posedge clk_i) begin
    out_outcome_o <= outcome;
    for (int unsigned l = 0; l < Lanes; l++) begin
      out_data_o[32*l +: 32] <= stood.served[l] ? stood.data[32*l +: 32] : done_data[32*l +: 32];
    end
  end

  // ---- Commands under way: never more than there are places ----

  logic [PlaceWidth:0] under_way_q;
  logic                taken;

  assign taken  = cmd_valid_i && cmd_ready_o;
  assign busy_o = cmd_valid_i || under_way_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_way_q <= '0;
    else under_way_q <= under_way_q + (PlaceWidth+1)'(taken) - (PlaceWidth+1)'(out_valid_o);
  end

  // ---- Events ----

  localparam int unsigned AmountWidth = 6;

  localparam bit [regmap_pkg::Counters-1:0] One = 1;
  localparam bit [regmap_pkg::Counters-1:0] ByMain =
      (One << regmap_pkg::CountPoolDemotions) | (One << regmap_pkg::CountPoolDropped)
    | (One << regmap_pkg::CountReadWaits)     | (One << regmap_pkg::CountWriteWaits);
  localparam bit [regmap_pkg::Counters-1:0] ByCache = One << regmap_pkg::CountCacheDropped;

  logic [regmap_pkg::Counters-1:0] events, events_q;
  logic [AmountWidth-1:0]          main_amount_q, cache_amount_q;
  logic                            reads, writes, moves, empties;

  assign reads   = done_op == MainRead;
  assign writes  = done_op == MainWrite;
  assign moves   = done_op == MainDemote || done_op == MainDrop;
  assign empties = stood.op == OpFlush || stood.op == OpExit;

  always_comb begin
    events = '0;
    if (main_valid) begin
      unique case (stood.outcome)
        CacheMiss:        events[regmap_pkg::CountCacheReadsMissed] = 1'b1;
        CachePartialHit:  events[regmap_pkg::CountCacheReadsPartial] = 1'b1;
        CacheHit:         events[regmap_pkg::CountCacheReadsHit] = 1'b1;
        CacheInPlace: begin
          events[regmap_pkg::CountCacheWritesInPlace] = stood.op == OpWrite;
          events[regmap_pkg::CountCacheFills]         = stood.op == OpFill;
        end
        CacheAllocation: begin
          events[regmap_pkg::CountCacheAllocations] = 1'b1;
          events[regmap_pkg::CountCacheFills]       = stood.op == OpFill;
        end
        CacheInvalidated: events[regmap_pkg::CountCacheBypasses] = 1'b1;
        default:          ;
      endcase
      events[regmap_pkg::CountCacheWritebacksEvicted] = stood.writeback && !empties;
      events[regmap_pkg::CountCacheWritebacksFlushed] = stood.writeback && empties;
      events[regmap_pkg::CountCacheDropped]           = 1'b1;
      unique case (done_outcome)
        PoolBank: begin
          events[regmap_pkg::CountBankReads]       = reads;
          events[regmap_pkg::CountBankWrites]      = writes;
          events[regmap_pkg::CountPoolReadsMissed] = reads && cfg_pool_entries_i != '0;
        end
        PoolHit: begin
          events[regmap_pkg::CountPoolReadsHit]  = reads;
          events[regmap_pkg::CountPoolWritesHit] = writes;
        end
        PoolPartialHit: begin
          events[regmap_pkg::CountBankReads]        = reads;
          events[regmap_pkg::CountPoolReadsPartial] = reads;
        end
        PoolAllocation:  events[regmap_pkg::CountPoolAllocations] = writes;
        PoolReplacement: begin
          events[regmap_pkg::CountBankWrites]       = writes;
          events[regmap_pkg::CountPoolReplacements] = writes;
        end
        default:         ;
      endcase
      events[regmap_pkg::CountReadsBesideWrite] = reads && done_beside_write;
      events[regmap_pkg::CountPoolDemotions]    = done_op == MainDemote;
      events[regmap_pkg::CountPoolDropped]      = done_op == MainDrop;
      events[regmap_pkg::CountReadWaits]        = reads;
      events[regmap_pkg::CountWriteWaits]       = writes;
    end
    events[regmap_pkg::CountCommands] = taken;
    events[regmap_pkg::CountClocks]   = busy_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) events_q <= '0;
    else         events_q <= events;
  end

  // Not reset: read only where an event is set.
  always_ff @(posedge clk_i) begin
    main_amount_q  <= moves ? done_count : AmountWidth'(done_waited);
    cache_amount_q <= AmountWidth'(given_up);
  end

  event_counters #(
    .Counters     (regmap_pkg::Counters),
    .CounterWidth (CounterWidth),
    .AmountWidth  (AmountWidth),
    .ByFirst      (ByMain),
    .BySecond     (ByCache)
  ) u_counters (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .clear_i  (count_clear_i),
    .events_i (events_q),
    .first_i  (main_amount_q),
    .second_i (cache_amount_q),
    .select_i (count_select_i),
    .count_o  (count_o)
  );

`ifdef FORMAL
`include "access_sequencer_properties.svh"
`endif

endmodule

`default_nettype wire
