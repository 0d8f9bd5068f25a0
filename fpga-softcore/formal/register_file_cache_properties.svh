// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `register_file_cache`, which includes this file at its end where FORMAL is defined.
//
// The solver chooses a warp, two of its registers and a lane; what is proved of them holds for all.
// E1.. is what the requester keeps, A1.. what is proved, C1.. what has to be reachable. Beside the
// hardware stands a shadow of what the tracked register's lanes, dirty bit and value should be, and
// which of the two registers was used last: it knows requests and responses, and no entry's state.
// docs/hw/register_file_cache.md says what was proved at which size.

  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;

  (* anyconst *) logic [WarpWidth-1:0]     f_warp;
  (* anyconst *) logic [RegisterWidth-1:0] f_register;
  (* anyconst *) logic [RegisterWidth-1:0] f_other;
  (* anyconst *) logic [LaneWidth-1:0]     f_lane;

  always_comb begin
    assume (32'(f_warp) < Warps);
    assume (32'(f_lane) < Lanes);
    assume (f_other != f_register);
    // The debug port shows the tracked warp, so that it is proved with the rest.
    assume (dbg_enable_i && dbg_warp_i == f_warp);
  end

  // ---- Time: one clock of reset ----

  logic f_running = 1'b0;
  logic f_ran     = 1'b0;  // out of reset in the clock before, too

  always_ff @(posedge clk_i) begin
    f_running <= 1'b1;
    f_ran     <= f_running;
  end

  always_comb assume (rst_ni == f_running);

  // ---- The request that the standing response answers, and the state before it ----

  logic                     f_fresh = 1'b0;  // the response stands for the first clock
  logic                     f_more  = 1'b0;  // the instruction has another read
  logic [WarpWidth-1:0]     q_warp;
  logic [2:0]               q_op;
  logic [RegisterWidth-1:0] q_register;
  logic [Lanes-1:0]         q_lanes;
  logic                     q_last_use;
  logic                     q_more;
  logic [31:0]              q_value;         // of the tracked lane
  logic [Entries-1:0]       b_occupied;      // before, of the tracked warp
  logic [Entries-1:0]       b_dirty;
  logic [Entries-1:0]       b_match;         // the way that held the tracked register
  logic [CountWidth-1:0]    b_count;

  logic [Entries-1:0]       f_match;         // the way that holds the tracked register
  logic [Entries-1:0]       f_match_other;
  logic [CountWidth-1:0]    f_count;         // occupied ways
  logic [WayWidth-1:0]      f_way;           // of `f_match`
  logic [WayWidth-1:0]      f_age;
  logic [WayWidth-1:0]      f_age_other;
  logic [Lanes-1:0]         f_held;          // valid lanes of `f_match`
  logic                     f_dirty_bit;

  always_comb begin
    f_match       = '0;
    f_match_other = '0;
    f_count       = '0;
    f_way         = '0;
    f_age         = '0;
    f_age_other   = '0;
    f_held        = '0;
    f_dirty_bit   = 1'b0;
    for (int unsigned e = 0; e < Entries; e++) begin
      f_count = f_count + CountWidth'(dbg_occupied_o[e]);
      if (dbg_occupied_o[e] && dbg_registers_o[e*RegisterWidth +: RegisterWidth] == f_register) begin
        f_match[e]  = 1'b1;
        f_way       = WayWidth'(e);
        f_age       = dbg_ages_o[e*WayWidth +: WayWidth];
        f_held      = dbg_lanes_o[e*Lanes +: Lanes];
        f_dirty_bit = dbg_dirty_o[e];
      end
      if (dbg_occupied_o[e] && dbg_registers_o[e*RegisterWidth +: RegisterWidth] == f_other) begin
        f_match_other[e] = 1'b1;
        f_age_other      = dbg_ages_o[e*WayWidth +: WayWidth];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    f_fresh <= rst_ni && step;
    if (step) begin
      f_more     <= rst_ni && req_op_i == OpRead && req_more_i;
      q_warp     <= req_warp_i;
      q_op       <= req_op_i;
      q_register <= req_register_i;
      q_lanes    <= req_lanes_i;
      q_last_use <= req_last_use_i;
      q_more     <= req_more_i;
      q_value    <= req_data_i[32*f_lane +: 32];
      b_occupied <= dbg_occupied_o;
      b_dirty    <= dbg_dirty_o;
      b_match    <= f_match;
      b_count    <= f_count;
    end
  end

  logic f_mine;    // a first response to the tracked warp
  logic f_about;   // and about the tracked register
  logic f_lane_in; // and its lane
  logic f_frees;   // whose last read has been seen, in this instruction
  logic f_empties; // everything goes at once

  assign f_mine    = f_fresh && q_warp == f_warp;
  assign f_about   = f_mine && q_register == f_register;
  assign f_lane_in = f_about && q_lanes[f_lane];
  assign f_empties = q_op == OpExit && cfg_liveness_i;

  // ---- The shadow: before the standing response (_q), and after it ----

  logic [Lanes-1:0] present_q = '0;  // lanes of the tracked register that the cache has
  logic             dirty_s_q;       // its entry was written
  logic             last_use_q = 1'b0;  // its last read was seen
  logic             first_q;         // it was used longer ago than the other register
  logic [31:0]      value_q;         // what the program wrote last to the tracked lane
  logic             in_mrf_q = 1'b1; // the main register file has that value
  logic             lost_q   = 1'b0; // no copy exists, or is needed

  logic [Lanes-1:0] present;
  logic             dirty_s;
  logic             last_use;
  logic             first;
  logic [31:0]      value;
  logic             in_mrf;
  logic             lost;

  logic f_given_up;   // the tracked register's entry, without a write-back
  logic f_written_back;
  logic f_used;       // the response makes its register the youngest

  assign f_frees = last_use_q || (f_about && q_op == OpRead && q_last_use && cfg_liveness_i
                                  && present_q != '0);

  assign f_given_up     = f_mine && (rsp_dropped_o & b_match) != '0;
  assign f_written_back = f_mine && rsp_writeback_o && rsp_victim_register_o == f_register;
  assign f_used         = f_mine && (rsp_outcome_o == OutcomeAllocation
                          || (cfg_lru_i && rsp_served_o != '0
                              && (q_op == OpRead || q_op == OpWrite || q_op == OpFill)));

  always_comb begin
    present  = present_q;
    dirty_s  = dirty_s_q;
    first    = first_q;
    value    = value_q;
    in_mrf   = in_mrf_q;
    lost     = lost_q;
    last_use = last_use_q;
    // What leaves.
    if (f_given_up) begin
      if (present_q[f_lane] && !in_mrf_q) lost = 1'b1;
      present = '0;
    end
    if (f_written_back) begin
      if (rsp_victim_lanes_o[f_lane]) in_mrf = rsp_data_o[32*f_lane +: 32] == value_q;
      present = '0;
    end
    // What comes.
    if (f_about) begin
      if (q_op == OpWrite || q_op == OpFill) begin
        dirty_s = q_op == OpWrite || (dirty_s_q && present_q != '0);
        present = present_q | q_lanes;
      end
      if (q_op == OpBypass) present = present_q & ~q_lanes;
    end
    if (f_lane_in) begin
      if (q_op == OpWrite || q_op == OpBypass || (q_op == OpFill && !present_q[f_lane])) begin
        value  = q_value;
        in_mrf = q_op != OpWrite;
        lost   = 1'b0;
      end
    end
    if (f_used && q_register == f_register) first = 1'b0;
    if (f_used && q_register == f_other)    first = 1'b1;
    if (f_mine) last_use = f_frees && q_op == OpRead && q_more;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      present_q  <= present;
      dirty_s_q  <= dirty_s;
      last_use_q <= last_use;
      first_q    <= first;
      value_q    <= value;
      in_mrf_q   <= in_mrf;
      lost_q     <= lost;
    end
  end

  // ---- What the requester keeps ----

  logic f_all_empty;

  always_comb begin
    f_all_empty = 1'b1;
    for (int unsigned w = 0; w < Warps; w++) if (occupied_q[w] != '0) f_all_empty = 1'b0;
  end

  always_comb begin
    // E1. The number of entries is in range.
    assume (cfg_entries_i != '0 && 32'(cfg_entries_i) <= Entries);
    if (req_valid_i) begin
      // E2. Requests name a warp that there is; reads, writes, bypasses and fills at least one lane.
      assume (32'(req_warp_i) < Warps);
      if (req_op_i < OpFlush) assume (req_lanes_i != '0);
      // E3. Between the reads of one instruction nothing else is asked.
      if (f_more) assume (req_op_i == OpRead && req_warp_i == q_warp);
      // E4. A fill of lanes that the cache lacks brings what the main register file has.
      if (req_op_i == OpFill && req_warp_i == f_warp && req_register_i == f_register
          && req_lanes_i[f_lane] && !present[f_lane] && in_mrf)
        assume (req_data_i[32*f_lane +: 32] == value);
    end
  end

  always_ff @(posedge clk_i) begin
    if (f_ran) begin
      // E5. A request holds still until it is taken.
      if ($past(req_valid_i && !req_ready_o)) begin
        assume (req_valid_i);
        assume ($stable(req_op_i) && $stable(req_warp_i) && $stable(req_register_i)
                && $stable(req_lanes_i) && $stable(req_last_use_i) && $stable(req_more_i)
                && $stable(req_data_i));
      end
      // E6. The configuration changes only while no warp has an entry and nothing is asked.
      if (!$past(f_all_empty) || $past(req_valid_i) || $past(rsp_valid_o))
        assume ($stable(cfg_entries_i) && $stable(cfg_lru_i) && $stable(cfg_liveness_i));
    end
  end

  // ---- The state, in every clock ----

  // The tracked lane's value: in the memory, unless the standing response is about to write it.
  logic [WordWidth-1:0] f_word;
  logic [31:0]          f_stored;

  assign f_word = WordWidth'(32'(f_way) * Warps + 32'(f_warp));

  always_comb begin
    f_stored = data_q[f_word][32*f_lane +: 32];
    if (rsp_valid_o && written_q[f_lane] && word == f_word) f_stored = new_data_q[32*f_lane +: 32];
  end

  logic f_unique;      // registers
  logic f_ages;        // distinct, none without
  logic f_nonempty;    // each entry has a lane
  logic f_in_range;    // no entry beyond the configured number

  always_comb begin
    f_unique   = 1'b1;
    f_ages     = 1'b1;
    f_nonempty = 1'b1;
    f_in_range = 1'b1;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (dbg_occupied_o[e]) begin
        if (CountWidth'(dbg_ages_o[e*WayWidth +: WayWidth]) >= f_count) f_ages = 1'b0;
        if (dbg_lanes_o[e*Lanes +: Lanes] == '0) f_nonempty = 1'b0;
        if (CountWidth'(e) >= cfg_entries_i) f_in_range = 1'b0;
        for (int unsigned other = 0; other < e; other++) begin
          if (dbg_occupied_o[other]) begin
            if (dbg_registers_o[e*RegisterWidth +: RegisterWidth]
                == dbg_registers_o[other*RegisterWidth +: RegisterWidth]) f_unique = 1'b0;
            if (dbg_ages_o[e*WayWidth +: WayWidth] == dbg_ages_o[other*WayWidth +: WayWidth])
              f_ages = 1'b0;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. A register is in one entry of its warp at most.
      a01_unique: assert (f_unique);
      // A2. The ages of a warp's n entries are 0 to n-1, each once.
      a02_ages: assert (f_ages);
      // A3. No entry lies beyond the configured number.
      a03_range: assert (f_in_range);
      // A4. An entry has at least one valid lane.
      a04_lanes: assert (f_nonempty);
      // A5. The cache has the lanes of a register that requests and responses say it has.
      a05_present: assert (f_held == present);
      // A6. An entry is dirty if and only if a result was written to it.
      if (f_match != '0) a06_dirty: assert (f_dirty_bit == dirty_s);
      // A7. A valid lane holds what the program wrote to it last, in a word of its own warp.
      if (f_held[f_lane]) a07_value: assert (f_stored == value);
      if (rsp_valid_o) begin
        a07_word: assert (warp_q == q_warp && 32'(q_warp) < Warps);
        if (q_warp == f_warp) a07_way: assert (32'(rsp_way_o) < Entries);
      end
      // A8. A value that the cache does not have, or has in a clean entry, is in the main register
      // file, unless its register will not be read again.
      if (!f_held[f_lane] || !f_dirty_bit) a08_no_loss: assert (in_mrf || lost);
      a08_alive: assert (!(lost && f_held[f_lane]));
      // A9. Of two registers in the cache the one used longer ago is the older: under LRU since its
      // last use, else since it was allocated.
      if (f_match != '0 && f_match_other != '0) a09_order: assert (first == (f_age < f_age_other));
      // A10. Entries are marked dead within an instruction only, after their last read.
      if (!f_more) a10_none_dead: assert (dead_q == '0);
      if (f_more && q_warp == f_warp) begin
        a10_dead: assert ((dead_q & ~dbg_occupied_o) == '0);
        a10_dead_register: assert (((dead_q & f_match) != '0) == last_use);
      end else begin
        a10_outside: assert (!last_use);
      end
    end
  end

  // ---- The response, in its first clock ----

  logic [Entries-1:0] b_free;
  logic [Entries-1:0] b_lowest;
  logic [Entries-1:0] f_way_bit;  // the response's way

  always_comb begin
    for (int unsigned e = 0; e < Entries; e++) begin
      b_free[e] = !b_occupied[e] && CountWidth'(e) < cfg_entries_i;
    end
    b_lowest = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (b_free[e] && b_lowest == '0) b_lowest[e] = 1'b1;
    end
    f_way_bit            = '0;
    f_way_bit[rsp_way_o] = 1'b1;
  end

  logic f_allocates;

  assign f_allocates = f_mine && rsp_outcome_o == OutcomeAllocation;

  always_ff @(posedge clk_i) begin
    if (rst_ni && f_mine) begin
      a11_answers: assert (rsp_valid_o);
      if (f_about && q_op == OpRead) begin
        // A11. A read is served the lanes that the cache has; the rest is missing.
        a11_served: assert (rsp_served_o == (q_lanes & present_q));
        a11_missing: assert (rsp_missing_o == (q_lanes & ~present_q));
        a11_class: assert (rsp_outcome_o == ((rsp_served_o == '0) ? OutcomeMiss
                           : (rsp_missing_o == '0) ? OutcomeHit : OutcomePartialHit));
        // A12. It is given the last written value, or finds it in the main register file.
        if (rsp_served_o[f_lane]) a12_data: assert (rsp_data_o[32*f_lane +: 32] == value_q);
        if (rsp_missing_o[f_lane]) a12_elsewhere: assert (in_mrf_q || lost_q);
        a12_way: assert (rsp_way_o == '0 || (f_way_bit & b_match) != '0);
        if (b_match != '0) a12_way_of: assert ((f_way_bit & b_match) != '0);
      end
      // A13. A write or fill of a register that the cache has goes to its entry; a fill takes the
      // lanes that are not there.
      if (f_about && (q_op == OpWrite || q_op == OpFill) && present_q != '0) begin
        a13_taken: assert (rsp_served_o == ((q_op == OpFill) ? q_lanes & ~present_q : q_lanes));
        a13_class: assert (rsp_outcome_o == ((rsp_served_o == '0) ? OutcomeNothing
                                             : OutcomeInPlace));
        a13_way: assert ((f_way_bit & b_match) != '0);
        a13_stays: assert (!rsp_victim_o && rsp_dropped_o == '0);
      end
      // A14. Of one that it does not have they allocate: the lowest free entry, or else the oldest's.
      if (f_about && (q_op == OpWrite || q_op == OpFill) && present_q == '0) begin
        a14_class: assert (rsp_outcome_o == OutcomeAllocation && rsp_served_o == q_lanes);
        a14_there: assert ((f_way_bit & f_match) != '0);
        if (b_free != '0) a14_lowest: assert (f_way_bit == b_lowest && !rsp_victim_o);
        else              a14_victim: assert (rsp_victim_o);
      end
      // A15. Only then, and in a flush, does a live entry leave: the oldest of all.
      if (rsp_victim_o) begin
        a15_cause: assert ((f_allocates && b_count == cfg_entries_i)
                           || (q_op == OpFlush || q_op == OpExit));
        a15_way: assert ((f_way_bit & b_occupied) != '0);
        if (rsp_victim_register_o == f_register) begin
          a15_held: assert ((f_way_bit & b_match) != '0 && rsp_victim_lanes_o == present_q);
        end
        if (rsp_victim_register_o == f_other && b_match != '0) a15_oldest: assert (!first_q);
      end
      // A16. It is written back if it is dirty, with its value; else given up.
      if (rsp_victim_o && rsp_victim_register_o == f_register) begin
        a16_dirty: assert (rsp_writeback_o == dirty_s_q);
        a16_clean: assert (rsp_writeback_o || f_given_up);
        if (rsp_writeback_o && rsp_victim_lanes_o[f_lane])
          a16_data: assert (rsp_data_o[32*f_lane +: 32] == value_q);
      end
      a16_only_victims: assert (!rsp_writeback_o || rsp_victim_o);
      // A17. An entry is given up without a write-back after its last read, when all its lanes were
      // bypassed, when its warp ends, or when it is clean and has to leave; and never otherwise.
      if (f_given_up) begin
        a17_cause: assert ((q_op == OpRead && !q_more && f_frees)
                           || (q_op == OpBypass && f_about && present == '0)
                           || (f_empties)
                           || (rsp_victim_o && rsp_victim_register_o == f_register && !dirty_s_q));
      end
      if (q_op == OpRead && !q_more && f_frees) a17_freed: assert (f_given_up);
      a17_there: assert ((rsp_dropped_o & ~b_occupied) == '0);
      // A18. A bypass takes its lanes from the cache.
      if (f_about && q_op == OpBypass) begin
        a18_taken: assert (rsp_served_o == (q_lanes & present_q));
        a18_class: assert (rsp_outcome_o == ((rsp_served_o == '0) ? OutcomeNothing
                                             : OutcomeInvalidated));
        a18_gone: assert (f_given_up == (present_q != '0 && present == '0));
      end
      // A19. A flush takes one entry a response, the last of them leaves none; of nothing it gives
      // one response.
      if ((q_op == OpFlush || q_op == OpExit) && !f_empties) begin
        a19_one: assert (rsp_victim_o == (b_count != '0)
                         && f_count == b_count - CountWidth'(rsp_victim_o));
        a19_last: assert (rsp_last_o == (f_count == '0));
        a19_class: assert (rsp_outcome_o == ((b_count == '0) ? OutcomeNothing : OutcomeEmptied));
      end
      // A20. The end of a warp empties its cache at once where there is liveness.
      if (f_empties) begin
        a20_all: assert (f_count == '0 && rsp_dropped_o == b_occupied);
        a20_one: assert (rsp_last_o && !rsp_victim_o);
        a20_class: assert (rsp_outcome_o == ((b_count == '0) ? OutcomeNothing : OutcomeEmptied));
      end
      // A21. Every other request has one response.
      if (!(q_op == OpFlush || q_op == OpExit)) a21_one: assert (rsp_last_o);
      // A22. Responses to what is no read miss no lanes.
      if (q_op != OpRead) a22_missing: assert (rsp_missing_o == '0);
    end
  end

  // ---- The handshake ----

  logic       f_owed    = 1'b0;  // requests taken, less last responses taken
  logic [4:0] f_waited  = '0;    // clocks in which a request stood and could have been taken

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      f_owed <= f_owed + (req_valid_i && req_ready_o)
                - (rsp_valid_o && rsp_ready_i && rsp_last_o);
      if (req_valid_i && req_ready_o)                         f_waited <= '0;
      else if (req_valid_i && (!rsp_valid_o || rsp_ready_i)) f_waited <= f_waited + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A23. Each request taken has one last response; none comes unasked.
      a23_owed: assert (f_owed == (rsp_valid_o && rsp_last_o));
      // A24. A request is taken once its responses could go: at once, a flush by its last entry.
      if (req_valid_i && (!rsp_valid_o || rsp_ready_i)
          && !(req_op_i == OpFlush || req_op_i == OpExit)) a24_at_once: assert (req_ready_o);
      if (req_valid_i && req_warp_i == f_warp && (req_op_i == OpFlush || req_op_i == OpExit))
        a24_flush: assert (32'(f_waited) + 32'(f_count) <= 32'(cfg_entries_i));
      if (!req_valid_i) a24_idle: assert (f_waited == '0);
    end
    if (f_ran) begin
      // A25. A response comes a clock after its request was worked on, and holds still.
      a25_comes: assert (rsp_valid_o == ($past(req_valid_i && (!rsp_valid_o || rsp_ready_i))
                                         || $past(rsp_valid_o && !rsp_ready_i)));
      if ($past(rsp_valid_o && !rsp_ready_i)) begin
        a25_stable: assert ($stable(rsp_outcome_o) && $stable(rsp_last_o) && $stable(rsp_way_o)
                            && $stable(rsp_served_o) && $stable(rsp_missing_o)
                            && $stable(rsp_dropped_o) && $stable(rsp_victim_o)
                            && $stable(rsp_writeback_o) && $stable(rsp_victim_register_o)
                            && $stable(rsp_victim_lanes_o) && $stable(rsp_data_o));
      end
      // A26. A warp's entries do not change without a request of that warp.
      if (!($past(req_valid_i && (!rsp_valid_o || rsp_ready_i)) && q_warp == f_warp))
        a26_still: assert ($stable(dbg_occupied_o) && $stable(f_held) && $stable(f_way)
                           && $stable(f_age) && $stable(f_dirty_bit));
    end
    // A27. After a reset there is no entry and no response.
    if (f_running && !f_ran) a27_reset: assert (dbg_occupied_o == '0 && !rsp_valid_o);
  end

  // ---- What has to be reachable ----

  logic [2:0] f_flushed  = '0;   // entries of the tracked warp that the flush has sent
  logic       f_holed    = 1'b0; // an entry became free below an occupied one
  logic       f_touched  = 1'b0; // the tracked register was used while the other was younger
  logic       f_stalled  = 1'b0; // a flush's response had to wait

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (f_mine) f_flushed <= (rsp_victim_o && q_op == OpFlush && !rsp_last_o)
                               ? f_flushed + 1'b1 : '0;
      if (f_used && q_register == f_register && first_q && b_match != '0) f_touched <= 1'b1;
      if (f_given_up && f_match_other != '0 && f_count != '0
          && (b_match & (~dbg_occupied_o + 1'b1)) != '0) f_holed <= 1'b1;
      if ($past(rsp_valid_o && !rsp_ready_i && rsp_victim_o && !rsp_last_o)) f_stalled <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && f_mine) begin
      // C1. A read hits, misses, and misses a part.
      c01_hit: cover (q_op == OpRead && rsp_outcome_o == OutcomeHit && f_about);
      c01_miss: cover (q_op == OpRead && rsp_outcome_o == OutcomeMiss && b_count != '0);
      c01_partial: cover (rsp_outcome_o == OutcomePartialHit && f_about);
      // C2. A dirty entry makes room, with the tracked value; a clean one too.
      c02_written_back: cover (f_allocates && f_written_back && rsp_victim_lanes_o[f_lane]);
      c02_clean: cover (f_allocates && rsp_victim_o && f_given_up);
      // C3. With fewer entries than there are, too.
      if (Entries > 1) c03_fewer: cover (f_allocates && rsp_victim_o
                                         && 32'(cfg_entries_i) < Entries);
      // C4. A fill takes some lanes of an entry that holds others, and what it brought is read.
      c04_fill: cover (q_op == OpFill && rsp_outcome_o == OutcomeInPlace && f_about
                       && rsp_served_o != q_lanes);
      c04_read: cover (f_about && rsp_served_o[f_lane] && q_op == OpRead && !f_dirty_bit);
      // C5. A bypass takes some lanes, and the last.
      c05_some: cover (f_about && q_op == OpBypass && rsp_served_o != '0 && present != '0);
      c05_all: cover (f_about && q_op == OpBypass && f_given_up);
      // C6. A last read frees its entry, after another read of the same instruction.
      c06_freed: cover (q_op == OpRead && f_given_up && !f_about);
      c06_both: cover (q_op == OpRead && f_given_up && b_match != rsp_dropped_o);
      // C7. A flush sends all entries, one of whose responses had to wait.
      c07_flush: cover (f_stalled && q_op == OpFlush && rsp_last_o
                        && 32'(f_flushed) == ((Entries > 4) ? 3 : Entries - 1));
      // C8. A warp's end drops at once, or flushes.
      c08_at_once: cover (f_empties && b_count != '0 && present_q[f_lane]);
      c08_flush: cover (q_op == OpExit && !f_empties && f_written_back);
      // C9. Under LRU an entry that was used again outlives a younger one.
      if (Entries > 1) c09_outlives: cover (f_touched && cfg_lru_i && rsp_victim_o && f_allocates
                                            && rsp_victim_register_o == f_other && f_match != '0);
      // C10. A register that is not needed any more is written again.
      c10_anew: cover (lost_q && f_lane_in && q_op == OpWrite);
    end
  end
