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
  input  logic                             req_last_use_i,  // READ: the value is not read again
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

  // Debug: the state of one warp, each way in its own field, way 0 lowest; 0 without the enable.
  input  logic                             dbg_enable_i,
  input  logic [WarpWidth-1:0]             dbg_warp_i,
  output logic [Entries-1:0]               dbg_occupied_o,
  output logic [Entries-1:0]               dbg_dirty_o,
  output logic [Entries*RegisterWidth-1:0] dbg_registers_o,
  output logic [Entries*Lanes-1:0]         dbg_lanes_o,
  output logic [Entries*WayWidth-1:0]      dbg_ages_o       // 0 the oldest
);

  if (Warps < 1 || Entries < 1 || Entries > 16 || Lanes < 1 || Lanes > 32 || RegisterWidth < 1)
  begin : g_check
    $error("register_file_cache: Warps is at least 1, Entries 1 to 16, Lanes 1 to 32");
  end

  localparam logic [2:0] OpRead   = regmap_pkg::OpCodeRead;
  localparam logic [2:0] OpWrite  = regmap_pkg::OpCodeWrite;
  localparam logic [2:0] OpBypass = regmap_pkg::OpCodeBypass;
  localparam logic [2:0] OpFill   = regmap_pkg::OpCodeFill;
  localparam logic [2:0] OpFlush  = regmap_pkg::OpCodeFlush;
  localparam logic [2:0] OpExit   = regmap_pkg::OpCodeExit;
  // Codes from 6 on change nothing.

  localparam logic [2:0] OutcomeNothing     = regmap_pkg::CacheOutcomeNothing;
  localparam logic [2:0] OutcomeMiss        = regmap_pkg::CacheOutcomeMiss;
  localparam logic [2:0] OutcomePartialHit  = regmap_pkg::CacheOutcomePartialHit;
  localparam logic [2:0] OutcomeHit         = regmap_pkg::CacheOutcomeHit;
  localparam logic [2:0] OutcomeInPlace     = regmap_pkg::CacheOutcomeInPlace;
  localparam logic [2:0] OutcomeAllocation  = regmap_pkg::CacheOutcomeAllocation;
  localparam logic [2:0] OutcomeInvalidated = regmap_pkg::CacheOutcomeInvalidated;
  localparam logic [2:0] OutcomeEmptied     = regmap_pkg::CacheOutcomeEmptied;

  localparam int unsigned Words     = Warps * Entries;
  localparam int unsigned WordWidth = (Words > 1) ? $clog2(Words) : 1;

  // State of all warps: a word of each array belongs to one warp. Only `occupied_q` is reset; the
  // other arrays mean something where it is set. Registers and lanes lie a bit of all entries
  // beside each other, so that a lookup takes a word for each bit of a register's number.
  logic [Entries-1:0]               occupied_q  [Warps];
  logic [Entries-1:0]               dirty_q     [Warps];
  logic [RegisterWidth*Entries-1:0] registers_q [Warps];
  logic [Lanes*Entries-1:0]         lanes_q     [Warps];
  // The order of use, a bit for each two entries: the one with the lower number is the older. Row e
  // has a bit for each entry below entry e.
  logic [PairCount-1:0]             order_q     [Warps];
  // Way by way, a word for each warp.
  logic [DataWidth-1:0]             data_q      [Words];
  // Entries whose values the reads of this instruction have seen for the last time.
  logic [Entries-1:0]               dead_q;

  // The state of the request's warp, now and next.
  logic [Entries-1:0]               occupied, occupied_d;
  logic [Entries-1:0]               dirty, dirty_d;
  logic [RegisterWidth*Entries-1:0] registers;
  logic [Lanes*Entries-1:0]         lanes, lanes_d;
  logic [PairCount-1:0]             order, order_d;
  logic [Entries-1:0]               dead_d;

  logic step;  // the request does a clock's work

  assign occupied  = occupied_q[req_warp_i];
  assign dirty     = dirty_q[req_warp_i];
  assign registers = registers_q[req_warp_i];
  assign lanes     = lanes_q[req_warp_i];
  assign order     = order_q[req_warp_i];

  // Entries above the lowest of some.
  function automatic logic [Entries-1:0] above(logic [Entries-1:0] some);
    above = some << 1;
    for (int unsigned k = 1; k < Entries; k = 2 * k) above = above | above << k;
  endfunction

  // Entries whose number has a bit.
  function automatic logic [Entries-1:0] with_bit(int unsigned k);
    with_bit = '0;
    for (int unsigned e = 0; e < Entries; e++) with_bit[e] = 1'(e >> k);
  endfunction

  // All registers, one of which is new.
  function automatic logic [RegisterWidth*Entries-1:0] with_register(
    logic [RegisterWidth*Entries-1:0] all,
    logic [Entries-1:0]               entry,
    logic [RegisterWidth-1:0]         register
  );
    for (int unsigned k = 0; k < RegisterWidth; k++) begin
      with_register[k*Entries +: Entries] =
          register[k] ? all[k*Entries +: Entries] | entry : all[k*Entries +: Entries] & ~entry;
    end
  endfunction

  // ---- What does not depend on whether the register is there ----

  logic is_read, is_write, is_fill, is_bypass;
  logic empties_at_once, empties_oldest;

  assign is_read         = req_op_i == OpRead;
  assign is_write        = req_op_i == OpWrite;
  assign is_fill         = req_op_i == OpFill;
  assign is_bypass       = req_op_i == OpBypass;
  assign empties_at_once = req_op_i == OpExit && cfg_liveness_i;
  assign empties_oldest  = req_op_i == OpFlush || (req_op_i == OpExit && !cfg_liveness_i);

  logic [Entries-1:0]       oldest;       // one way, unless there is none
  logic [Entries-1:0]       usable;       // entries in use
  logic [Entries-1:0]       free;
  logic [Entries-1:0]       lowest_free;
  logic                     full;
  logic                     several;      // more than one is occupied
  logic [Entries-1:0]       place;        // where a new entry goes, or what a flush takes
  logic [Entries-1:0]       overlaps;     // has a lane of the request
  logic [Entries-1:0]       lacks;        // has not all of them
  logic [Entries-1:0]       covered;      // has none that is not the request's
  logic [RegisterWidth-1:0] oldest_register;
  logic [Lanes-1:0]         oldest_lanes;
  logic                     oldest_dirty;

  assign usable       = ~({Entries{1'b1}} << cfg_entries_i);
  assign free         = usable & ~occupied;
  assign full         = free == '0;
  assign lowest_free  = free & ~above(free);
  assign several      = (occupied & above(occupied)) != '0;
  assign place        = (empties_oldest || full) ? oldest : lowest_free;
  assign oldest_dirty = (oldest & dirty) != '0;

  always_comb begin
    overlaps = '0;
    lacks    = '0;
    covered  = '1;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (req_lanes_i[l]) begin
        overlaps = overlaps | lanes[l*Entries +: Entries];
        lacks    = lacks | ~lanes[l*Entries +: Entries];
      end else begin
        covered  = covered & ~lanes[l*Entries +: Entries];
      end
    end
  end

  for (genvar k = 0; k < RegisterWidth; k++) begin : g_oldest_register
    assign oldest_register[k] = (registers[k*Entries +: Entries] & oldest) != '0;
  end
  for (genvar l = 0; l < Lanes; l++) begin : g_oldest_lanes
    assign oldest_lanes[l] = (lanes[l*Entries +: Entries] & oldest) != '0;
  end

  // ---- Lookup. `match` comes late in the clock: little follows it ----

  logic [Entries-1:0]  match;   // holds the request's register: one way at most
  logic                found;
  logic [Lanes-1:0]    held;    // lanes that it has

  always_comb begin
    match = (is_read || is_write || is_fill || is_bypass) ? occupied : '0;
    for (int unsigned k = 0; k < RegisterWidth; k++) begin
      match = match & (registers[k*Entries +: Entries] ^ {Entries{!req_register_i[k]}});
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_held
    assign held[l] = (lanes[l*Entries +: Entries] & match) != '0;
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
  logic [WayWidth-1:0] way;

  assign allocate     = (is_write || is_fill) && !found;
  assign uses_place   = allocate || empties_oldest;
  assign deaths       = dead_q | ((cfg_liveness_i && req_last_use_i) ? match : '0);
  assign dead_d       = (is_read && req_more_i) ? deaths : '0;
  // A flush is done with the last entry.
  assign last         = !(empties_oldest && several);

  for (genvar k = 0; k < WayWidth; k++) begin : g_way
    localparam logic [Entries-1:0] WithBit = with_bit(k);
    logic match_bit, place_bit;
    assign match_bit = (match & WithBit) != '0;
    assign place_bit = (place & WithBit) != '0;
    assign way[k]    = found ? match_bit : uses_place && place_bit;
  end

  always_comb begin
    unique case (req_op_i)
      OpWrite: written = req_lanes_i;
      OpFill:  written = req_lanes_i & ~held;
      default: written = '0;
    endcase
  end

  // Entries that leave if they match, or anyway; and those that are given up: entries that leave,
  // except a dirty one by a flush, and with a clean one that makes room where none matches.
  logic [Entries-1:0] left_with;
  logic [Entries-1:0] left_anyway;
  logic [Entries-1:0] dropped_anyway;
  logic [Entries-1:0] dropped_without;

  always_comb begin
    // Defaults first: nothing happens.
    left_with       = '0;
    left_anyway     = '0;
    dropped_anyway  = '0;
    dropped_without = '0;
    unique case (req_op_i)
      OpRead: if (!req_more_i) begin
        left_anyway    = dead_q;
        dropped_anyway = left_anyway;
        if (cfg_liveness_i && req_last_use_i) left_with = '1;
      end
      OpWrite, OpFill: if (full && !oldest_dirty) dropped_without = oldest;
      OpBypass: left_with = covered;
      OpFlush, OpExit: begin
        left_anyway    = empties_at_once ? occupied : oldest;
        dropped_anyway = (empties_at_once || !oldest_dirty) ? left_anyway : '0;
      end
      default: ;
    endcase
  end

  assign left    = (match & left_with) | left_anyway;
  assign dropped = (match & left_with) | dropped_anyway | (found ? '0 : dropped_without);

  // What the outcome is where no entry matches, and where one does: of all entries, a bit of the
  // outcome each.
  logic [2:0]         outcome_without;
  logic [Entries-1:0] outcome_with [3];

  always_comb begin
    unique case (req_op_i)
      OpRead:          outcome_without = OutcomeMiss;
      OpWrite, OpFill: outcome_without = OutcomeAllocation;
      OpFlush, OpExit: outcome_without = (occupied == '0) ? OutcomeNothing : OutcomeEmptied;
      default:         outcome_without = OutcomeNothing;
    endcase
    for (int unsigned k = 0; k < 3; k++) begin
      unique case (req_op_i)
        OpRead: outcome_with[k] = (OutcomeMiss[k] ? ~overlaps : '0)
          | (OutcomePartialHit[k] ? overlaps & lacks : '0) | (OutcomeHit[k] ? ~lacks : '0);
        OpWrite:  outcome_with[k] = OutcomeInPlace[k]     ? '1       : '0;
        OpFill:   outcome_with[k] = OutcomeInPlace[k]     ? lacks    : '0;
        OpBypass: outcome_with[k] = OutcomeInvalidated[k] ? overlaps : '0;
        default:  outcome_with[k] = '0;
      endcase
      outcome[k] = (!found && outcome_without[k]) || (match & outcome_with[k]) != '0;
    end
  end

  // ---- Next state of the warp: if an entry matches, and if none does. Which it is comes last ----

  logic [Entries-1:0] touched;  // would become the youngest by this use, if it matches
  logic [Entries-1:0] fresh;    // would be new, if none matches

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

  assign pushed     = match & touched;
  assign fresh      = (is_write || is_fill) ? place : '0;
  assign occupied_d = (occupied & ~left) | (found ? '0 : fresh);
  assign dirty_d    = found ? dirty | (is_write ? match : '0)
                            : is_write ? dirty | fresh : dirty & ~fresh;

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    logic [Entries-1:0] lane, matched, allocated;
    logic               taken, lost;

    assign lane      = lanes[l*Entries +: Entries];
    assign taken     = req_lanes_i[l] && (is_write || is_fill);
    assign lost      = req_lanes_i[l] && is_bypass;
    assign matched   = taken ? lane | match : lost ? lane & ~match : lane;
    assign allocated = taken ? lane | fresh : lane & ~fresh;
    assign lanes_d[l*Entries +: Entries] = found ? matched : allocated;
  end

  // ---- Order of use ----

  if (Entries == 1) begin : g_no_order
    assign oldest  = occupied;
    assign order_d = order & pushed;  // means nothing
  end else begin : g_order
    for (genvar e = 1; e < Entries; e++) begin : g_row
      localparam int unsigned First = e * (e - 1) / 2;
      logic [e-1:0] row, matched, allocated;  // entries below it that are older

      assign row       = order[First +: e];
      assign matched   = pushed[e] ? '1 : row & ~pushed[e-1:0];
      assign allocated = fresh[e]  ? '1 : row & ~fresh[e-1:0];
      assign order_d[First +: e] = found ? matched : allocated;
    end

    // So that each row can be taken as a word.
    logic [PairCount+Entries-1:0] padded;
    logic [Entries-1:0]           below;
    logic [Entries-1:0]           row;

    assign padded = {Entries'(0), order};

    always_comb begin
      oldest = occupied;
      for (int unsigned e = 1; e < Entries; e++) begin
        below = ~({Entries{1'b1}} << e);
        row   = padded[e*(e-1)/2 +: Entries] & below;
        if ((row & occupied) != '0) oldest[e] = 1'b0;
        if (occupied[e]) oldest = oldest & (row | ~below);
      end
    end
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
      lanes_q[req_warp_i]     <= lanes_d;
      order_q[req_warp_i]     <= order_d;
      rsp_outcome_o           <= outcome;
      rsp_last_o              <= last;
      rsp_way_o               <= way;
      rsp_served_o            <= (is_read || is_bypass) ? held & req_lanes_i : written;
      rsp_missing_o           <= is_read ? req_lanes_i & ~held : '0;
      rsp_dropped_o           <= dropped;
      rsp_victim_o            <= (allocate && full) || (empties_oldest && occupied != '0);
      rsp_writeback_o         <= (full || empties_oldest) && uses_place && oldest_dirty;
      rsp_victim_register_o   <= oldest_register;
      rsp_victim_lanes_o      <= oldest_lanes;
    end
    if (step && !found) registers_q[req_warp_i] <= with_register(registers, fresh, req_register_i);
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

  logic [RegisterWidth*Entries-1:0] dbg_registers;
  logic [Lanes*Entries-1:0]         dbg_lanes;
  logic [PairCount-1:0]             dbg_order;

  always_comb begin
    dbg_occupied_o  = '0;
    dbg_dirty_o     = '0;
    dbg_registers   = '0;
    dbg_registers_o = '0;
    dbg_lanes       = '0;
    dbg_lanes_o     = '0;
    dbg_order       = '0;
    dbg_ages_o      = '0;
    if (dbg_enable_i) begin
      dbg_occupied_o = occupied_q[dbg_warp_i];
      dbg_dirty_o    = dirty_q[dbg_warp_i];
      dbg_registers  = registers_q[dbg_warp_i];
      dbg_lanes      = lanes_q[dbg_warp_i];
      dbg_order      = order_q[dbg_warp_i];
      for (int unsigned e = 0; e < Entries; e++) begin
        for (int unsigned k = 0; k < RegisterWidth; k++) begin
          dbg_registers_o[e*RegisterWidth + k] = dbg_registers[k*Entries + e];
        end
        for (int unsigned l = 0; l < Lanes; l++) begin
          dbg_lanes_o[e*Lanes + l] = dbg_lanes[l*Entries + e];
        end
        // An entry's age is how many are older.
        for (int unsigned o = 0; o < e; o++) begin
          if (dbg_occupied_o[o] && dbg_order[e*(e-1)/2 + o]) begin
            dbg_ages_o[e*WayWidth +: WayWidth] = dbg_ages_o[e*WayWidth +: WayWidth] + 1'b1;
          end
          if (dbg_occupied_o[e] && !dbg_order[e*(e-1)/2 + o]) begin
            dbg_ages_o[o*WayWidth +: WayWidth] = dbg_ages_o[o*WayWidth +: WayWidth] + 1'b1;
          end
        end
      end
    end
  end

`ifdef FORMAL
`include "register_file_cache_properties.svh"
`endif

endmodule

`default_nettype wire
