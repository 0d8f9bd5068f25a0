// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `access_sequencer`, which includes this file at its end where FORMAL is defined.
// They are about the whole way of a command, through cache, write pool and banks.
//
// The solver chooses a warp, one of its registers, a lane, and one command; what is found of them
// holds for all. E1.. is what the commander keeps, A1.. what is checked in the first clocks after
// a reset, C1.. what has to be reachable. The shadow knows what the program wrote last.
// docs/hw/access_sequencer.md says how far it was checked.

  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;

  (* anyconst *) logic [WarpWidth-1:0]     f_warp;
  (* anyconst *) logic [RegisterWidth-1:0] f_register;
  (* anyconst *) logic [LaneWidth-1:0]     f_lane;
  (* anyseq *)   logic                     f_choose;  // the command that is taken is followed

  always_comb begin
    assume (32'(f_warp) < Warps && 32'(f_lane) < Lanes);
    assume (f_register < cfg_registers_i);
  end

  // ---- Time: a clock of reset, then one that clears ----

  logic [1:0] f_clock = '0;  // saturates

  always_ff @(posedge clk_i) if (f_clock != 2'd3) f_clock <= f_clock + 1'b1;

  always_comb begin
    assume (rst_ni == (f_clock != '0));
    assume (clear_i == (f_clock == 2'd1));
  end

  // ---- What the commander keeps ----

  logic                 f_more = 1'b0;  // the instruction has another read
  logic [WarpWidth-1:0] f_more_warp;

  always_comb begin
    // E1. Settings are in range.
    assume (32'(cfg_cache_entries_i) <= CacheEntries && 32'(cfg_pool_entries_i) <= PoolEntries);
    assume (cfg_write_cycles_i != '0 && cfg_registers_i != '0);
    assume (32'(cfg_registers_i) * Warps <= 1024);
    // E2. Nothing is commanded before the clear.
    if (!f_clock[1]) assume (!cmd_valid_i);
    // E3. Commands name a warp that there is; those before FLUSH a register that there is, and at
    // least one lane.
    if (cmd_valid_i) begin
      assume (32'(cmd_warp_i) < Warps);
      if (cmd_op_i < OpFlush) assume (cmd_register_i < cfg_registers_i && cmd_lanes_i != '0);
      // E4. Between the reads of one instruction nothing else is commanded.
      if (f_more) assume (cmd_op_i == OpRead && cmd_warp_i == f_more_warp);
    end
  end

  always_ff @(posedge clk_i) begin
    if (f_clock != '0) begin
      // E5. Settings stay, and a command holds still until it is taken.
      assume ($stable(cfg_cache_entries_i) && $stable(cfg_lru_i) && $stable(cfg_liveness_i)
              && $stable(cfg_pool_entries_i) && $stable(cfg_split_i)
              && $stable(cfg_write_cycles_i) && $stable(cfg_registers_i));
      if ($past(cmd_valid_i && !cmd_ready_o)) begin
        assume (cmd_valid_i);
        assume ($stable(cmd_op_i) && $stable(cmd_warp_i) && $stable(cmd_register_i)
                && $stable(cmd_lanes_i) && $stable(cmd_last_use_i) && $stable(cmd_more_i)
                && $stable(cmd_data_i));
      end
    end
  end

  // ---- The shadow: what the program wrote last to the tracked lane ----

  logic        g_defined = 1'b0;  // it may be read
  logic        g_dying   = 1'b0;  // a last read was seen in this instruction
  logic [31:0] g_value;
  logic        f_mine;            // the command is about the tracked lane

  assign f_mine = cmd_warp_i == f_warp && cmd_register_i == f_register && cmd_lanes_i[f_lane];

  always_comb begin
    // E6. A fill brings what was written last.
    if (cmd_valid_i && cmd_op_i == OpFill && f_mine)
      assume (g_defined && cmd_data_i[32*f_lane +: 32] == g_value);
  end

  logic f_dies;

  assign f_dies = g_dying || (cmd_op_i == OpRead && cmd_last_use_i && cfg_liveness_i
                              && cmd_warp_i == f_warp && cmd_register_i == f_register);

  always_ff @(posedge clk_i) begin
    if (rst_ni && taken) begin
      f_more      <= cmd_op_i == OpRead && cmd_more_i;
      f_more_warp <= cmd_warp_i;
      g_dying     <= f_dies && cmd_op_i == OpRead && cmd_more_i;
      if (cmd_op_i == OpRead && !cmd_more_i && f_dies) g_defined <= 1'b0;
      if ((cmd_op_i == OpWrite || cmd_op_i == OpBypass) && f_mine) begin
        g_defined <= 1'b1;
        g_value   <= cmd_data_i[32*f_lane +: 32];
      end
      if (cmd_warp_i == f_warp && (cmd_op_i == OpDrop || (cmd_op_i == OpExit && cfg_liveness_i)))
        g_defined <= 1'b0;
    end
  end

  // ---- The command that is followed ----

  logic             p_chosen = 1'b0;
  logic             p_done   = 1'b0;
  logic [4:0]       p_before;      // commands whose outcomes come before its own
  logic [4:0]       p_clocks;      // since it was taken; saturates
  logic [2:0]       p_op;
  logic [Lanes-1:0] p_lanes;
  logic             p_mine;
  logic             p_defined;
  logic [31:0]      p_value;
  logic             p_now;         // its outcome stands

  assign p_now = p_chosen && !p_done && out_valid_o && p_before == '0;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (taken && f_choose && !p_chosen) begin
        p_chosen  <= 1'b1;
        p_before  <= 5'(under_way_q) - 5'(out_valid_o);
        p_clocks  <= '0;
        p_op      <= cmd_op_i;
        p_lanes   <= cmd_lanes_i;
        p_mine    <= f_mine;
        p_defined <= g_defined;
        p_value   <= g_value;
      end else begin
        if (out_valid_o && p_before != '0) p_before <= p_before - 1'b1;
        if (p_clocks != '1)                p_clocks <= p_clocks + 1'b1;
      end
      if (p_now) p_done <= 1'b1;
    end
  end

  regmap_pkg::outcome_t o;

  assign o = out_outcome_o;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. Each command taken has one outcome; never are more under way than there is room for.
      a01_one: assert (!out_valid_o || under_way_q != '0);
      a01_room: assert (32'(under_way_q) <= Places);
      // A2. A read is given what the program wrote last, wherever it was.
      if (p_now && p_op == OpRead && p_mine && p_defined)
        a02_value: assert (out_data_o[32*f_lane +: 32] == p_value);
      // A3. What an outcome says fits its command: what reads, writes and the ends of warps do.
      if (p_now && p_op == OpRead) begin
        a03_read: assert (cfg_cache_entries_i == '0 ? o.cache == '0
                          : o.cache == CacheMiss || o.cache == CachePartialHit
                            || o.cache == CacheHit);
        a03_read_main: assert (o.cache == CacheHit ? o.main == '0
                               : o.main == PoolBank || o.main == PoolHit
                                 || o.main == PoolPartialHit);
        a03_read_only: assert (o.writebacks == '0);
      end
      if (p_now && p_op == OpWrite && cfg_cache_entries_i != '0) begin
        a03_write: assert (o.cache == CacheInPlace || o.cache == CacheAllocation);
        a03_write_main: assert ((o.main != '0) == (o.writebacks == 4'd1) && o.writebacks <= 4'd1);
      end
      if (p_now && (p_op == OpBypass || (p_op == OpWrite && cfg_cache_entries_i == '0)))
        a03_through: assert (o.main == PoolBank || o.main == PoolHit || o.main == PoolAllocation
                             || o.main == PoolReplacement);
      if (p_now && (p_op == OpDemote || p_op == OpDrop))
        a03_moved: assert (o.cache == '0 && o.writebacks == '0);
      if (p_now && (p_op == OpFlush || p_op == OpExit))
        a03_flush: assert (32'(o.writebacks) + 32'(o.dropped) <= 32'(cfg_cache_entries_i));
      // A4. An outcome comes seven clocks after its command where nothing waits; where writes take
      // one clock nothing ever does.
      if (p_now) a04_soonest: assert (p_clocks >= 5'd6);
      if (p_now && cfg_write_cycles_i == 4'd1) a04_waits: assert (o.waited == '0);
      if (cfg_write_cycles_i == 4'd1 && p_chosen && !p_done)
        a04_latest: assert (p_clocks <= 5'd6);
      // A5. Without a conflict a command is taken in every clock, but for the entries of a flush.
      if (cfg_write_cycles_i == 4'd1 && f_clock[1] && cmd_valid_i && cmd_op_i != OpFlush
          && cmd_op_i != OpExit) a05_taken: assert (cmd_ready_o);
    end
  end

  // ---- What has to be reachable ----

  always_ff @(posedge clk_i) begin
    if (rst_ni && p_now && p_mine && p_defined) begin
      // C1. The value is read from the cache, from the pool, from its bank.
      c01_cache: cover (p_op == OpRead && o.cache == CacheHit);
      c01_pool: cover (p_op == OpRead && cfg_cache_entries_i != '0 && o.main == PoolHit);
      c01_bank: cover (p_op == OpRead && cfg_cache_entries_i != '0 && o.main == PoolBank
                       && cfg_pool_entries_i != '0);
      // C2. A read waits for a write; a write pushes one out of the cache and one out of the pool.
      c02_waits: cover (p_op == OpRead && o.waited != '0);
      c02_pushes: cover (p_op == OpWrite && o.cache == CacheAllocation
                         && o.main == PoolReplacement);
    end
    if (rst_ni && p_now) begin
      // C3. A flush writes back.
      c03_flush: cover (p_op == OpFlush && 32'(o.writebacks) == CacheEntries);
    end
  end
