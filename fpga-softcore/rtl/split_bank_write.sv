// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Split bank write: which reads and writes of the main register file's banks conflict.
//
// Mirrors core/src/split_bank_write.rs; docs/hw/split_bank_write.md is the long form of this
// comment.
// Latency: `rd_can_o` and `wr_can_o` follow from the ports of the same clock; a start is seen by
// the next one. A bank stays busy for its cycles, the first being that of the start.
// Throughput: one start a clock, a read's or a write's; both together only in different banks.
// Does not do: choosing between requests; values.

`default_nettype none

module split_bank_write #(
  parameter int unsigned Banks      = 16,  // at least 2, a power of two
  // Derived; do not override.
  localparam int unsigned BankWidth = $clog2(Banks)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,   // asynchronous, active low
  input  logic                 clear_i,  // all banks are idle from the next clock on

  // Configuration. Changes only while all banks are idle.
  input  logic                 cfg_split_i,         // a read beside a write in another subarray
  input  logic [3:0]           cfg_read_cycles_i,   // 1 to 15
  input  logic [3:0]           cfg_write_cycles_i,  // 1 to 15

  // A read.
  input  logic [BankWidth-1:0] rd_bank_i,
  input  logic                 rd_subarray_i,
  output logic                 rd_can_o,
  output logic                 rd_beside_o,  // the bank is being written
  input  logic                 rd_start_i,   // only where `rd_can_o`

  // A write.
  input  logic [BankWidth-1:0] wr_bank_i,
  input  logic                 wr_subarray_i,
  output logic                 wr_can_o,
  input  logic                 wr_start_i,   // only where `wr_can_o`

  // Debug: a bank.
  input  logic [BankWidth-1:0] dbg_bank_i,
  output logic [3:0]           dbg_read_busy_o,   // clocks that its read still takes
  output logic                 dbg_read_o,        // the subarray of its last read
  output logic [3:0]           dbg_write_busy_o,
  output logic                 dbg_written_o
);

  if (Banks < 2 || (Banks & (Banks - 1)) != 0) begin : g_check
    $error("split_bank_write: Banks is a power of two from 2 on");
  end

  // The counters of all banks, a bit of all of them in a word: word k has the bits of weight 2^k.
  (* mem2reg *) logic [Banks-1:0] read_busy_q  [4];
  (* mem2reg *) logic [Banks-1:0] write_busy_q [4];
  // The subarray ids of all banks. Not reset: they mean something only while a counter runs.
  logic [Banks-1:0] read_q;
  logic [Banks-1:0] written_q;

  // Whether they are not 0: known in advance, because everything that is issued waits for it.
  logic [Banks-1:0] reading_q, reading_d;
  logic [Banks-1:0] writing_q, writing_d;
  logic [3:0]       read_left;   // of a read that starts, in the next clock
  logic [3:0]       write_left;
  logic [Banks-1:0] rd_sel;      // the bank that starts, none or one
  logic [Banks-1:0] wr_sel;

  assign read_left  = cfg_read_cycles_i - 1'b1;
  assign write_left = cfg_write_cycles_i - 1'b1;
  assign rd_sel     = Banks'(rd_start_i) << rd_bank_i;
  assign wr_sel     = Banks'(wr_start_i) << wr_bank_i;

  assign rd_beside_o = writing_q[rd_bank_i];
  assign rd_can_o    = !reading_q[rd_bank_i]
    && (!writing_q[rd_bank_i] || (cfg_split_i && written_q[rd_bank_i] != rd_subarray_i));
  assign wr_can_o    = !writing_q[wr_bank_i]
    && (!reading_q[wr_bank_i] || (cfg_split_i && read_q[wr_bank_i] != wr_subarray_i));

  // Counts down where it is not 0.
  logic [Banks-1:0] read_borrow;
  logic [Banks-1:0] write_borrow;
  (* mem2reg *) logic [Banks-1:0] read_busy_d  [4];
  (* mem2reg *) logic [Banks-1:0] write_busy_d [4];

  always_comb begin
    read_borrow  = reading_q;
    write_borrow = writing_q;
    for (int unsigned k = 0; k < 4; k++) begin
      read_busy_d[k]  = ((read_busy_q[k] ^ read_borrow) & ~rd_sel)
        | (read_left[k] ? rd_sel : '0);
      write_busy_d[k] = ((write_busy_q[k] ^ write_borrow) & ~wr_sel)
        | (write_left[k] ? wr_sel : '0);
      read_borrow     = read_borrow & ~read_busy_q[k];
      write_borrow    = write_borrow & ~write_busy_q[k];
    end
  end

  // One that counts 1 or 0 is idle next, unless it starts.
  assign reading_d = (read_left != '0 ? rd_sel : '0)
    | ((read_busy_q[1] | read_busy_q[2] | read_busy_q[3]) & ~rd_sel);
  assign writing_d = (write_left != '0 ? wr_sel : '0)
    | ((write_busy_q[1] | write_busy_q[2] | write_busy_q[3]) & ~wr_sel);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reading_q <= '0;
      writing_q <= '0;
      for (int unsigned k = 0; k < 4; k++) begin
        read_busy_q[k]  <= '0;
        write_busy_q[k] <= '0;
      end
    end else begin
      reading_q <= clear_i ? '0 : reading_d;
      writing_q <= clear_i ? '0 : writing_d;
      for (int unsigned k = 0; k < 4; k++) begin
        read_busy_q[k]  <= clear_i ? '0 : read_busy_d[k];
        write_busy_q[k] <= clear_i ? '0 : write_busy_d[k];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    read_q    <= rd_subarray_i ? read_q | rd_sel : read_q & ~rd_sel;
    written_q <= wr_subarray_i ? written_q | wr_sel : written_q & ~wr_sel;
  end

  // ---- Debug ----

  assign dbg_read_o    = read_q[dbg_bank_i];
  assign dbg_written_o = written_q[dbg_bank_i];
  always_comb begin
    for (int unsigned k = 0; k < 4; k++) begin
      dbg_read_busy_o[k]  = read_busy_q[k][dbg_bank_i];
      dbg_write_busy_o[k] = write_busy_q[k][dbg_bank_i];
    end
  end

`ifdef FORMAL
`include "split_bank_write_properties.svh"
`endif

endmodule

`default_nettype wire
