// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Main register file of several warps: 16 banks of two subarrays, and the write pool before them.
//
// Mirrors core/src/prototype/main_register_file.rs; docs/hw/main_register_file.md is the long form
// of this comment.
// Latency: the response stands five clocks after its request was taken, later by the clocks that
// requests had to wait for a bank. All responses come in the order of the requests.
// Throughput: one request a clock where no bank conflicts.
// Back-pressure: three requests queue before the one that waits, then `req_ready_o` falls; it follows
// from registers and depends on no input. Responses cannot be held up.
// Does not do: counting of events; clearing of values.

`default_nettype none

module main_register_file #(
  parameter int unsigned Warps         = 8,   // warps that have registers, at least 1
  parameter int unsigned PoolEntries   = 60,  // entries of the write pool, 1 to 63
  parameter int unsigned Lanes         = 4,   // lanes of a register, 1 to 32; 32 bits each
  parameter int unsigned RegisterWidth = 8,   // bits of a register number
  parameter int unsigned TagWidth      = 1,   // bits that come back with the response
  // Derived; do not override.
  localparam int unsigned WarpWidth    = (Warps > 1) ? $clog2(Warps) : 1,
  localparam int unsigned SlotWidth    = (PoolEntries > 1) ? $clog2(PoolEntries) : 1,
  localparam int unsigned DataWidth    = 32 * Lanes
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,   // asynchronous, active low
  input  logic                     clear_i,  // idle banks, empty pool, nothing under way

  // Configuration. Changes only before `clear_i`, whose last clock sees the new one.
  input  logic [5:0]               cfg_pool_entries_i,  // 0 without a pool, to PoolEntries
  input  logic                     cfg_split_i,         // split bank write
  input  logic [3:0]               cfg_write_cycles_i,  // of a bank, 1 to 15
  input  logic [7:0]               cfg_registers_i,     // of each warp; 1,024 together at most

  // Requests. A request holds still until it is taken.
  input  logic                     req_valid_i,
  output logic                     req_ready_o,
  input  logic [2:0]               req_op_i,       // 0 read, 1 write, 2 demote, 3 drop, 4 nothing
  input  logic [WarpWidth-1:0]     req_warp_i,
  input  logic [RegisterWidth-1:0] req_register_i, // READ, WRITE: below `cfg_registers_i`
  input  logic [Lanes-1:0]         req_lanes_i,    // READ, WRITE: not empty
  input  logic [DataWidth-1:0]     req_data_i,     // WRITE
  input  logic [TagWidth-1:0]      req_tag_i,      // anything

  // Responses: one a request, in order, in one clock.
  output logic                     rsp_valid_o,
  output logic [2:0]               rsp_op_o,           // the request's
  output logic [2:0]               rsp_outcome_o,      // 0 nothing, 1 bank, 2 pool hit, 3 partial
                                                       // hit, 4 allocation, 5 replacement, 6 moved
  output logic [5:0]               rsp_count_o,        // DEMOTE, DROP: entries of the warp
  output logic                     rsp_beside_write_o, // READ: of a bank that is being written
  output logic [3:0]               rsp_waited_o,       // clocks that it waited for a bank
  output logic [DataWidth-1:0]     rsp_data_o,         // READ: the requested lanes
  output logic [TagWidth-1:0]      rsp_tag_o,          // the request's

  // Debug: an entry of the write pool, 0 without the enable, and a bank.
  input  logic                     dbg_enable_i,
  input  logic [SlotWidth-1:0]     dbg_entry_i,
  output logic                     dbg_occupied_o,
  output logic [WarpWidth-1:0]     dbg_warp_o,
  output logic [9:0]               dbg_number_o,       // warp * cfg_registers_i + register
  output logic [Lanes-1:0]         dbg_lanes_o,
  output logic [PoolEntries-1:0]   dbg_newer_o,        // entries that were used before this one
  input  logic [3:0]               dbg_bank_i,
  output logic [3:0]               dbg_write_busy_o,   // clocks that its write still takes
  output logic                     dbg_written_o       // the subarray of its last write
);

  if (Warps < 1 || Warps > 1024 || Lanes < 1 || Lanes > 32 || RegisterWidth < 1
      || RegisterWidth > 8 || TagWidth < 1) begin : g_check
    $error("main_register_file: Warps is 1 to 1024, Lanes 1 to 32, RegisterWidth 1 to 8");
  end

  localparam int unsigned Banks       = 16;
  localparam int unsigned Rows        = 64;
  localparam int unsigned BankWidth   = $clog2(Banks);
  localparam int unsigned RowWidth    = $clog2(Rows);
  localparam int unsigned NumberWidth = BankWidth + RowWidth;
  localparam int unsigned Groups      = 4;  // of banks that share a memory
  localparam int unsigned GroupWidth  = $clog2(Groups);
  localparam int unsigned InGroup     = BankWidth - GroupWidth;

  // ---- Configuration ----

  logic       split_q;
  logic [3:0] write_cycles_q;
  // The number of each warp's first register.
  (* mem2reg *) logic [NumberWidth-1:0] first_q [Warps];

  // A sum, because Yosys takes a multiplier for a product with a constant.
  function automatic logic [NumberWidth-1:0] times(int unsigned warp, logic [7:0] registers);
    times = '0;
    for (int unsigned k = 0; k < WarpWidth; k++) begin
      if (warp[k]) times = times + (NumberWidth'(registers) << k);
    end
  endfunction

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      split_q        <= cfg_split_i;
      write_cycles_q <= cfg_write_cycles_i;
      for (int unsigned w = 0; w < Warps; w++) begin
        first_q[w] <= times(w, cfg_registers_i);
      end
    end
  end

  // ---- The request that is looked up ----

  logic                   take;
  logic                   pool_ready;
  logic                   behind_valid_d;

  logic                   head_valid_q;
  logic [2:0]             head_op_q;
  logic [WarpWidth-1:0]   head_warp_q;
  logic [NumberWidth-1:0] head_number_q;
  logic [Lanes-1:0]       head_lanes_q;
  logic [DataWidth-1:0]   head_data_q;
  logic [TagWidth-1:0]    head_tag_q;

  assign take = pool_ready || !head_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)   head_valid_q <= 1'b0;
    else if (take) head_valid_q <= req_valid_i;
  end

  // The requester is told the same from registers of its own: `take` has some 500 flip-flops to
  // reach, and what it says would come late to all that depends on it before here.
  logic head_empty_q;     // nothing is looked up
  logic decided_empty_q;  // nothing is decided
  logic behind_empty_q;   // what is decided has room behind

  assign req_ready_o = head_empty_q || decided_empty_q || behind_empty_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_empty_q    <= 1'b1;
      decided_empty_q <= 1'b1;
      behind_empty_q  <= 1'b1;
    end else begin
      if (take)       head_empty_q    <= !req_valid_i;
      if (pool_ready) decided_empty_q <= !head_valid_q;
      behind_empty_q <= !behind_valid_d;
    end
  end

  // Not reset: read only where its valid bit is set.
  always_ff @(posedge clk_i) begin
    if (take) begin
      head_op_q     <= req_op_i;
      head_warp_q   <= req_warp_i;
      head_number_q <= first_q[req_warp_i] + NumberWidth'(req_register_i);
      head_lanes_q  <= req_lanes_i;
      head_data_q   <= req_data_i;
      head_tag_q    <= req_tag_i;
    end
  end

  // ---- Decision: the pool says what is needed. It never waits for a bank, but for room behind it,
  // ---- so that no path leads from the banks' counters to all of the pool ----

  logic                   dec_valid;
  logic                   dec_go;
  logic [2:0]             dec_op;
  logic [2:0]             dec_outcome;
  logic                   dec_read_bank;
  logic [NumberWidth-1:0] dec_read_number;
  logic                   dec_write_bank;
  logic [NumberWidth-1:0] dec_write_number;
  logic [TagWidth-1:0]    dec_tag_q;

  logic [Lanes-1:0]       out_lanes;
  logic [DataWidth-1:0]   out_data;
  logic [5:0]             out_count;

  write_pool #(
    .Entries    (PoolEntries),
    .Warps      (Warps),
    .NumberWidth(NumberWidth),
    .Lanes      (Lanes)
  ) u_pool (
    .clk_i             (clk_i),
    .rst_ni            (rst_ni),
    .clear_i           (clear_i),
    .cfg_entries_i     (cfg_pool_entries_i),
    .req_valid_i       (head_valid_q),
    .req_ready_o       (pool_ready),
    .req_op_i          (head_op_q),
    .req_warp_i        (head_warp_q),
    .req_number_i      (head_number_q),
    .req_lanes_i       (head_lanes_q),
    .req_data_i        (head_data_q),
    .dec_valid_o       (dec_valid),
    .dec_go_i          (dec_go),
    .dec_op_o          (dec_op),
    .dec_outcome_o     (dec_outcome),
    .dec_read_bank_o   (dec_read_bank),
    .dec_read_number_o (dec_read_number),
    .dec_write_bank_o  (dec_write_bank),
    .dec_write_number_o(dec_write_number),
    .out_lanes_o       (out_lanes),
    .out_data_o        (out_data),
    .out_count_o       (out_count),
    .dbg_enable_i      (dbg_enable_i),
    .dbg_entry_i       (dbg_entry_i),
    .dbg_occupied_o    (dbg_occupied_o),
    .dbg_warp_o        (dbg_warp_o),
    .dbg_number_o      (dbg_number_o),
    .dbg_lanes_o       (dbg_lanes_o),
    .dbg_newer_o       (dbg_newer_o)
  );

  always_ff @(posedge clk_i) begin
    if (pool_ready) dec_tag_q <= head_tag_q;
  end

  // ---- Issue: what was decided goes to its bank as soon as that can be, in order ----

  // The decision that goes next, and the one behind it, beside which nothing is decided.
  typedef struct packed {
    logic [2:0]             op;
    logic [2:0]             outcome;
    logic                   read_bank;
    logic [NumberWidth-1:0] read_number;
    logic                   write_bank;
    logic [NumberWidth-1:0] write_number;
    logic [TagWidth-1:0]    tag;
  } decision_t;

  decision_t            decided;
  decision_t            issue_q;
  decision_t            behind_q;
  logic                 issue_valid_q;
  logic                 behind_valid_q;
  logic                 decides;
  logic                 go;         // it goes
  logic                 free;       // nothing stands, or it goes
  logic                 rd_can;
  logic                 wr_can;
  logic                 rd_beside;
  logic [3:0]           waited_q;
  // The pool shows what its newest decision gives until the next can be. That is so still in the
  // first clock in which a decision is the next to go; from then on it is kept here. What has a
  // count needs no bank, and goes in that clock.
  logic                 fresh_q;    // this is that clock
  logic [Lanes-1:0]     kept_lanes_q;
  logic [DataWidth-1:0] kept_data_q;
  logic [Lanes-1:0]     issue_lanes;
  logic [DataWidth-1:0] issue_data;

  assign dec_go  = !behind_valid_q;
  assign decides = dec_valid && dec_go;
  assign go      = issue_valid_q && !(issue_q.read_bank && !rd_can)
                   && !(issue_q.write_bank && !wr_can);
  assign free    = !issue_valid_q || go;

  assign behind_valid_d = !free && (behind_valid_q || decides);

  assign issue_lanes = fresh_q ? out_lanes : kept_lanes_q;
  assign issue_data  = fresh_q ? out_data  : kept_data_q;

  always_comb begin
    decided.op           = dec_op;
    decided.outcome      = dec_outcome;
    decided.read_bank    = dec_read_bank;
    decided.read_number  = dec_read_number;
    decided.write_bank   = dec_write_bank;
    decided.write_number = dec_write_number;
    decided.tag          = dec_tag_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issue_valid_q  <= 1'b0;
      behind_valid_q <= 1'b0;
    end else begin
      if (free) issue_valid_q <= behind_valid_q || decides;
      behind_valid_q <= behind_valid_d;
    end
  end

  // Not reset: read only where a bit above is set.
  always_ff @(posedge clk_i) begin
    if (dec_go) behind_q <= decided;
    if (free) issue_q <= behind_valid_q ? behind_q : decided;
    fresh_q  <= free;
    waited_q <= free ? '0 : waited_q + 1'b1;
    if (fresh_q) begin
      kept_lanes_q <= out_lanes;
      kept_data_q  <= out_data;
    end
  end

  logic [3:0] unused_read_busy;  // reads take one clock, and there is one request a clock
  logic       unused_read;

  // Rows take turns between the subarrays, and registers between the banks.
  split_bank_write #(
    .Banks(Banks)
  ) u_split_bank_write (
    .clk_i             (clk_i),
    .rst_ni            (rst_ni),
    .clear_i           (clear_i),
    .cfg_split_i       (split_q),
    .cfg_read_cycles_i (4'd1),
    .cfg_write_cycles_i(write_cycles_q),
    .rd_bank_i         (issue_q.read_number[BankWidth-1:0]),
    .rd_subarray_i     (issue_q.read_number[BankWidth]),
    .rd_can_o          (rd_can),
    .rd_beside_o       (rd_beside),
    .rd_start_i        (go && issue_q.read_bank),
    .wr_bank_i         (issue_q.write_number[BankWidth-1:0]),
    .wr_subarray_i     (issue_q.write_number[BankWidth]),
    .wr_can_o          (wr_can),
    .wr_start_i        (go && issue_q.write_bank),
    .dbg_bank_i        (dbg_bank_i),
    .dbg_read_busy_o   (unused_read_busy),
    .dbg_read_o        (unused_read),
    .dbg_write_busy_o  (dbg_write_busy_o),
    .dbg_written_o     (dbg_written_o)
  );

  // ---- Merging: a clock after issue ----

  logic                   merge_valid_q;
  logic [2:0]             merge_op_q;
  logic [2:0]             merge_outcome_q;
  logic                   merge_beside_q;
  logic [3:0]             merge_waited_q;
  logic [TagWidth-1:0]    merge_tag_q;
  logic [5:0]             merge_count_q;
  logic [GroupWidth-1:0]  merge_group_q;
  logic [Lanes-1:0]       merge_lanes_q;  // that come from the pool
  logic [DataWidth-1:0]   merge_data_q;   // the pool's

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) merge_valid_q <= 1'b0;
    else         merge_valid_q <= go;
  end

  // Not reset: read only where the bit above is set.
  always_ff @(posedge clk_i) begin
    merge_op_q      <= issue_q.op;
    merge_outcome_q <= issue_q.outcome;
    merge_beside_q  <= issue_q.read_bank && rd_beside;
    merge_waited_q  <= waited_q;
    merge_tag_q     <= issue_q.tag;
    merge_count_q   <= out_count;
    merge_group_q   <= issue_q.read_number[InGroup +: GroupWidth];
    merge_lanes_q   <= issue_lanes;
    merge_data_q    <= issue_data;
  end

  // One request a clock is issued, so that banks next to each other share a memory, which is
  // filled better and chosen from sooner. When each is busy is not the memory's to know.
  (* mem2reg *) logic [DataWidth-1:0] group_data [Groups];

  for (genvar g = 0; g < Groups; g++) begin : g_group
    logic                 read;
    logic                 write;
    logic [DataWidth-1:0] data;

    // A waiting access may read and write already: it repeats both when it proceeds, and no other
    // access does anything in between. So no path leads from the banks' counters to the memories.
    assign read  = issue_q.read_number[InGroup +: GroupWidth] == GroupWidth'(g);
    assign write = issue_valid_q && issue_q.write_bank
                   && issue_q.write_number[InGroup +: GroupWidth] == GroupWidth'(g);

    main_register_file_bank #(
      .Rows (Rows * Banks / Groups),
      .Lanes(Lanes)
    ) u_banks (
      .clk_i     (clk_i),
      .rd_valid_i(read),
      .rd_row_i  ({issue_q.read_number[NumberWidth-1:BankWidth], issue_q.read_number[InGroup-1:0]}),
      .rd_data_o (data),
      .wr_valid_i(write),
      .wr_row_i  ({issue_q.write_number[NumberWidth-1:BankWidth],
                   issue_q.write_number[InGroup-1:0]}),
      .wr_lanes_i(issue_lanes),
      .wr_data_i (issue_data)
    );

    assign group_data[g] = data;
  end

  // ---- Response. What a memory gives comes late in the clock, so that it is chosen in the next ----

  (* mem2reg *) logic [DataWidth-1:0] group_q [Groups];
  logic [GroupWidth-1:0] rsp_group_q;
  logic [Lanes-1:0]      rsp_lanes_q;  // that come from the pool
  logic [DataWidth-1:0]  rsp_data_q;   // the pool's

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rsp_valid_o <= 1'b0;
    else         rsp_valid_o <= merge_valid_q;
  end

  // Not reset: read only where `rsp_valid_o` is set.
  always_ff @(posedge clk_i) begin
    rsp_op_o           <= merge_op_q;
    rsp_outcome_o      <= merge_outcome_q;
    rsp_count_o        <= merge_count_q;
    rsp_beside_write_o <= merge_beside_q;
    rsp_waited_o       <= merge_waited_q;
    rsp_tag_o          <= merge_tag_q;
    rsp_lanes_q        <= merge_lanes_q;
    rsp_data_q         <= merge_data_q;
    rsp_group_q        <= merge_group_q;
    for (int unsigned g = 0; g < Groups; g++) group_q[g] <= group_data[g];
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    assign rsp_data_o[32*l +: 32] = rsp_lanes_q[l] ? rsp_data_q[32*l +: 32]
                                                   : group_q[rsp_group_q][32*l +: 32];
  end

`ifdef FORMAL
`include "main_register_file_properties.svh"
`endif

endmodule

`default_nettype wire
