// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `write_pool`, which includes this file at its end where FORMAL is defined.
//
// The solver chooses two registers and a lane; what is proved of them holds for all. E1.. is what
// the requester keeps, A1.. what is proved, C1.. what has to be reachable. Beside the hardware
// stands a shadow: which lanes of the tracked register the pool should have, what was written to
// it last, which other copies have that value, and which of the two registers was used last. It knows
// requests and decisions, and no entry's state.
// docs/hw/write_pool.md says what was proved at which size.

  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;

  (* anyconst *) logic [NumberWidth-1:0] f_number;
  (* anyconst *) logic [NumberWidth-1:0] f_other;
  (* anyconst *) logic [LaneWidth-1:0]   f_lane;
  (* anyconst *) logic [SlotWidth-1:0]   f_entry;       // of the debug port

  // Whose register each number is.
  (* anyconst *) logic [WarpWidth*2**NumberWidth-1:0] f_owners;

  logic [WarpWidth-1:0] f_warp;
  logic [WarpWidth-1:0] f_other_warp;

  assign f_warp       = f_owners[f_number*WarpWidth +: WarpWidth];
  assign f_other_warp = f_owners[f_other*WarpWidth +: WarpWidth];

  always_comb begin
    assume (32'(f_lane) < Lanes);
    assume (f_other != f_number);
    assume (32'(f_entry) < Entries);
    assume (dbg_enable_i && dbg_entry_i == f_entry);
  end

  // ---- Time: one clock of reset ----

  logic f_running = 1'b0;
  logic f_ran     = 1'b0;  // out of reset in the clock before, too

  always_ff @(posedge clk_i) begin
    f_running <= 1'b1;
    f_ran     <= f_running;
  end

  always_comb assume (rst_ni == f_running);

  // ---- The request that is decided ----

  logic                   f_stands = 1'b0;  // a request was taken, and is not carried out yet
  logic [2:0]             q_op;
  logic [WarpWidth-1:0]   q_warp;
  logic [NumberWidth-1:0] q_number;
  logic [Lanes-1:0]       q_lanes;
  logic [DataWidth-1:0]   q_data;
  logic                   f_go;        // it is carried out
  logic                   f_about;     // it is about the tracked register

  assign f_go    = f_stands && dec_go_i;
  assign f_about = (q_op == OpRead || q_op == OpWrite) && q_number == f_number;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (req_valid_i && req_ready_o) f_stands <= 1'b1;
      else if (dec_go_i)              f_stands <= 1'b0;
      if (req_valid_i && req_ready_o) begin
        q_op     <= req_op_i;
        q_warp   <= req_warp_i;
        q_number <= req_number_i;
        q_lanes  <= req_lanes_i;
        q_data   <= req_data_i;
      end
    end
  end

  // ---- The entries as they are ----

  logic [Entries-1:0]     f_match;        // the entry that has the tracked register
  logic [Entries-1:0]     f_match_other;
  logic [Entries-1:0]     f_match_q;      // the one that has the request's register
  logic [Entries-1:0]     f_own;          // entries of the request's warp
  logic [5:0]             f_count;        // occupied entries
  logic [5:0]             f_own_count;
  logic [Lanes-1:0]       f_held;
  logic [Lanes-1:0]       f_held_q;
  logic [SlotWidth-1:0]   f_slot;
  // Fields of all entries, entry 0 lowest.
  logic [Entries*NumberWidth-1:0] f_numbers;
  logic [Entries*WarpWidth-1:0]   f_warps;
  logic [Entries*Lanes-1:0]       f_lanes;
  logic [Entries*Entries-1:0]     f_newer;        // bit e * Entries + o: entry e is newer than o
  logic [Entries-1:0]     f_lowest;       // the lowest empty entry

  for (genvar e = 0; e < Entries; e++) begin : g_f_entry
    for (genvar k = 0; k < NumberWidth; k++) begin : g_number
      assign f_numbers[e*NumberWidth + k] = number_q[k][e];
    end
    for (genvar k = 0; k < WarpWidth; k++) begin : g_warp
      assign f_warps[e*WarpWidth + k] = warp_q[k][e];
    end
    for (genvar l = 0; l < Lanes; l++) begin : g_lane
      assign f_lanes[e*Lanes + l] = lanes_q[l][e];
    end
    for (genvar o = 0; o < Entries; o++) begin : g_other
      if (o < e)      assign f_newer[e*Entries + o] = newer_q[e][o];
      else if (o > e) assign f_newer[e*Entries + o] = !newer_q[o][e];
      else            assign f_newer[e*Entries + o] = 1'b0;
    end
  end

  always_comb begin
    f_match       = '0;
    f_match_other = '0;
    f_match_q     = '0;
    f_own         = '0;
    f_count       = '0;
    f_own_count   = '0;
    f_held        = '0;
    f_held_q      = '0;
    f_slot        = '0;
    f_lowest      = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      f_match[e]       = occupied_q[e] && f_numbers[e*NumberWidth +: NumberWidth] == f_number;
      f_match_other[e] = occupied_q[e] && f_numbers[e*NumberWidth +: NumberWidth] == f_other;
      f_match_q[e]     = occupied_q[e] && f_numbers[e*NumberWidth +: NumberWidth] == q_number;
      f_own[e]         = occupied_q[e] && f_warps[e*WarpWidth +: WarpWidth] == q_warp;
      f_count          = f_count + 6'(occupied_q[e]);
      f_own_count      = f_own_count + 6'(f_own[e]);
      if (f_match[e])   f_held   = f_held | f_lanes[e*Lanes +: Lanes];
      if (f_match_q[e]) f_held_q = f_held_q | f_lanes[e*Lanes +: Lanes];
      if (f_match[e])   f_slot   = f_slot | SlotWidth'(e);
      if (usable_q[e] && !occupied_q[e] && f_lowest == '0) f_lowest[e] = 1'b1;
    end
  end

  // ---- The shadow ----

  logic [5:0]       g_entries = '0;    // configured
  logic [Lanes-1:0] g_lanes   = '0;    // lanes of the tracked register that the pool has
  logic             g_first;           // it was used longer ago than the other
  logic [31:0]      g_value;           // what was written to the tracked lane last
  logic             g_in_bank = 1'b1;  // its bank has that value
  logic             g_lost    = 1'b0;  // it was dropped

  logic f_leaves;   // the tracked register goes to its bank
  logic f_uses;     // the request makes its register the newest
  logic f_pools;    // a write that goes to the pool

  assign f_pools  = q_op == OpWrite && g_entries != '0;
  assign f_leaves = f_pools && dec_write_bank_o && dec_write_number_o == f_number;
  assign f_uses   = f_pools || (q_op == OpRead && (dec_outcome_o == OutcomeHit
                                                   || dec_outcome_o == OutcomePartialHit));

  always_ff @(posedge clk_i) begin
    if (rst_ni && clear_i) begin
      g_entries <= cfg_entries_i;
      g_lanes   <= '0;
      g_lost    <= 1'b1;
      g_in_bank <= 1'b0;
    end else if (rst_ni && f_go) begin
      // What leaves.
      if (f_leaves && !f_about) begin
        g_lanes <= '0;
        if (g_lanes[f_lane]) g_in_bank <= 1'b1;
      end
      if (q_op == OpDrop && q_warp == f_warp) begin
        g_lanes <= '0;
        if (g_lanes[f_lane]) g_lost <= 1'b1;
      end
      // What comes.
      if (f_about && q_op == OpWrite) begin
        if (f_pools) g_lanes <= g_lanes | q_lanes;
        if (q_lanes[f_lane]) begin
          g_value   <= q_data[32*f_lane +: 32];
          g_in_bank <= !f_pools;
          g_lost    <= 1'b0;
        end
      end
      // The order of use.
      if (f_uses && q_number == f_number) g_first <= 1'b0;
      if (f_uses && q_number == f_other)  g_first <= 1'b1;
      if (q_op == OpDemote && q_warp == f_warp && q_warp != f_other_warp) g_first <= 1'b1;
      if (q_op == OpDemote && q_warp != f_warp && q_warp == f_other_warp) g_first <= 1'b0;
    end
  end

  // ---- What the requester keeps ----

  always_comb begin
    // E1. The number of entries is in range, and nothing is asked or stands as it is taken over.
    if (clear_i) assume (32'(cfg_entries_i) <= Entries && !req_valid_i && !dec_valid_o);
    if (req_valid_i) begin
      // E2. Requests name a warp that there is; reads and writes at least one lane.
      assume (32'(req_warp_i) < Warps);
      if (req_op_i == OpRead || req_op_i == OpWrite) assume (req_lanes_i != '0);
      // E3. A register belongs to one warp.
      if (req_op_i == OpRead || req_op_i == OpWrite)
        assume (req_warp_i == f_owners[req_number_i*WarpWidth +: WarpWidth]);
    end
  end

  always_ff @(posedge clk_i) begin
    // E4. A request holds still until it is taken.
    if (f_ran && $past(req_valid_i && !req_ready_o)) begin
      assume (req_valid_i);
      assume ($stable(req_op_i) && $stable(req_warp_i) && $stable(req_number_i)
              && $stable(req_lanes_i) && $stable(req_data_i));
    end
  end

  // ---- The state, in every clock ----

  logic f_unique;
  logic f_nonempty;
  logic f_owned;       // each entry is its register's warp's
  logic f_transitive;
  logic f_unused_last; // entries out of use are newer than all in use
  logic f_is_oldest;   // `oldest_q` is what it says
  logic f_newest_q;    // the entry of the request's register is the newest already

  always_comb begin
    f_unique      = 1'b1;
    f_nonempty    = 1'b1;
    f_owned       = 1'b1;
    f_transitive  = 1'b1;
    f_unused_last = 1'b1;
    f_is_oldest   = 1'b1;
    f_newest_q    = 1'b1;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (occupied_q[e] && f_lanes[e*Lanes +: Lanes] == '0) f_nonempty = 1'b0;
      if (occupied_q[e] && f_warps[e*WarpWidth +: WarpWidth]
          != f_owners[f_numbers[e*NumberWidth +: NumberWidth]*WarpWidth +: WarpWidth])
        f_owned = 1'b0;
      if (oldest_q[e] != (usable_q[e] && (usable_q & f_newer[e*Entries +: Entries]) == '0))
        f_is_oldest = 1'b0;
      if (f_match_q[e] && (usable_q & ~f_match_q & ~f_newer[e*Entries +: Entries]) != '0)
        f_newest_q = 1'b0;
      for (int unsigned o = 0; o < Entries; o++) begin
        if (o != e) begin
          if (occupied_q[e] && occupied_q[o] && f_numbers[e*NumberWidth +: NumberWidth]
              == f_numbers[o*NumberWidth +: NumberWidth]) f_unique = 1'b0;
          if (!usable_q[e] && usable_q[o] && !f_newer[e*Entries + o]) f_unused_last = 1'b0;
          for (int unsigned m = 0; m < Entries; m++) begin
            if (m != e && m != o && f_newer[e*Entries + o] && f_newer[o*Entries + m]
                && !f_newer[e*Entries + m])
              f_transitive = 1'b0;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. A register is in one entry at most.
      a01_unique: assert (f_unique);
      // A2. Entries beyond the configured number stay empty.
      a02_entries: assert (32'(g_entries) <= Entries);
      a02_usable: assert (g_entries == '0 ? usable_q == '0
                          : usable_q == ~({Entries{1'b1}} << g_entries));
      a02_range: assert ((occupied_q & ~usable_q) == '0 && exists_q == (g_entries != '0));
      // A3. An entry has at least one valid lane.
      a03_lanes: assert (f_nonempty);
      // A4. The order of use is one: what is newer than a newer one is newer. That of two entries
      // one is newer is how it is kept.
      if (exists_q) begin
        a04_transitive: assert (f_transitive);
        a04_unused: assert (f_unused_last);
      end
      // A5. The pool has the lanes of a register that requests and decisions say it has.
      a05_lanes: assert (f_held == g_lanes);
      a05_owned: assert (f_owned);
      // A6. A valid lane holds what was written to it last.
      if (g_lanes[f_lane]) begin
        a06_value: assert (((enter_q[f_lane] && slot_q == f_slot)
                            ? enter_data_q[32*f_lane +: 32]
                            : data_q[f_slot][32*f_lane +: 32]) == g_value);
      end
      // A7. A value that the pool does not have is in its bank, unless it was dropped.
      if (!g_lanes[f_lane]) a07_no_loss: assert (g_in_bank || g_lost);
      // A8. Of two registers in the pool the one used longer ago is the older; where warps were
      // demoted since, theirs are, in the order that they had.
      if (f_match != '0 && f_match_other != '0)
        a08_order: assert (g_first == ((f_match_other & f_newer[f_slot*Entries +: Entries]) == '0));
      // A9. The lowest empty entry, whether there is one, and which is the oldest, are known in
      // advance.
      if (exists_q) begin
        a09_full: assert (full_q == (f_lowest == '0));
        a09_oldest: assert (f_is_oldest);
        a09_place: assert (place_q == (full_q ? oldest_q : f_lowest));
      end
      // A10. The decision is about the entry that has the request's register in this clock, or about
      // its warp's; which entries become the newest, and whether a new register enters, are known in
      // advance. To make the newest the newest changes nothing.
      if (valid_q) begin
        a10_request: assert (f_stands && op_q == q_op && of_warp_q == q_warp
                             && of_number_q == q_number && of_lanes_q == q_lanes
                             && of_data_q == q_data);
        if (q_op == OpRead || q_op == OpWrite) a10_lanes: assert (q_lanes != '0);
      end
      if (valid_q && (q_op == OpRead || q_op == OpWrite)) begin
        a10_owner: assert (q_warp == f_owners[q_number*WarpWidth +: WarpWidth]);
        a10_match: assert (match_q == f_match_q && hit_q == (f_match_q != '0));
        a10_held: assert (held_q == f_held_q);
        a10_use: assert (newest_q == (~usable_q | ((q_op == OpWrite || (q_lanes & f_held_q) != '0
                                                    || (f_newest_q && (newest_q & f_match_q) != '0))
                                                   ? f_match_q : '0)));
      end
      if (valid_q && (q_op == OpDemote || q_op == OpDrop)) a10_own: assert (own_q == f_own);
      if (valid_q && q_op == OpDemote) a10_stay: assert (newest_q == (~usable_q | ~f_own));
      if (valid_q && q_op != OpRead && q_op != OpWrite && q_op != OpDemote)
        a10_none: assert (newest_q == ~usable_q);
      a10_enters: assert (enters_q == (valid_q && q_op == OpWrite && exists_q && !hit_q));
      if (valid_q) a10_keeps: assert (keeps_q == (g_entries == 6'd1
                                                  || (q_op == OpDemote && f_own == '0)));
      a10_single: assert (single_q == (g_entries == 6'd1));
      // A11. The debug port shows an entry as it is.
      a11_debug: assert (dbg_occupied_o == occupied_q[f_entry]
                         && dbg_newer_o == (f_newer[f_entry*Entries +: Entries]
                                            | Entries'(1) << f_entry)
                         && dbg_warp_o == f_warps[f_entry*WarpWidth +: WarpWidth]
                         && dbg_number_o == f_numbers[f_entry*NumberWidth +: NumberWidth]
                         && dbg_lanes_o == f_lanes[f_entry*Lanes +: Lanes]);
    end
  end

  // ---- Decisions ----

  always_ff @(posedge clk_i) begin
    if (rst_ni && f_stands) begin
      // A12. Decisions come in the order of the requests, one each.
      a12_op: assert (dec_valid_o && dec_op_o == q_op);
      // A13. A read of lanes that the pool has all of is a hit, of some a partial hit, else the
      // bank's; the bank gives what is missing.
      if (f_about && q_op == OpRead) begin
        a13_class: assert (dec_outcome_o == (((q_lanes & g_lanes) == '0) ? OutcomeBank
                           : ((q_lanes & ~g_lanes) == '0) ? OutcomeHit : OutcomePartialHit));
        a13_bank: assert (dec_read_bank_o == ((q_lanes & ~g_lanes) != '0));
        a13_number: assert (dec_read_number_o == f_number);
        if (q_lanes[f_lane] && !g_lanes[f_lane]) a13_there: assert (g_in_bank || g_lost);
      end
      if (q_op != OpRead) a13_only: assert (!dec_read_bank_o);
      // A14. A write of a register that the pool has is a hit; else it takes an empty entry, or
      // replaces another register where all entries are occupied. Without a pool it passes by.
      if (f_about && q_op == OpWrite) begin
        a14_class: assert (dec_outcome_o == ((g_entries == '0) ? OutcomeBank
                           : (g_lanes != '0) ? OutcomeHit
                           : (f_count < g_entries) ? OutcomeAllocation : OutcomeReplacement));
        if (g_entries == '0) a14_by: assert (dec_write_bank_o && dec_write_number_o == f_number);
      end
      a14_only: assert (dec_write_bank_o == (q_op == OpWrite && (dec_outcome_o == OutcomeBank
                        || dec_outcome_o == OutcomeReplacement)));
      // A15. The register that is replaced is the least recently used.
      if (f_pools && dec_write_bank_o) begin
        if (dec_write_number_o == f_other && f_match_other != '0 && f_match != '0)
          a15_oldest: assert (!g_first);
        a15_full: assert (f_count == g_entries);
      end
      // A16. Demoting or dropping a warp without entries does nothing.
      if (q_op == OpDemote || q_op == OpDrop)
        a16_moved: assert (dec_outcome_o == ((f_own == '0) ? OutcomeNothing : OutcomeMoved));
    end
    if (rst_ni && !f_stands) a12_none: assert (!dec_valid_o && !dec_read_bank_o
                                               && !dec_write_bank_o);
  end

  // ---- What follows a decision, a clock later ----

  logic               x_went = 1'b0;  // a decision was carried out
  logic               x_about;
  logic [2:0]         x_op;
  logic [2:0]         x_outcome;
  logic               x_leaves;
  logic [WarpWidth-1:0] x_warp;
  logic [Lanes-1:0]   x_lanes;        // the request's
  logic [DataWidth-1:0] x_data;
  logic [Lanes-1:0]   x_held;         // of the tracked register, before
  logic [31:0]        x_value;
  logic [5:0]         x_own_count;
  logic [5:0]         x_count;
  logic [Entries-1:0] x_lowest;
  logic [Entries-1:0] x_match;

  always_ff @(posedge clk_i) begin
    x_went <= rst_ni && f_go;
    if (f_go) begin
      x_about     <= f_about;
      x_op        <= q_op;
      x_outcome   <= dec_outcome_o;
      x_leaves    <= f_leaves;
      x_warp      <= q_warp;
      x_lanes     <= q_lanes;
      x_data      <= q_data;
      x_held      <= g_lanes;
      x_value     <= g_value;
      x_own_count <= f_own_count;
      x_count     <= f_count;
      x_lowest    <= f_lowest;
      x_match     <= f_match;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && x_went) begin
      // A17. A read is given the lanes that the pool had, with the last written values.
      if (x_about && x_op == OpRead) begin
        a17_lanes: assert (out_lanes_o == (x_lanes & x_held));
        if (out_lanes_o[f_lane]) a17_value: assert (out_data_o[32*f_lane +: 32] == x_value);
      end
      // A18. What leaves takes all its lanes and their values with it; what passes by, too.
      if (x_leaves && !x_about) begin
        a18_lanes: assert (out_lanes_o == x_held);
        if (out_lanes_o[f_lane]) a18_value: assert (out_data_o[32*f_lane +: 32] == x_value);
      end
      if (x_op == OpWrite && x_outcome == OutcomeBank)
        a18_by: assert (out_lanes_o == x_lanes && out_data_o == x_data);
      // A19. A new register goes to the lowest empty entry, a register that is there stays.
      if (x_about && x_op == OpWrite && x_outcome == OutcomeAllocation)
        a19_lowest: assert (f_match == x_lowest && f_count == x_count + 1'b1);
      if (x_about && (x_outcome == OutcomeHit || x_outcome == OutcomePartialHit))
        a19_stays: assert (f_match == x_match && f_count == x_count);
      if (x_about && x_outcome == OutcomeReplacement)
        a19_replaces: assert (f_match != '0 && f_count == x_count);
      // A20. A drop frees all entries of its warp and no other; it and a demotion count them.
      if (x_op == OpDrop) a20_dropped: assert (f_count == x_count - x_own_count);
      if (x_op == OpDrop && x_warp == f_warp) a20_gone: assert (f_match == '0);
      if (x_op == OpDemote) a20_kept: assert (f_count == x_count);
      if (x_op == OpDemote || x_op == OpDrop) a20_count: assert (out_count_o == x_own_count);
    end
  end

  // ---- The handshake ----

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A21. A request is taken as soon as no decision waits.
      a21_ready: assert (req_ready_o == (!f_stands || dec_go_i));
    end
    if (f_ran) begin
      // A22. A decision that waits holds still, and changes nothing, nor what is shown of the one
      // before.
      if ($past(f_stands && !dec_go_i)) begin
        a22_stable: assert (dec_valid_o && $stable(dec_op_o) && $stable(dec_outcome_o)
                            && $stable(dec_read_bank_o) && $stable(dec_read_number_o)
                            && $stable(dec_write_bank_o) && $stable(dec_write_number_o));
        a22_shown: assert ($stable(out_lanes_o) && $stable(out_data_o) && $stable(out_count_o));
      end
      if (!$past(f_go || clear_i))
        a22_still: assert ($stable(occupied_q) && $stable(f_held) && $stable(f_match)
                           && $stable(f_newer));
    end
    // A23. After a reset or a clear the pool is empty, and nothing stands.
    if (f_running && (!f_ran || $past(clear_i)))
      a23_empty: assert (occupied_q == '0 && !dec_valid_o);
  end

  // ---- What has to be reachable ----

  logic f_waited  = 1'b0;  // a replacement had to wait for its bank
  logic f_demoted = 1'b0;  // the tracked register's warp was demoted, the other's was not
  logic f_reread  = 1'b0;  // the tracked register was read when it was older

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (clear_i) begin
        f_waited  <= 1'b0;
        f_demoted <= 1'b0;
        f_reread  <= 1'b0;
      end else begin
        if (f_stands && dec_write_bank_o && !dec_go_i) f_waited <= 1'b1;
        if (f_go && q_op == OpDemote && q_warp == f_warp && f_match != '0 && f_match_other != '0
            && !g_first && f_warp != f_other_warp) f_demoted <= 1'b1;
        if (f_go && f_about && q_op == OpRead && g_lanes != '0 && g_first && f_match_other != '0)
          f_reread <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && f_go) begin
      // C1. Reads hit, hit a part, and miss.
      c01_hit: cover (f_about && q_op == OpRead && dec_outcome_o == OutcomeHit);
      c01_partial: cover (f_about && dec_outcome_o == OutcomePartialHit);
      c01_bank: cover (f_about && q_op == OpRead && dec_outcome_o == OutcomeBank
                       && f_count != '0);
      // C2. Writes hit, take an empty entry, and replace another register after a wait.
      c02_hit: cover (f_about && q_op == OpWrite && dec_outcome_o == OutcomeHit);
      c02_allocation: cover (f_about && dec_outcome_o == OutcomeAllocation && f_count != '0);
      c02_replacement: cover (f_about && dec_outcome_o == OutcomeReplacement && f_waited);
      // C3. With fewer entries than there are, and without a pool.
      c03_fewer: cover (dec_outcome_o == OutcomeReplacement && 32'(g_entries) < Entries);
      c03_none: cover (f_about && q_op == OpWrite && g_entries == '0);
      // C4. A demoted register leaves before one that was used earlier.
      c04_demoted: cover (f_demoted && f_leaves && f_match_other != '0);
      // C5. A register that was read again outlives one that was written later.
      c05_outlives: cover (f_reread && f_pools && dec_write_bank_o && dec_write_number_o == f_other
                           && f_match != '0);
      // C6. A drop frees several entries, and leaves one.
      c06_drop: cover (q_op == OpDrop && f_own_count == 6'd2 && f_count == 6'd3);
      // C7. A write goes below an entry that stayed.
      c07_hole: cover (f_about && dec_outcome_o == OutcomeAllocation && f_lowest == Entries'(1)
                       && f_count != '0);
    end
  end
