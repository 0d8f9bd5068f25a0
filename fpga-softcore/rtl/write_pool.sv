// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Write pool: the registers that were written last, of all warps, before they go to a bank.
//
// Mirrors core/src/write_pool.rs; docs/hw/write_pool.md is the long form of this comment.
// Latency: a request is looked up in the clock in which it is taken, and decided in the next; what
// its entry held stands one clock after the decision.
// Throughput: one request a clock.
// Back-pressure: a decision stands until `dec_go_i`, and its request changes nothing before.
// `req_ready_o` depends combinationally on `dec_go_i`; decisions do not.
// Does not do: banks. It names the bank access that a decision needs; `dec_go_i` says that it is made.
//
// What is known of the entries is kept a bit of all entries in a word, so that looking a register
// up takes a word for each bit of its number. The order of use is an age matrix: row i has a bit
// for each entry below i that entry i was used after; the other half of the matrix is its opposite.
// To promote a set of entries makes them newer than all others and keeps the order within; to
// demote a warp is to promote all other entries.

`default_nettype none

module write_pool #(
  parameter int unsigned Entries     = 60,  // 1 to 63
  parameter int unsigned Warps       = 8,   // warps that have registers, at least 1
  parameter int unsigned NumberWidth = 10,  // bits of a register's number, which names its warp too
  parameter int unsigned Lanes       = 4,   // lanes of a register, 1 to 32; 32 bits each
  // Derived; do not override.
  localparam int unsigned WarpWidth  = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned SlotWidth  = (Entries > 1) ? $clog2(Entries) : 1,
  localparam int unsigned DataWidth  = 32 * Lanes
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,   // asynchronous, active low: no pool until `clear_i`
  input  logic                   clear_i,  // takes the configuration over, empty; nothing stands

  // Configuration.
  input  logic [5:0]             cfg_entries_i,  // 0 (writes pass by) to Entries

  // Requests. A request holds still until it is taken.
  input  logic                   req_valid_i,
  output logic                   req_ready_o,
  input  logic [2:0]             req_op_i,
  input  logic [WarpWidth-1:0]   req_warp_i,
  input  logic [NumberWidth-1:0] req_number_i,
  input  logic [Lanes-1:0]       req_lanes_i,  // READ, WRITE: never empty
  input  logic [DataWidth-1:0]   req_data_i,   // WRITE

  // The decision on the request that was taken last.
  output logic                   dec_valid_o,
  input  logic                   dec_go_i,            // it is carried out in this clock
  output logic [2:0]             dec_op_o,            // the request's
  output logic [2:0]             dec_outcome_o,
  output logic                   dec_read_bank_o,     // the bank has to give lanes
  output logic [NumberWidth-1:0] dec_read_number_o,   // of this register
  output logic                   dec_write_bank_o,    // a bank has to take a register:
  output logic [NumberWidth-1:0] dec_write_number_o,  // this one

  // One clock after a decision was carried out.
  output logic [Lanes-1:0]       out_lanes_o,  // READ: that the entry gives; WRITE: for the bank
  output logic [DataWidth-1:0]   out_data_o,   // their values
  output logic [5:0]             out_count_o,  // DEMOTE, DROP: entries of the warp; else 0

  // Debug: an entry; 0 without the enable.
  input  logic                   dbg_enable_i,
  input  logic [SlotWidth-1:0]   dbg_entry_i,
  output logic                   dbg_occupied_o,
  output logic [WarpWidth-1:0]   dbg_warp_o,
  output logic [NumberWidth-1:0] dbg_number_o,
  output logic [Lanes-1:0]       dbg_lanes_o,
  output logic [Entries-1:0]     dbg_newer_o   // entries that were used before it
);

  if (Entries < 1 || Entries > 63 || Warps < 1 || Lanes < 1 || Lanes > 32) begin : g_check
    $error("write_pool: Entries is 1 to 63, Warps at least 1, Lanes 1 to 32");
  end

  localparam logic [2:0] OpRead   = regmap_pkg::MainAccessRead;
  localparam logic [2:0] OpWrite  = regmap_pkg::MainAccessWrite;
  localparam logic [2:0] OpDemote = regmap_pkg::MainAccessDemote;
  localparam logic [2:0] OpDrop   = regmap_pkg::MainAccessDrop;

  localparam logic [2:0] OutcomeNothing     = regmap_pkg::MainOutcomeNothing;
  localparam logic [2:0] OutcomeBank        = regmap_pkg::MainOutcomeBank;
  localparam logic [2:0] OutcomeHit         = regmap_pkg::MainOutcomePoolHit;
  localparam logic [2:0] OutcomePartialHit  = regmap_pkg::MainOutcomePoolPartialHit;
  localparam logic [2:0] OutcomeAllocation  = regmap_pkg::MainOutcomePoolAllocation;
  localparam logic [2:0] OutcomeReplacement = regmap_pkg::MainOutcomePoolReplacement;
  localparam logic [2:0] OutcomeMoved       = regmap_pkg::MainOutcomePoolMoved;

  // Entries in use: those from `cfg_entries_i` on stay empty, and the newest of all.
  logic [Entries-1:0] usable_q;
  logic               exists_q;  // there is one at least
  logic               single_q;  // there is one

  logic [Entries-1:0] occupied_q;
  logic [Entries-1:0] oldest_q;  // the least recently used of the usable entries
  logic [Entries-1:0] place_q;   // where a new register goes: the lowest empty entry, or the oldest
  logic               full_q;    // none is empty
  // These mean something where `occupied_q` is set, and `newer_q` after a clear.
  (* mem2reg *) logic [Entries-1:0] number_q [NumberWidth];
  (* mem2reg *) logic [Entries-1:0] warp_q   [WarpWidth];
  (* mem2reg *) logic [Entries-1:0] lanes_q  [Lanes];
  (* mem2reg *) logic [Entries-1:0] newer_q  [Entries];
  (* ram_style = "distributed" *)
  logic [DataWidth-1:0]             data_q   [Entries];

  // The request that is decided.
  logic                   valid_q;
  logic [2:0]             op_q;
  logic [WarpWidth-1:0]   of_warp_q;
  logic [NumberWidth-1:0] of_number_q;
  logic [Lanes-1:0]       of_lanes_q;
  logic [DataWidth-1:0]   of_data_q;
  logic [Entries-1:0]     match_q;   // the entry that has its register, or none
  logic                   hit_q;     // there is one
  logic                   enters_q;  // a request stands, whose register takes the place
  logic [Lanes-1:0]       held_q;    // lanes of that entry
  logic [Entries-1:0]     own_q;     // DEMOTE, DROP: the warp's entries, else none
  logic [Entries-1:0]     newest_q;  // become newer than all others, beside a place that is taken
  logic                   keeps_q;   // all do, so that the order is as it was

  // ---- Decision ----

  logic               is_read, is_write, is_drop;
  logic [Lanes-1:0]   served;   // READ: lanes that the entry gives
  logic [Lanes-1:0]   missing;
  logic [Entries-1:0] taken;    // the place, if it is taken
  logic [Entries-1:0] chosen;   // the entry concerned, one at most
  logic               step;     // the decision is carried out

  assign is_read   = op_q == OpRead;
  assign is_write  = op_q == OpWrite && exists_q;
  assign is_drop   = op_q == OpDrop;
  assign served    = of_lanes_q & held_q;
  assign missing   = of_lanes_q & ~held_q;
  assign taken     = enters_q ? place_q : '0;
  assign chosen    = match_q | taken;
  assign step      = valid_q && dec_go_i;

  always_comb begin
    dec_outcome_o = OutcomeNothing;
    unique case (op_q)
      OpRead: begin
        if (served == '0) dec_outcome_o = OutcomeBank;
        else              dec_outcome_o = (missing == '0) ? OutcomeHit : OutcomePartialHit;
      end
      OpWrite: begin
        if (!exists_q)    dec_outcome_o = OutcomeBank;
        else if (hit_q)   dec_outcome_o = OutcomeHit;
        else              dec_outcome_o = full_q ? OutcomeReplacement : OutcomeAllocation;
      end
      OpDemote, OpDrop: if (own_q != '0) dec_outcome_o = OutcomeMoved;
      default: ;
    endcase
  end

  assign dec_valid_o       = valid_q;
  assign dec_op_o          = op_q;
  assign dec_read_bank_o   = valid_q && is_read && missing != '0;
  assign dec_read_number_o = of_number_q;
  assign dec_write_bank_o  = valid_q && op_q == OpWrite && (!exists_q || (enters_q && full_q));

  always_comb begin
    for (int unsigned k = 0; k < NumberWidth; k++) begin
      dec_write_number_o[k] = exists_q ? (number_q[k] & oldest_q) != '0 : of_number_q[k];
    end
  end

  // ---- Lookup. The decision that stands is taken as carried out: else no request is taken ----

  // Corrections are few signals that are known early, and meet what was found late: each is for
  // all entries.
  logic               overtaken;  // the same register is being written
  logic               same_warp;
  logic               gone;       // the warp's entries are being dropped
  logic [Entries-1:0] match;      // has the register, and does not make room for another one
  logic               hit_d;
  logic [Lanes-1:0]   held_d;
  logic [Entries-1:0] used;       // WRITE, or READ of a lane that the entry has: a use
  logic [Entries-1:0] of_warp;    // the warp's, and does not make room
  logic [Entries-1:0] own;
  logic               has_none;   // the warp has no entry
  logic [Entries-1:0] newest_d;

  assign req_ready_o = !valid_q || dec_go_i;
  assign overtaken   = valid_q && is_write && req_number_i == of_number_q;
  assign same_warp   = req_warp_i == of_warp_q;
  assign gone        = valid_q && is_drop && same_warp;

  always_comb begin
    match = occupied_q & ~taken;
    for (int unsigned k = 0; k < NumberWidth; k++) begin
      match = match & (req_number_i[k] ? number_q[k] : ~number_q[k]);
    end
    hit_d = overtaken || (match != '0 && !gone);
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (overtaken) held_d[l] = held_q[l] || of_lanes_q[l];
      else           held_d[l] = (lanes_q[l] & match) != '0 && !gone;
    end
  end

  always_comb begin
    used = '0;
    for (int unsigned l = 0; l < Lanes; l++) if (req_lanes_i[l]) used = used | lanes_q[l];
    if (req_op_i == OpWrite) used = '1;
  end

  always_comb begin
    of_warp = occupied_q & ~taken;
    for (int unsigned k = 0; k < WarpWidth; k++) begin
      of_warp = of_warp & (req_warp_i[k] ? warp_q[k] : ~warp_q[k]);
    end
    own      = gone ? '0 : of_warp | (same_warp ? taken : '0);
    has_none = gone || (of_warp == '0 && !(same_warp && enters_q));
  end

  always_comb begin
    newest_d = '0;
    if (req_op_i == OpRead || req_op_i == OpWrite) begin
      // What is being written becomes the newest by that, whether it is used here or not.
      if (overtaken) newest_d = chosen;
      else           newest_d = gone ? '0 : match & used;
    end
    if (req_op_i == OpDemote) newest_d = ~own;
    newest_d = newest_d | ~usable_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      enters_q <= 1'b0;
    end else if (req_ready_o) begin
      valid_q  <= req_valid_i;
      enters_q <= req_valid_i && req_op_i == OpWrite && exists_q && !hit_d;
    end
  end

  // Not reset: read only where `valid_q` is set.
  always_ff @(posedge clk_i) begin
    if (req_ready_o) begin
      op_q        <= req_op_i;
      of_warp_q   <= req_warp_i;
      of_number_q <= req_number_i;
      of_lanes_q  <= req_lanes_i;
      of_data_q   <= req_data_i;
      match_q     <= overtaken ? chosen : gone ? '0 : match;
      hit_q       <= hit_d;
      held_q      <= held_d;
      own_q       <= (req_op_i == OpDemote || req_op_i == OpDrop) ? own : '0;
      newest_q    <= newest_d;
      keeps_q     <= single_q || (req_op_i == OpDemote && has_none);
    end
  end

  // ---- Entries ----

  logic [Entries-1:0] occupied_d;
  logic [Entries-1:0] vacant;  // from the next clock on

  assign occupied_d = (occupied_q | taken) & ~(is_drop ? own_q : '0);
  assign vacant     = usable_q & ~occupied_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usable_q   <= '0;
      exists_q   <= 1'b0;
      single_q   <= 1'b0;
      occupied_q <= '0;
    end else if (clear_i) begin
      for (int unsigned e = 0; e < Entries; e++) usable_q[e] <= 6'(e) < cfg_entries_i;
      exists_q   <= cfg_entries_i != '0;
      single_q   <= cfg_entries_i == 6'd1;
      occupied_q <= '0;
    end else if (step) begin
      occupied_q <= occupied_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step && is_write) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (of_lanes_q[l]) lanes_q[l] <= lanes_q[l] | chosen;
        else               lanes_q[l] <= lanes_q[l] & ~taken;
      end
      for (int unsigned k = 0; k < NumberWidth; k++) begin
        number_q[k] <= of_number_q[k] ? number_q[k] | taken : number_q[k] & ~taken;
      end
      for (int unsigned k = 0; k < WarpWidth; k++) begin
        warp_q[k] <= of_warp_q[k] ? warp_q[k] | taken : warp_q[k] & ~taken;
      end
    end
  end

  // ---- Order of use ----

  logic [Entries-1:0] newest;    // become newer than all others, if the decision is carried out
  logic [Entries-1:0] promoted;  // do so; to promote none changes nothing
  logic               renews;    // the order may change
  logic               rescans;   // the oldest may change

  assign newest   = newest_q | taken;
  assign promoted = step ? newest : '0;

`ifdef STRATA_SIMULATION
  // What changes nothing need not be simulated: entries that are not usable are the newest already.
  assign renews  = (promoted & usable_q) != '0;
  assign rescans = (promoted & oldest_q) != '0 && !keeps_q;
`else
  // Nor has hardware to be told: a signal to 3,600 flip-flops would come late.
  assign renews  = 1'b1;
  assign rescans = !keeps_q;
`endif

  // Only this process touches the matrix, so that it can be assigned at once: for a simulator, one
  // that changes at the end of the clock is several times the work.
  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin : p_promote
    logic [Entries-1:0] oldest;
    logic [Entries-1:0] below;
    if (clear_i) begin
      // Entries that are not usable come last, and so are the newest.
      for (int unsigned e = 0; e < Entries; e++) newer_q[e] = ~({Entries{1'b1}} << e);
      oldest_q <= Entries'(1);
      place_q  <= Entries'(1);
      full_q   <= 1'b0;
    end else begin
      oldest = oldest_q;
      if (rescans) begin
        // Of those that stay the one that is newer than none of them.
        oldest = ~newest;
        for (int unsigned e = 0; e < Entries; e++) begin
          below = ~({Entries{1'b1}} << e);
          if ((newer_q[e] & ~newest) != '0) oldest[e] = 1'b0;
          if (!newest[e])                   oldest = oldest & (newer_q[e] | ~below);
        end
      end
      if (renews) begin
        for (int unsigned e = 0; e < Entries; e++) begin
          below      = ~({Entries{1'b1}} << e);
          newer_q[e] = (promoted[e] ? newer_q[e] | ~promoted : newer_q[e] & ~promoted) & below;
        end
      end
      if (step) begin
        oldest_q <= oldest;
        place_q  <= (vacant == '0) ? oldest : vacant & (~vacant + 1'b1);
        full_q   <= vacant == '0;
      end
    end
  end
  // verilator lint_on BLKSEQ

  // ---- Values, in the clock after the decision: what the entry held is shown until the next
  // ---- decision may be carried out, and what is written enters then ----

  logic [SlotWidth-1:0] slot_d, slot_q;
  logic [Lanes-1:0]     enter_q;       // lanes that enter
  logic [DataWidth-1:0] enter_data_q;
  logic                 passes_q;      // without a pool they pass by

  // Entries whose index has a bit.
  function automatic logic [Entries-1:0] with_bit(int unsigned k);
    with_bit = '0;
    for (int unsigned e = 0; e < Entries; e++) with_bit[e] = 1'(e >> k);
  endfunction

  for (genvar k = 0; k < SlotWidth; k++) begin : g_slot
    localparam logic [Entries-1:0] WithBit = with_bit(k);
    assign slot_d[k] = (chosen & WithBit) != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       enter_q <= '0;
    else if (dec_go_i) enter_q <= (step && is_write) ? of_lanes_q : '0;
  end

  always_ff @(posedge clk_i) begin
    if (dec_go_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (enter_q[l]) data_q[slot_q][32*l +: 32] <= enter_data_q[32*l +: 32];
      end
    end
    if (step) begin
      slot_q       <= slot_d;
      passes_q     <= !exists_q;
      enter_data_q <= of_data_q;
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (is_read)        out_lanes_o[l] <= served[l];
        else if (!exists_q) out_lanes_o[l] <= of_lanes_q[l];
        else                out_lanes_o[l] <= (lanes_q[l] & oldest_q) != '0;
      end
    end
  end

  assign out_data_o = passes_q ? enter_data_q : data_q[slot_q];

  // ---- Entries of a warp are counted in two clocks ----

  localparam int unsigned PartWidth = 16;
  localparam int unsigned Parts     = (Entries + PartWidth - 1) / PartWidth;

  logic [5*Parts-1:0] counts_q;

  for (genvar p = 0; p < Parts; p++) begin : g_count
    localparam int unsigned First = p * PartWidth;
    localparam int unsigned Width = (Entries - First < PartWidth) ? Entries - First : PartWidth;
    always_ff @(posedge clk_i) begin
      if (step) counts_q[5*p +: 5] <= 5'($countones(own_q[First +: Width]));
    end
  end

  always_comb begin
    out_count_o = '0;
    for (int unsigned p = 0; p < Parts; p++) out_count_o = out_count_o + 6'(counts_q[5*p +: 5]);
  end

  // ---- Debug ----

  always_comb begin
    dbg_occupied_o = '0;
    dbg_newer_o    = '0;
    dbg_warp_o     = '0;
    dbg_number_o   = '0;
    dbg_lanes_o    = '0;
    if (dbg_enable_i) begin
      dbg_occupied_o = occupied_q[dbg_entry_i];
      // Itself among them.
      for (int unsigned e = 0; e < Entries; e++) begin
        if (SlotWidth'(e) > dbg_entry_i) dbg_newer_o[e] = !newer_q[e][dbg_entry_i];
        else dbg_newer_o[e] = newer_q[dbg_entry_i][e] || SlotWidth'(e) == dbg_entry_i;
      end
      for (int unsigned k = 0; k < WarpWidth; k++)   dbg_warp_o[k]   = warp_q[k][dbg_entry_i];
      for (int unsigned k = 0; k < NumberWidth; k++) dbg_number_o[k] = number_q[k][dbg_entry_i];
      for (int unsigned l = 0; l < Lanes; l++)       dbg_lanes_o[l]  = lanes_q[l][dbg_entry_i];
    end
  end

`ifdef FORMAL
`include "write_pool_properties.svh"
`endif

endmodule

`default_nettype wire
