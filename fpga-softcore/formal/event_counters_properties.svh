// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `event_counters`, which includes this file at its end where FORMAL is defined.
//
// The solver chooses a counter; what is proved of it holds for all. A1.. is what is proved, C1..
// what has to be reachable. Beside the hardware stands a shadow: what the counter has to be.
// docs/hw/event_counters.md says what was proved at which size.

  (* anyconst *) logic [SelectWidth-1:0] f_counter;

  always_comb assume (32'(f_counter) < Counters);

  // ---- Time: one clock of reset ----

  logic f_running = 1'b0;

  always_ff @(posedge clk_i) f_running <= 1'b1;

  always_comb assume (rst_ni == f_running);

  // ---- The shadow: a sum, and what came in the clock before and is not in it yet ----

  logic [CounterWidth-1:0] f_amount;
  logic [CounterWidth-1:0] f_due   = '0;
  logic [CounterWidth-1:0] f_total = '0;

  always_comb begin
    f_amount = '0;
    if (events_i[f_counter]) begin
      if (ByFirst[f_counter])       f_amount = CounterWidth'(first_i);
      else if (BySecond[f_counter]) f_amount = CounterWidth'(second_i);
      else                          f_amount = CounterWidth'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      f_due   <= clear_i ? '0 : f_amount;
      f_total <= clear_i ? '0 : f_total + f_due;
    end
  end

  logic [CounterWidth-1:0] f_count;   // what the hardware has
  logic [CounterWidth-1:0] f_growth;  // what it would add

  always_comb begin
    f_growth = CounterWidth'(1);
    if (BySecond[f_counter]) f_growth = CounterWidth'(second_q);
    if (ByFirst[f_counter])  f_growth = CounterWidth'(first_q);
    f_count = '0;
    for (int unsigned c = 0; c < Counters; c++) begin
      if (f_counter == SelectWidth'(c)) f_count = count_q[c];
    end
  end

  // ---- What is proved ----

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // A1. A counter is the sum of its events, each of them two clocks later, and of no others.
      a01_sum: assert (f_count == f_total);
      a01_due: assert ((events_q[f_counter] ? f_growth : '0) == f_due);
      // A2. After a reset or a clear it is 0, and counts nothing that came before.
      if (!$past(f_running) || $past(clear_i)) a02_zero: assert (f_count == '0);
      if ($past(f_running) && $past(clear_i)) a02_due: assert (!events_q[f_counter]);
    end
    if (f_running && $past(f_running)) begin
      // A3. The counter that is chosen is shown a clock later, as it was when it was chosen.
      if ($past(select_i) == f_counter) a03_shown: assert (count_o == $past(f_total));
      // A4. Nothing is shown of a counter that there is not.
      if (32'($past(select_i)) >= Counters) a04_none: assert (count_o == '0);
    end
  end

  // ---- What has to be reachable ----

  always_ff @(posedge clk_i) begin
    if (rst_ni && $past(f_running)) begin
      // C1. A counter goes past its last value.
      c01_over: cover (f_total < $past(f_total) && !$past(clear_i));
      // C2. One grows by an amount of each kind, and one by 1, in clocks that follow each other.
      c02_first: cover (ByFirst[f_counter] && f_due > 1 && $past(f_due) > 1 && !clear_i);
      c02_second: cover (BySecond[f_counter] && f_due > 1 && $past(f_due) > 1 && !clear_i);
      c02_one: cover (!ByFirst[f_counter] && !BySecond[f_counter] && f_due == 1
                      && $past(f_due) == 1 && f_total == 2);
    end
  end
