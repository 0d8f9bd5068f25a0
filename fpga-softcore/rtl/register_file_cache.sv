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
  logic [Entries*WayWidth-1:0]      ages_q      [Warps];
  logic [DataWidth-1:0]             data_q      [Words];
  // Entries whose values the reads of this instruction have seen for the last time.
  logic [Entries-1:0]               dead_q;

  // The state of the request's warp, now and next.
  logic [Entries-1:0]               occupied, occupied_d;
  logic [Entries-1:0]               dirty, dirty_d;
  logic [Entries*RegisterWidth-1:0] registers, registers_d;
  logic [Entries*Lanes-1:0]         lanes, lanes_d;
  logic [Entries*WayWidth-1:0]      ages, ages_d;
  logic [Entries-1:0]               dead_d;

  logic step;  // the request does a clock's work

  assign occupied  = occupied_q[req_warp_i];
  assign dirty     = dirty_q[req_warp_i];
  assign registers = registers_q[req_warp_i];
  assign lanes     = lanes_q[req_warp_i];
  assign ages      = ages_q[req_warp_i];

  // ---- Lookup ----

  logic [Entries-1:0]  match;   // holds the request's register: one way at most
  logic [Entries-1:0]  oldest;  // one way, unless there is none
  logic [Entries-1:0]  free;
  logic [Entries-1:0]  lowest_free;

  always_comb begin
    for (int unsigned e = 0; e < Entries; e++) begin
      match[e]  = occupied[e] && registers[e*RegisterWidth +: RegisterWidth] == req_register_i;
      oldest[e] = occupied[e] && ages[e*WayWidth +: WayWidth] == '0;
      free[e]   = !occupied[e] && CountWidth'(e) < cfg_entries_i;
    end
  end

  assign lowest_free = free & (~free + 1'b1);

  // ---- What the request does ----

  logic [Entries-1:0]       chosen;     // the entry concerned: one way at most
  logic [Entries-1:0]       removed;    // leaves the age order
  logic [Entries-1:0]       pushed;     // becomes the youngest
  logic [Entries-1:0]       dropped;
  logic [Entries-1:0]       deaths;
  logic [Lanes-1:0]         held;       // valid lanes of `chosen`
  logic [Lanes-1:0]         served;
  logic [Lanes-1:0]         missing;
  logic [Lanes-1:0]         written;    // lanes of data to take
  logic                     allocate;
  logic                     victim;
  logic                     writeback;
  logic                     last;
  logic [2:0]               outcome;
  logic                     empties_at_once;
  logic [RegisterWidth-1:0] chosen_register;
  logic [WayWidth-1:0]      way;
  logic [Lanes-1:0]         lanes_next; // valid lanes of `chosen` from now on

  assign empties_at_once = req_op_i == OpExit && cfg_liveness_i;

  always_comb begin
    chosen = match;
    unique case (req_op_i)
      OpWrite, OpFill: if (match == '0) chosen = (free == '0) ? oldest : lowest_free;
      OpFlush, OpExit: chosen = empties_at_once ? '0 : oldest;
      default:         chosen = match;
    endcase
  end

  always_comb begin
    held            = '0;
    chosen_register = '0;
    way             = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (chosen[e]) begin
        held            = lanes[e*Lanes +: Lanes];
        chosen_register = registers[e*RegisterWidth +: RegisterWidth];
        way             = WayWidth'(e);
      end
    end
  end

  always_comb begin
    // Defaults first: nothing happens.
    removed    = '0;
    pushed     = '0;
    dropped    = '0;
    deaths     = '0;
    dead_d     = '0;
    served     = '0;
    missing    = '0;
    written    = '0;
    allocate   = 1'b0;
    victim     = 1'b0;
    writeback  = 1'b0;
    last       = 1'b1;
    outcome    = OutcomeNothing;
    lanes_next = held;
    dirty_d    = dirty;
    unique case (req_op_i)
      OpRead: begin
        served  = held & req_lanes_i;
        missing = req_lanes_i & ~held;
        outcome = (served == '0) ? OutcomeMiss : (missing == '0) ? OutcomeHit : OutcomePartialHit;
        deaths  = dead_q | ((cfg_liveness_i && req_last_use_i) ? match : '0);
        if (req_more_i) dead_d = deaths;
        else            dropped = deaths;
        removed = dropped;
        if (cfg_lru_i && served != '0) begin
          removed = dropped | match;
          pushed  = match & ~dropped;
        end
      end
      OpWrite, OpFill: begin
        if (match != '0) begin
          written = (req_op_i == OpFill) ? req_lanes_i & ~held : req_lanes_i;
          if (written != '0) begin
            outcome    = OutcomeInPlace;
            lanes_next = held | written;
            if (cfg_lru_i) begin
              removed = match;
              pushed  = match;
            end
          end
        end else begin
          outcome    = OutcomeAllocation;
          allocate   = 1'b1;
          written    = req_lanes_i;
          lanes_next = req_lanes_i;
          pushed     = chosen;
          if (free == '0) begin
            victim    = 1'b1;
            writeback = (dirty & chosen) != '0;
            removed   = chosen;
            if (!writeback) dropped = chosen;
          end
        end
        served  = written;
        if (req_op_i == OpWrite) dirty_d = dirty | chosen;
        else if (allocate)       dirty_d = dirty & ~chosen;
      end
      OpBypass: begin
        served = held & req_lanes_i;
        if (served != '0) begin
          outcome    = OutcomeInvalidated;
          lanes_next = held & ~req_lanes_i;
          if (lanes_next == '0) dropped = match;
          removed = dropped;
        end
      end
      OpFlush, OpExit: begin
        if (empties_at_once) begin
          dropped = occupied;
          removed = occupied;
          if (occupied != '0) outcome = OutcomeEmptied;
        end else if (occupied != '0) begin
          outcome   = OutcomeEmptied;
          victim    = 1'b1;
          writeback = (dirty & chosen) != '0;
          removed   = chosen;
          if (!writeback) dropped = chosen;
          last      = (occupied & ~chosen) == '0;
        end
      end
      default: ;
    endcase
  end

  // ---- Next state of the warp ----

  logic [CountWidth-1:0] stay;  // entries that keep their place in the age order

  always_comb begin
    stay = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      stay = stay + CountWidth'(occupied[e] && !removed[e]);
    end
  end

  always_comb begin
    occupied_d  = (occupied & ~removed) | pushed;
    registers_d = registers;
    lanes_d     = lanes;
    ages_d      = ages;
    for (int unsigned e = 0; e < Entries; e++) begin
      for (int unsigned other = 0; other < Entries; other++) begin
        if (removed[other] && ages[other*WayWidth +: WayWidth] < ages[e*WayWidth +: WayWidth]) begin
          ages_d[e*WayWidth +: WayWidth] = ages_d[e*WayWidth +: WayWidth] - 1'b1;
        end
      end
      if (pushed[e]) ages_d[e*WayWidth +: WayWidth] = stay[WayWidth-1:0];
      if (chosen[e]) begin
        lanes_d[e*Lanes +: Lanes] = lanes_next;
        if (allocate) registers_d[e*RegisterWidth +: RegisterWidth] = req_register_i;
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
      registers_q[req_warp_i] <= registers_d;
      lanes_q[req_warp_i]     <= lanes_d;
      ages_q[req_warp_i]      <= ages_d;
      rsp_outcome_o           <= outcome;
      rsp_last_o              <= last;
      rsp_way_o               <= way;
      rsp_served_o            <= served;
      rsp_missing_o           <= missing;
      rsp_dropped_o           <= dropped;
      rsp_victim_o            <= victim;
      rsp_writeback_o         <= writeback;
      rsp_victim_register_o   <= chosen_register;
      rsp_victim_lanes_o      <= held;
    end
  end

  // ---- Data: one read and one write of the same word a clock, the read sees the old word ----

  logic [WordWidth-1:0] word;

  assign word = WordWidth'(32'(req_warp_i) * Entries + 32'(way));

  always_ff @(posedge clk_i) begin
    if (step) begin
      rsp_data_o <= data_q[word];
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (written[l]) data_q[word][32*l +: 32] <= req_data_i[32*l +: 32];
      end
    end
  end

  // ---- Debug ----

  assign dbg_occupied_o  = occupied_q[dbg_warp_i];
  assign dbg_dirty_o     = dirty_q[dbg_warp_i];
  assign dbg_registers_o = registers_q[dbg_warp_i];
  assign dbg_lanes_o     = lanes_q[dbg_warp_i];
  assign dbg_ages_o      = ages_q[dbg_warp_i];

endmodule

`default_nettype wire
