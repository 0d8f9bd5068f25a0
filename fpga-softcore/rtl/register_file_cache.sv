// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Register file cache of several warps: the registers that each used last, with their values.
//
// Mirrors core/src/register_file_cache.rs through core/src/prototype/cache_block.rs, which says clock by clock
// what this block does. docs/hw/register_file_cache.md is the long form of this comment.
// Latency: the response stands one clock after its request was taken, data included.
// Throughput: one access a clock; a flush takes a clock for each entry, at least one.
// Back-pressure: an unread response holds requests up. `req_ready_o` depends combinationally on
// `rsp_ready_i`, and in a flush on the request; responses never wait for `rsp_ready_i`.
// Does not do: liveness-aware eviction, whose hint it does not store; the bypass itself (the result
// goes to the main register file beside this block); counting of events.

`default_nettype none

module register_file_cache #(
  parameter int unsigned Warps         = 8,  // warps that have a cache, at least 1
  parameter int unsigned Entries       = 6,  // entries of one warp, 1 to 16
  parameter int unsigned Lanes         = 4,  // lanes of a register, 1 to 32; 32 bits each
  parameter int unsigned RegisterWidth = 8,  // bits of a register number
  // Derived; do not override.
  localparam int unsigned WarpWidth    = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned WayWidth     = (Entries > 1) ? $clog2(Entries) : 1,
  localparam int unsigned CountWidth   = $clog2(Entries + 1),
  localparam int unsigned PairCount    = (Entries > 1) ? Entries * (Entries - 1) / 2 : 1,
  localparam int unsigned DataWidth    = 32 * Lanes
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,  // asynchronous, active low

  // Configuration. Changes only while no warp has an entry.
  input  logic [CountWidth-1:0]            cfg_entries_i,   // 1 to Entries
  input  logic                             cfg_lru_i,       // else first in, first out
  input  logic                             cfg_liveness_i,  // last reads free entries

  // Requests. A request holds still until it is taken.
  input  logic                             req_valid_i,
  output logic                             req_ready_o,
  input  logic [2:0]                       req_op_i,
  input  logic [WarpWidth-1:0]             req_warp_i,
  input  logic [RegisterWidth-1:0]         req_register_i,
  input  logic [Lanes-1:0]                 req_lanes_i,     // never empty
  input  logic                             req_last_use_i,  // READ: nobody reads the value again
  input  logic                             req_more_i,      // READ: the instruction has another
  input  logic [DataWidth-1:0]             req_data_i,      // WRITE, FILL

  // Responses, in order: one a request, but one an entry for a flush.
  output logic                             rsp_valid_o,
  input  logic                             rsp_ready_i,
  output logic [2:0]                       rsp_outcome_o,
  output logic                             rsp_last_o,      // the request is done
  output logic [WayWidth-1:0]              rsp_way_o,       // the entry concerned, else 0
  output logic [Lanes-1:0]                 rsp_served_o,    // lanes that the entry gave or took
  output logic [Lanes-1:0]                 rsp_missing_o,   // READ: lanes of the main register file
  output logic [Entries-1:0]               rsp_dropped_o,   // entries given up, not written back
  output logic                             rsp_victim_o,    // an entry made room or was flushed,
  output logic                             rsp_writeback_o, // and is to be written back
  output logic [RegisterWidth-1:0]         rsp_victim_register_o,
  output logic [Lanes-1:0]                 rsp_victim_lanes_o,
  output logic [DataWidth-1:0]             rsp_data_o,      // what the entry held before

  // Debug: the state of one warp, each way in its own field, way 0 lowest.
  input  logic [WarpWidth-1:0]             dbg_warp_i,
  output logic [Entries-1:0]               dbg_occupied_o,
  output logic [Entries-1:0]               dbg_dirty_o,
  output logic [Entries*RegisterWidth-1:0] dbg_registers_o,
  output logic [Entries*Lanes-1:0]         dbg_lanes_o,
  output logic [Entries*WayWidth-1:0]      dbg_ages_o       // 0 the oldest
);

  localparam logic [2:0] OpRead   = 3'd0;
  localparam logic [2:0] OpWrite  = 3'd1;
  localparam logic [2:0] OpBypass = 3'd2;
  localparam logic [2:0] OpFill   = 3'd3;
  localparam logic [2:0] OpFlush  = 3'd4;
  localparam logic [2:0] OpExit   = 3'd5;
  // Codes from 6 on change nothing.

  localparam logic [2:0] OutcomeNothing     = 3'd0;
  localparam logic [2:0] OutcomeMiss        = 3'd1;
  localparam logic [2:0] OutcomePartialHit  = 3'd2;
  localparam logic [2:0] OutcomeHit         = 3'd3;
  localparam logic [2:0] OutcomeInPlace     = 3'd4;
  localparam logic [2:0] OutcomeAllocation  = 3'd5;
  localparam logic [2:0] OutcomeInvalidated = 3'd6;
  localparam logic [2:0] OutcomeEmptied     = 3'd7;

  localparam int unsigned Words     = Warps * Entries;
  localparam int unsigned WordWidth = (Words > 1) ? $clog2(Words) : 1;

  // State of all warps: a word of each array belongs to one warp. Only `occupied_q` is reset; the
  // other arrays mean something where it is set.
  logic [Entries-1:0]               occupied_q  [Warps];
  logic [Entries-1:0]               dirty_q     [Warps];
  logic [Entries*RegisterWidth-1:0] registers_q [Warps];
  logic [Entries*Lanes-1:0]         lanes_q     [Warps];
  // The order of use, a bit for each two entries: the one with the lower number is the older.
  logic [PairCount-1:0]             order_q     [Warps];
  // Way by way, a word for each warp.
  logic [DataWidth-1:0]             data_q      [Words];
  // Entries whose values the reads of this instruction have seen for the last time.
  logic [Entries-1:0]               dead_q;

  // The state of the request's warp, now and next.
  logic [Entries-1:0]               occupied, occupied_d;
  logic [Entries-1:0]               dirty, dirty_d;
  logic [Entries*RegisterWidth-1:0] registers, registers_d;
  logic [Entries*Lanes-1:0]         lanes, lanes_d;
  logic [PairCount-1:0]             order, order_d;
  logic [Entries-1:0]               dead_d;

  logic step;  // the request does a clock's work

  assign occupied  = occupied_q[req_warp_i];
  assign dirty     = dirty_q[req_warp_i];
  assign registers = registers_q[req_warp_i];
  assign lanes     = lanes_q[req_warp_i];
  assign order     = order_q[req_warp_i];

  // ---- What does not depend on whether the register is there ----

  logic is_read, is_write, is_fill, is_bypass;
  logic empties_at_once, empties_oldest;

  assign is_read         = req_op_i == OpRead;
  assign is_write        = req_op_i == OpWrite;
  assign is_fill         = req_op_i == OpFill;
  assign is_bypass       = req_op_i == OpBypass;
  assign empties_at_once = req_op_i == OpExit && cfg_liveness_i;
  assign empties_oldest  = req_op_i == OpFlush || (req_op_i == OpExit && !cfg_liveness_i);

  // Bit e * Entries + o: entry o is older than entry e, where both are occupied.
  logic [Entries*Entries-1:0] elders;
  logic [Entries-1:0]       oldest;       // one way, unless there is none
  logic [Entries-1:0]       free;
  logic [Entries-1:0]       lowest_free;
  logic                     full;
  logic                     several;      // more than one is occupied
  logic [Entries-1:0]       place;        // where a new entry goes, or what a flush takes
  logic [WayWidth-1:0]      place_way;
  logic [Entries-1:0]       overlaps;     // has a lane of the request
  logic [Entries-1:0]       lacks;        // has not all of them
  logic [Entries-1:0]       covered;      // has none that is not the request's
  logic [RegisterWidth-1:0] oldest_register;
  logic [Lanes-1:0]         oldest_lanes;
  logic                     oldest_dirty;

  always_comb begin
    for (int unsigned e = 0; e < Entries; e++) begin
      oldest[e] = occupied[e] && (occupied & elders[e*Entries +: Entries]) == '0;
      free[e]   = !occupied[e] && CountWidth'(e) < cfg_entries_i;
      lowest_free[e] = free[e];
      for (int unsigned o = 0; o < e; o++) if (free[o]) lowest_free[e] = 1'b0;
      overlaps[e] = (req_lanes_i & lanes[e*Lanes +: Lanes]) != '0;
      lacks[e]    = (req_lanes_i & ~lanes[e*Lanes +: Lanes]) != '0;
      covered[e]  = (~req_lanes_i & lanes[e*Lanes +: Lanes]) == '0;
    end
  end

  assign full         = free == '0;
  assign place        = (empties_oldest || full) ? oldest : lowest_free;
  assign oldest_dirty = (oldest & dirty) != '0;

  always_comb begin
    several = 1'b0;
    for (int unsigned e = 1; e < Entries; e++) begin
      for (int unsigned o = 0; o < e; o++) if (occupied[e] && occupied[o]) several = 1'b1;
    end
  end

  always_comb begin
    place_way       = '0;
    oldest_register = '0;
    oldest_lanes    = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (place[e]) place_way = place_way | WayWidth'(e);
      if (oldest[e]) begin
        oldest_register = oldest_register | registers[e*RegisterWidth +: RegisterWidth];
        oldest_lanes    = oldest_lanes | lanes[e*Lanes +: Lanes];
      end
    end
  end

  // ---- Lookup. `match` comes late in the clock: little follows it ----

  logic [Entries-1:0]  match;   // holds the request's register: one way at most
  logic                found;
  logic [WayWidth-1:0] match_way;
  logic [Lanes-1:0]    held;    // lanes that it has

  always_comb begin
    match_way = '0;
    held      = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      match[e] = occupied[e] && (is_read || is_write || is_fill || is_bypass)
          && registers[e*RegisterWidth +: RegisterWidth] == req_register_i;
      if (match[e]) begin
        match_way = match_way | WayWidth'(e);
        held      = held | lanes[e*Lanes +: Lanes];
      end
    end
  end

  assign found = match != '0;

  // ---- What the request does ----

  logic                allocate;
  logic                uses_place;
  logic [Entries-1:0]  pushed;   // becomes the youngest
  logic [Entries-1:0]  left;     // is empty from now on
  logic [Entries-1:0]  dropped;
  logic [Entries-1:0]  deaths;
  logic [Lanes-1:0]    written;  // lanes of data to take
  logic                last;
  logic [2:0]          outcome;

  assign allocate     = (is_write || is_fill) && !found;
  assign uses_place   = allocate || empties_oldest;
  assign deaths       = dead_q | ((cfg_liveness_i && req_last_use_i) ? match : '0);
  assign dead_d       = (is_read && req_more_i) ? deaths : '0;
  // A flush is done with the last entry.
  assign last         = !(empties_oldest && several);

  always_comb begin
    unique case (req_op_i)
      OpWrite: written = req_lanes_i;
      OpFill:  written = req_lanes_i & ~held;
      default: written = '0;
    endcase
  end

  always_comb begin
    // Defaults first: nothing happens.
    left    = '0;
    dropped = '0;
    unique case (req_op_i)
      OpRead: begin
        left    = req_more_i ? '0 : deaths;
        dropped = left;
      end
      OpWrite, OpFill: if (!found && full && !oldest_dirty) dropped = oldest;
      OpBypass: begin
        left    = match & covered;
        dropped = left;
      end
      OpFlush, OpExit: begin
        left    = empties_at_once ? occupied : oldest;
        dropped = (empties_at_once || !oldest_dirty) ? left : '0;
      end
      default: ;
    endcase
  end

  // What the outcome is where no entry matches, and where entry e does.
  logic [2:0] outcome_without;
  logic [2:0] outcome_with;

  always_comb begin
    unique case (req_op_i)
      OpRead:          outcome_without = OutcomeMiss;
      OpWrite, OpFill: outcome_without = OutcomeAllocation;
      OpFlush, OpExit: outcome_without = (occupied == '0) ? OutcomeNothing : OutcomeEmptied;
      default:         outcome_without = OutcomeNothing;
    endcase
    outcome = found ? OutcomeNothing : outcome_without;
    for (int unsigned e = 0; e < Entries; e++) begin
      unique case (req_op_i)
        OpRead: begin
          outcome_with = !overlaps[e] ? OutcomeMiss : lacks[e] ? OutcomePartialHit : OutcomeHit;
        end
        OpWrite:  outcome_with = OutcomeInPlace;
        OpFill:   outcome_with = lacks[e] ? OutcomeInPlace : OutcomeNothing;
        OpBypass: outcome_with = overlaps[e] ? OutcomeInvalidated : OutcomeNothing;
        default:  outcome_with = OutcomeNothing;
      endcase
      if (match[e]) outcome = outcome | outcome_with;
    end
  end

  // ---- Next state of the warp ----

  // Entries that their own use makes the youngest, if they match.
  logic [Entries-1:0] touched;

  always_comb begin
    unique case (req_op_i)
      OpRead: begin
        touched = overlaps;
        if (!req_more_i) begin
          touched = overlaps & ~dead_q;
          if (cfg_liveness_i && req_last_use_i) touched = '0;
        end
      end
      OpWrite: touched = '1;
      OpFill:  touched = lacks;
      default: touched = '0;
    endcase
    if (!cfg_lru_i) touched = '0;
  end

  assign pushed     = (match & touched) | (allocate ? place : '0);
  assign occupied_d = (occupied & ~left) | (allocate ? place : '0);

  always_comb begin
    registers_d = registers;
    lanes_d     = lanes;
    dirty_d     = dirty;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (allocate && place[e]) begin
        registers_d[e*RegisterWidth +: RegisterWidth] = req_register_i;
        lanes_d[e*Lanes +: Lanes] = req_lanes_i;
        dirty_d[e] = is_write;
      end else if (match[e]) begin
        if (is_bypass) lanes_d[e*Lanes +: Lanes] = lanes[e*Lanes +: Lanes] & ~req_lanes_i;
        if (is_write || is_fill) lanes_d[e*Lanes +: Lanes] = lanes[e*Lanes +: Lanes] | req_lanes_i;
        if (is_write) dirty_d[e] = 1'b1;
      end
    end
  end

  // ---- Order of use ----

  for (genvar e = 0; e < Entries; e++) begin : g_order
    assign elders[e*Entries + e] = 1'b0;
    for (genvar o = 0; o < e; o++) begin : g_pair
      localparam int unsigned Pair = e * (e - 1) / 2 + o;
      assign elders[e*Entries + o] = order[Pair];
      assign elders[o*Entries + e] = !order[Pair];
      assign order_d[Pair]         = pushed[e] || (order[Pair] && !pushed[o]);
    end
  end
  if (Entries == 1) begin : g_no_order
    assign order_d = order & pushed;  // means nothing
  end

  // ---- Registers ----

  assign step        = req_valid_i && (!rsp_valid_o || rsp_ready_i);
  assign req_ready_o = (!rsp_valid_o || rsp_ready_i) && last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned w = 0; w < Warps; w++) occupied_q[w] <= '0;
      dead_q      <= '0;
      rsp_valid_o <= 1'b0;
    end else begin
      if (step) begin
        occupied_q[req_warp_i] <= occupied_d;
        dead_q                 <= dead_d;
        rsp_valid_o            <= 1'b1;
      end else if (rsp_ready_i) begin
        rsp_valid_o <= 1'b0;
      end
    end
  end

  // Not reset: read only where `occupied_q` or `rsp_valid_o` is set.
  always_ff @(posedge clk_i) begin
    if (step) begin
      dirty_q[req_warp_i]     <= dirty_d;
      registers_q[req_warp_i] <= registers_d;
      lanes_q[req_warp_i]     <= lanes_d;
      order_q[req_warp_i]     <= order_d;
      rsp_outcome_o           <= outcome;
      rsp_last_o              <= last;
      rsp_way_o               <= found ? match_way : uses_place ? place_way : '0;
      rsp_served_o            <= (is_read || is_bypass) ? held & req_lanes_i : written;
      rsp_missing_o           <= is_read ? req_lanes_i & ~held : '0;
      rsp_dropped_o           <= dropped;
      rsp_victim_o            <= (allocate && full) || (empties_oldest && occupied != '0);
      rsp_writeback_o         <= (full || empties_oldest) && uses_place && oldest_dirty;
      rsp_victim_register_o   <= oldest_register;
      rsp_victim_lanes_o      <= oldest_lanes;
    end
  end

  // ---- Data: the response reads the word, and the new value enters when the response leaves ----

  logic [WordWidth-1:0] word;
  logic [WarpWidth-1:0] warp_q;
  logic [Lanes-1:0]     written_q;
  logic [DataWidth-1:0] new_data_q;

  assign word       = WordWidth'(32'(rsp_way_o) * Warps + 32'(warp_q));
  assign rsp_data_o = data_q[word];

  always_ff @(posedge clk_i) begin
    if (step) begin
      warp_q     <= req_warp_i;
      written_q  <= written;
      new_data_q <= req_data_i;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (rsp_valid_o && rsp_ready_i && written_q[l]) begin
        data_q[word][32*l +: 32] <= new_data_q[32*l +: 32];
      end
    end
  end

  // ---- Debug ----

  logic [PairCount-1:0] dbg_order;

  assign dbg_occupied_o  = occupied_q[dbg_warp_i];
  assign dbg_dirty_o     = dirty_q[dbg_warp_i];
  assign dbg_registers_o = registers_q[dbg_warp_i];
  assign dbg_lanes_o     = lanes_q[dbg_warp_i];
  assign dbg_order       = order_q[dbg_warp_i];

  // Of one entry there is no order.
  logic unused;
  assign unused = ^dbg_order;

  for (genvar e = 0; e < Entries; e++) begin : g_dbg_age
    logic [Entries-1:0]  older;
    logic [WayWidth-1:0] age;
    for (genvar o = 0; o < Entries; o++) begin : g_other
      localparam int unsigned Pair = (e > o) ? e * (e - 1) / 2 + o : o * (o - 1) / 2 + e;
      if (o < e)      assign older[o] = dbg_occupied_o[o] && dbg_order[Pair];
      else if (o > e) assign older[o] = dbg_occupied_o[o] && !dbg_order[Pair];
      else            assign older[o] = 1'b0;
    end
    always_comb begin
      age = '0;
      for (int unsigned o = 0; o < Entries; o++) age = age + WayWidth'(older[o]);
    end
    assign dbg_ages_o[e*WayWidth +: WayWidth] = age;
  end

`ifdef FORMAL
`include "register_file_cache_properties.svh"
`endif

endmodule

`default_nettype wire
