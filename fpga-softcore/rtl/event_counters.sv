// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Event counters: one for each row of the register map.
//
// Mirrors core/src/prototype/counters.rs. docs/hw/event_counters.md is the long form of this
// comment.
// Latency: an event is in its counter two clocks later; `count_o` shows, a clock later, what
// `select_i` chose.
// Throughput: every counter can grow in each clock: most by 1, those that measure by an amount.
// Back-pressure: none.
// Does not do: hold still while it is read; a counter that goes past its last value goes on from 0.

`default_nettype none

module event_counters #(
  parameter int unsigned Counters     = 25,  // at least 1
  parameter int unsigned CounterWidth = 48,  // bits of each
  parameter int unsigned AmountWidth  = 6,   // bits of an amount
  // Counters that grow by an amount, the first one or the second; a bit each.
  parameter bit [Counters-1:0] ByFirst  = '0,
  parameter bit [Counters-1:0] BySecond = '0,
  // Derived; do not override.
  localparam int unsigned SelectWidth = (Counters > 1) ? $clog2(Counters) : 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,    // asynchronous, active low
  input  logic                    clear_i,   // all counters are 0, and events are not counted

  input  logic [Counters-1:0]     events_i,  // counters that grow
  input  logic [AmountWidth-1:0]  first_i,   // by how much those grow that measure
  input  logic [AmountWidth-1:0]  second_i,

  input  logic [SelectWidth-1:0]  select_i,
  output logic [CounterWidth-1:0] count_o
);

  if (Counters < 1 || CounterWidth < 1 || AmountWidth < 1 || (ByFirst & BySecond) != '0)
  begin : g_check
    $error("event_counters: a counter and a bit at least; none grows by both amounts");
  end

  logic [Counters-1:0]     events_q;
  logic [AmountWidth-1:0]  first_q;
  logic [AmountWidth-1:0]  second_q;
  logic [CounterWidth-1:0] count_q [Counters];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) events_q <= '0;
    else         events_q <= clear_i ? '0 : events_i;
  end

  // Not reset: read only where an event is set.
  always_ff @(posedge clk_i) begin
    first_q  <= first_i;
    second_q <= second_i;
  end

  for (genvar c = 0; c < Counters; c++) begin : g_counter
    logic [CounterWidth-1:0] growth;

    assign growth = ByFirst[c]  ? CounterWidth'(first_q)
                  : BySecond[c] ? CounterWidth'(second_q) : CounterWidth'(1);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)          count_q[c] <= '0;
      else if (clear_i)     count_q[c] <= '0;
      else if (events_q[c]) count_q[c] <= count_q[c] + growth;
    end
  end

  // Not reset: it shows some counter a clock later.
  always_ff @(posedge clk_i) begin
    count_o <= '0;
    for (int unsigned c = 0; c < Counters; c++) begin
      if (select_i == SelectWidth'(c)) count_o <= count_q[c];
    end
  end

`ifdef FORMAL
`include "event_counters_properties.svh"
`endif

endmodule

`default_nettype wire
