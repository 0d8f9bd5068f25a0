// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `split_bank_write`, which includes this file at its end where FORMAL is defined.
//
// The solver chooses a bank; what is proved of it holds for all. E1.. is what the requester keeps,
// A1.. what is proved, C1.. what has to be reachable. Beside the hardware stands a shadow: what
// started in the bank, and how long it still takes.
// docs/hw/split_bank_write.md says what was proved at which size.

  (* anyconst *) logic [BankWidth-1:0] f_bank;

  // The debug port shows the tracked bank, so that it is proved with the rest.
  always_comb assume (dbg_bank_i == f_bank);

  // ---- Time: one clock of reset ----

  logic f_running = 1'b0;

  always_ff @(posedge clk_i) f_running <= 1'b1;

  always_comb assume (rst_ni == f_running);

  // ---- The shadow ----

  logic [3:0] f_read_left  = '0;  // clocks that the bank's read still takes
  logic [3:0] f_write_left = '0;
  logic       f_read_sub;         // its subarray
  logic       f_write_sub;
  logic       f_any        = 1'b0;  // a bank may be busy

  logic f_reads;   // a read of the bank starts
  logic f_writes;

  assign f_reads  = rd_start_i && rd_bank_i == f_bank;
  assign f_writes = wr_start_i && wr_bank_i == f_bank;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (clear_i)                  f_read_left <= '0;
      else if (f_reads)             f_read_left <= cfg_read_cycles_i - 1'b1;
      else if (f_read_left != '0)   f_read_left <= f_read_left - 1'b1;
      if (clear_i)                  f_write_left <= '0;
      else if (f_writes)            f_write_left <= cfg_write_cycles_i - 1'b1;
      else if (f_write_left != '0)  f_write_left <= f_write_left - 1'b1;
      if (f_reads)  f_read_sub  <= rd_subarray_i;
      if (f_writes) f_write_sub <= wr_subarray_i;
    end
  end

  // ---- What the requester keeps ----

  logic f_idle;

  always_comb begin
    f_idle = 1'b1;
    for (int unsigned k = 0; k < 4; k++) begin
      if (read_busy_q[k] != '0 || write_busy_q[k] != '0) f_idle = 1'b0;
    end
  end

  always_comb begin
    // E1. Reads and writes take at least a clock.
    assume (cfg_read_cycles_i != '0 && cfg_write_cycles_i != '0);
    // E2. Accesses start only where they can.
    if (rd_start_i) assume (rd_can_o);
    if (wr_start_i) assume (wr_can_o);
    // E3. A read and a write that start together are of different banks.
    if (rd_start_i && wr_start_i) assume (rd_bank_i != wr_bank_i);
  end

  always_ff @(posedge clk_i) begin
    // E4. Whether banks are split changes only while all are idle and nothing starts.
    if (f_running && !$past(f_idle && !rd_start_i && !wr_start_i)) assume ($stable(cfg_split_i));
  end

  // ---- What is proved ----

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. A bank is busy for the clocks of the read that started last, and no longer.
      a01_read: assert (dbg_read_busy_o == f_read_left);
      if (f_read_left != '0) a01_subarray: assert (dbg_read_o == f_read_sub);
      a01_known: assert (reading_q == (read_busy_q[0] | read_busy_q[1] | read_busy_q[2]
                                       | read_busy_q[3]));
      // A2. So it is with a write.
      a02_known: assert (writing_q == (write_busy_q[0] | write_busy_q[1] | write_busy_q[2]
                                       | write_busy_q[3]));
      a02_write: assert (dbg_write_busy_o == f_write_left);
      if (f_write_left != '0) a02_subarray: assert (dbg_written_o == f_write_sub);
      // A3. A read and a write overlap only in different subarrays, where banks are split.
      if (f_read_left != '0 && f_write_left != '0)
        a03_overlap: assert (cfg_split_i && f_read_sub != f_write_sub);
      // A4. Nor do they as one of them starts.
      if (f_reads && f_write_left != '0)
        a04_read: assert (cfg_split_i && rd_subarray_i != f_write_sub);
      if (f_writes && f_read_left != '0)
        a04_write: assert (cfg_split_i && wr_subarray_i != f_read_sub);
      // A5. There is one read at a time in a bank, and one write.
      if (f_reads)  a05_read: assert (f_read_left == '0);
      if (f_writes) a05_write: assert (f_write_left == '0);
      // A6. Nothing that may start is refused: no access waits longer than 14 clocks.
      if (rd_bank_i == f_bank)
        a06_read: assert (rd_can_o == (f_read_left == '0 && (f_write_left == '0
                          || (cfg_split_i && rd_subarray_i != f_write_sub))));
      if (wr_bank_i == f_bank)
        a06_write: assert (wr_can_o == (f_write_left == '0 && (f_read_left == '0
                           || (cfg_split_i && wr_subarray_i != f_read_sub))));
      // A7. A read is said to be beside a write if and only if the bank is being written.
      if (rd_bank_i == f_bank) a07_beside: assert (rd_beside_o == (f_write_left != '0));
    end
    // A8. After a reset or a clear all banks are idle.
    if (f_running && (!$past(f_running) || $past(clear_i))) a08_idle: assert (f_idle);
  end

  // ---- What has to be reachable ----

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // C1. A read beside a write, and a write beside a read.
      c01_read: cover (f_reads && rd_beside_o && !clear_i);
      c01_write: cover (f_writes && f_read_left != '0);
      // C2. A read has to wait for a write: of its subarray, or without split.
      c02_subarray: cover (rd_bank_i == f_bank && !rd_can_o && cfg_split_i && f_read_left == '0);
      c02_unsplit: cover (rd_bank_i == f_bank && !rd_can_o && !cfg_split_i
                          && rd_subarray_i != f_write_sub && f_read_left == '0);
      // C3. A write of 15 clocks runs to its end, while reads pass.
      c03_longest: cover (f_write_left == 4'd1 && cfg_write_cycles_i == 4'd15 && f_reads);
      // C4. A read and a write start together.
      c04_together: cover (rd_start_i && wr_start_i);
      // C5. Accesses of one clock follow each other without a gap.
      c05_gapless: cover (f_writes && $past(f_writes) && $past(f_running));
    end
  end
