// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `main_register_file`, which includes this file at its end where FORMAL is defined.
// They are about the whole way of a request, through write pool and banks.
//
// The solver chooses a warp, one of its registers, a lane, and one request; what is found of them
// holds for all. E1.. is what the requester keeps, A1.. what is checked in the first clocks after
// a reset, C1.. what has to be reachable. The shadow knows what was written last.
// docs/hw/main_register_file.md says how far it was checked.

  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;

  localparam logic [2:0] OpRead   = regmap_pkg::MainAccessRead;
  localparam logic [2:0] OpWrite  = regmap_pkg::MainAccessWrite;
  localparam logic [2:0] OpDemote = regmap_pkg::MainAccessDemote;
  localparam logic [2:0] OpDrop   = regmap_pkg::MainAccessDrop;

  localparam logic [2:0] OutNothing     = regmap_pkg::MainOutcomeNothing;
  localparam logic [2:0] OutBank        = regmap_pkg::MainOutcomeBank;
  localparam logic [2:0] OutHit         = regmap_pkg::MainOutcomePoolHit;
  localparam logic [2:0] OutPartialHit  = regmap_pkg::MainOutcomePoolPartialHit;
  localparam logic [2:0] OutAllocation  = regmap_pkg::MainOutcomePoolAllocation;
  localparam logic [2:0] OutReplacement = regmap_pkg::MainOutcomePoolReplacement;
  localparam logic [2:0] OutMoved       = regmap_pkg::MainOutcomePoolMoved;

  (* anyconst *) logic [WarpWidth-1:0]     f_warp;
  (* anyconst *) logic [RegisterWidth-1:0] f_register;
  (* anyconst *) logic [LaneWidth-1:0]     f_lane;
  (* anyseq *)   logic                     f_choose;  // the request that is taken is followed

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

  // ---- What the requester keeps ----

  always_comb begin
    // E1. Settings are in range.
    assume (32'(cfg_pool_entries_i) <= PoolEntries && cfg_write_cycles_i != '0);
    assume (cfg_registers_i != '0 && 32'(cfg_registers_i) * Warps <= 1024);
    // E2. Nothing is requested before the clear.
    if (!f_clock[1]) assume (!req_valid_i);
    // E3. Requests name a warp that there is; reads and writes a register that there is, and at least
    // one lane.
    if (req_valid_i) begin
      assume (32'(req_warp_i) < Warps && req_op_i <= regmap_pkg::MainAccessNothing);
      if (req_op_i < OpDemote) assume (req_register_i < cfg_registers_i && req_lanes_i != '0);
    end
  end

  always_ff @(posedge clk_i) begin
    if (f_clock != '0) begin
      // E4. Settings stay, and a request holds still until it is taken.
      assume ($stable(cfg_pool_entries_i) && $stable(cfg_split_i)
              && $stable(cfg_write_cycles_i) && $stable(cfg_registers_i));
      if ($past(req_valid_i && !req_ready_o)) begin
        assume (req_valid_i);
        assume ($stable(req_op_i) && $stable(req_warp_i) && $stable(req_register_i)
                && $stable(req_lanes_i) && $stable(req_data_i) && $stable(req_tag_i));
      end
    end
  end

  // ---- The shadow: what was written last to the tracked lane ----

  logic        g_defined = 1'b0;  // it may be read
  logic [31:0] g_value;
  logic        f_taken;
  logic        f_mine;            // the request is about the tracked lane

  assign f_taken = req_valid_i && req_ready_o;
  assign f_mine  = req_warp_i == f_warp && req_register_i == f_register && req_lanes_i[f_lane];

  always_ff @(posedge clk_i) begin
    if (rst_ni && f_taken) begin
      if (req_op_i == OpWrite && f_mine) begin
        g_defined <= 1'b1;
        g_value   <= req_data_i[32*f_lane +: 32];
      end
      // What the pool held is given up.
      if (req_op_i == OpDrop && req_warp_i == f_warp) g_defined <= 1'b0;
    end
  end

  // ---- The request that is followed, and what is under way ----

  logic [4:0]          f_under_way = '0;
  logic [4:0]          f_refused   = '0;   // clocks in a row in which a request was not taken
  logic                p_chosen    = 1'b0;
  logic                p_done      = 1'b0;
  logic [4:0]          p_before;           // requests whose responses come before its own
  logic [4:0]          p_clocks;           // since it was taken; saturates
  logic [2:0]          p_op;
  logic [TagWidth-1:0] p_tag;
  logic                p_mine;
  logic                p_defined;
  logic [31:0]         p_value;
  logic                p_now;              // its response stands

  assign p_now = p_chosen && !p_done && rsp_valid_o && p_before == '0;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      f_under_way <= f_under_way + 5'(f_taken) - 5'(rsp_valid_o);
      f_refused   <= (req_valid_i && !req_ready_o) ? f_refused + 1'b1 : '0;
      if (f_taken && f_choose && !p_chosen) begin
        p_chosen  <= 1'b1;
        p_before  <= f_under_way - 5'(rsp_valid_o);
        p_clocks  <= '0;
        p_op      <= req_op_i;
        p_tag     <= req_tag_i;
        p_mine    <= f_mine;
        p_defined <= g_defined;
        p_value   <= g_value;
      end else begin
        if (rsp_valid_o && p_before != '0) p_before <= p_before - 1'b1;
        if (p_clocks != '1)                p_clocks <= p_clocks + 1'b1;
      end
      if (p_now) p_done <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. Each request taken has one response, in order: its own operation and tag.
      a01_one: assert (!rsp_valid_o || f_under_way != '0);
      if (p_now) a01_own: assert (rsp_op_o == p_op && rsp_tag_o == p_tag);
      // A2. A read gives what was written last, be it in the pool or in a bank.
      if (p_now && p_op == OpRead && p_mine && p_defined)
        a02_value: assert (rsp_data_o[32*f_lane +: 32] == p_value);
      // A3. Outcomes fit their requests, and without a pool nothing is of the pool.
      if (p_now && p_op == OpRead)
        a03_read: assert (rsp_outcome_o == OutBank || (cfg_pool_entries_i != '0
                          && (rsp_outcome_o == OutHit || rsp_outcome_o == OutPartialHit)));
      if (p_now && p_op == OpWrite)
        a03_write: assert (cfg_pool_entries_i == '0 ? rsp_outcome_o == OutBank
                           : rsp_outcome_o == OutHit || rsp_outcome_o == OutAllocation
                             || rsp_outcome_o == OutReplacement);
      if (p_now && (p_op == OpDemote || p_op == OpDrop))
        a03_warp: assert (rsp_outcome_o == OutMoved || rsp_outcome_o == OutNothing);
      if (p_now && p_op > OpDrop) a03_nothing: assert (rsp_outcome_o == OutNothing);
      // A4. The count of a demotion or drop is of its warp's entries: none where nothing was moved,
      // never more than the pool.
      if (p_now && (p_op == OpDemote || p_op == OpDrop))
        a04_count: assert ((rsp_count_o != '0) == (rsp_outcome_o == OutMoved)
                           && rsp_count_o <= cfg_pool_entries_i);
      // A5. A response comes five clocks after its request and as many more as requests waited,
      // for a bank that is written: shorter than a write. Where writes take a clock none does.
      if (p_now) begin
        a05_soonest: assert (p_clocks >= 5'd4 + 5'(rsp_waited_o));
        a05_waited: assert (rsp_waited_o < cfg_write_cycles_i);
      end
      if (cfg_write_cycles_i == 4'd1 && p_chosen && !p_done)
        a05_latest: assert (p_clocks <= 5'd4);
      // A6. A request is refused only behind three that wait, and no longer than a write takes.
      a06_same: assert (req_ready_o == take);
      if (req_valid_i && f_clock[1] && !req_ready_o)
        a06_behind: assert (f_under_way >= 5'd4 && cfg_write_cycles_i > 4'd1);
      a06_refused: assert (f_refused < 5'(cfg_write_cycles_i));
      // A7. Only reads are beside a write, and only where banks are split.
      if (p_now && rsp_beside_write_o)
        a07_beside: assert (cfg_split_i && cfg_write_cycles_i != 4'd1 && p_op == OpRead
                            && rsp_outcome_o != OutHit);
      // A8. A bank that is written is busy until that write's end: no other one starts before.
      if (f_clock == 2'd3 && $stable(dbg_bank_i) && $past(dbg_write_busy_o) != '0)
        a08_busy: assert (dbg_write_busy_o == $past(dbg_write_busy_o) - 1'b1);
    end
  end

  // ---- What has to be reachable ----

  always_ff @(posedge clk_i) begin
    if (rst_ni && p_now && p_mine && p_defined && p_op == OpRead) begin
      // C1. The value is read from the pool, and from its bank behind the pool, after a wait.
      c01_pool: cover (rsp_outcome_o == OutHit);
      c01_bank: cover (rsp_outcome_o == OutBank && cfg_pool_entries_i != '0
                       && rsp_waited_o != '0);
      // C2. It is read from its bank, whose other subarray is being written.
      c02_beside: cover (rsp_outcome_o == OutBank && rsp_beside_write_o);
    end
    if (rst_ni) begin
      // C3. A request is refused, and taken later.
      c03_refused: cover (f_taken && f_refused != '0);
      // C4. A warp that is demoted, and one that is dropped, has entries.
      c04_demote: cover (p_now && p_op == OpDemote && rsp_outcome_o == OutMoved);
      c04_drop: cover (p_now && p_op == OpDrop && rsp_outcome_o == OutMoved);
    end
  end
