// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Queue of words between two ready/valid streams, in one memory of one write and one read port.
//
// Latency: a word can be read two clocks after it was written. Throughput: one word a clock in, one
// out. Back-pressure: `in_ready_o` falls when `Depth` words wait; it depends on no input.
// Does not do: passing of a word within one clock.

`default_nettype none

module stream_fifo #(
  parameter int unsigned Width = 8,    // bits of a word
  parameter int unsigned Depth = 512,  // words, a power of two, at least 2
  // Derived; do not override.
  localparam int unsigned PointerWidth = $clog2(Depth),
  localparam int unsigned CountWidth   = $clog2(Depth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,  // asynchronous, active low

  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [Width-1:0]      in_data_i,

  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Width-1:0]      out_data_o,

  output logic [CountWidth-1:0] count_o  // words written and not yet read
);

  if (Width < 1 || Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_check
    $error("stream_fifo: Depth is a power of two from 2 on, Width at least 1");
  end

  logic [Width-1:0]        words [Depth];
  logic [PointerWidth-1:0] write_q, read_d, read_q;
  logic [CountWidth-1:0]   count_d, count_q;
  logic                    valid_q;
  logic [Width-1:0]        data_q;
  logic                    push, pop;

  assign in_ready_o  = count_q != CountWidth'(Depth);
  assign push        = in_valid_i && in_ready_o;
  assign pop         = valid_q && out_ready_i;
  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;
  assign count_o     = count_q;

  always_comb begin
    read_d  = read_q;
    count_d = count_q;
    if (pop) read_d = read_q + PointerWidth'(1);
    if (push && !pop) count_d = count_q + CountWidth'(1);
    if (pop && !push) count_d = count_q - CountWidth'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      valid_q <= 1'b0;
    end else begin
      if (push) write_q <= write_q + PointerWidth'(1);
      read_q  <= read_d;
      count_q <= count_d;
      // A word that is written in this clock is not yet in what is read in it.
      valid_q <= count_q != CountWidth'(pop);
    end
  end

  // Not reset: a word means nothing before it is written.
  always_ff @(posedge clk_i) begin
    if (push) words[write_q] <= in_data_i;
    data_q <= words[read_d];
  end

`ifdef FORMAL
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. No more words than there is room for.
      a_bound: assert (count_q <= CountWidth'(Depth));
      // A2. What can be read was written.
      a_valid: assert (!valid_q || count_q != '0);
      // A3. The pointers are as far apart as the count says.
      a_apart: assert (PointerWidth'(write_q - read_q) == PointerWidth'(count_q));
    end
  end
`endif
endmodule

`default_nettype wire
