// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of `prototype`, which includes this file at its end where FORMAL is defined: the bus,
// the queues, batches, sleep. The sequencer between the queues is not there: the solver says what
// it does, within what its own properties allow.
//
// The solver chooses one command and one outcome; what is found of them holds for all. E1.. is what
// the others keep, A1.. what is checked in the first clocks, C1.. what has to be reachable.
// docs/hw/prototype.md says how far it was checked.

  (* anyseq *) logic f_choose_command;  // the command that is queued is followed
  (* anyseq *) logic f_choose_outcome;  // the outcome that comes is followed

  // ---- The command and the outcome that are followed ----

  logic                           c_chosen;
  logic                           c_done;
  logic [7:0]                     c_before;  // commands that leave before it
  logic [DataWidth+WordWidth-1:0] c_word;

  logic                    o_chosen;
  logic                    o_next;    // it has been taken, and is shown
  logic                    o_done;
  logic [7:0]              o_before;  // outcomes that are read before it
  logic [OutcomeWidth-1:0] o_word;

  // ---- Time: it begins between batches, with any settings, commands that are queued, and outcomes
  // ---- that wait. Resets come over the bus ----

  logic f_running = 1'b0;

  always_ff @(posedge clk_i) f_running <= 1'b1;

  always_comb assume (rst_ni);

  initial begin
    assume (bus_q == BusIdle && !ready_q);
    assume (reset_q == ResetDone && core_rst_nq && !core_clear_q && !count_clear_q);
    assume (!fetched_valid_q && !command_valid_q);
    assume (!wanted_q && !running_q && !busy_q && drain_q == '0);
    assume (32'(queued_q) <= Batch && PointerWidth'(queued_q) == push_q - fetch_q);
    assume (32'(waiting_q) <= Batch && PointerWidth'(waiting_q) == put_q - pop_q);
    assume (head_q == popped_q && popped_q == outcomes_q[pop_q]);
    // One of the commands is followed, and one of the outcomes.
    assume (!c_done && !o_next && !o_done);
    if (c_chosen) assume (c_before < 8'(queued_q)
                          && c_word == commands_q[fetch_q + PointerWidth'(c_before)]);
    if (o_chosen) assume (o_before < 8'(waiting_q) && o_word
                          == outcomes_q[pop_q + PointerWidth'(o_before)][OutcomeWidth-1:0]);
  end

  // ---- What the others keep ----

  logic [3:0] f_under_way = '0;  // commands that the sequencer has taken, and not answered
  logic       f_take;

  assign f_take = command_valid_q && command_ready;

  always_comb begin
    // E1. An outcome comes for a command that was taken, and no more are under way than fit.
    if (f_under_way == '0) assume (!out_valid);
    if (f_under_way == 4'd11) assume (!command_ready);
    // E2. The sequencer is busy while it is offered a command or has one.
    assume (busy == (command_valid_q || f_under_way != '0));
    // E3. Outcomes are read when no batch runs.
    if (bus_valid_i && (running_q || wanted_q) && !bus_write_i)
      assume (bus_address_i != regmap_pkg::AddressOutcome
              && bus_address_i[11:6] != regmap_pkg::AddressReadData[11:6]);
  end

  always_ff @(posedge clk_i) begin
    // E4. A request stands until it is answered.
    if (f_running && $past(bus_valid_i && !bus_ready_o)) begin
      assume (bus_valid_i && $stable(bus_write_i) && $stable(bus_address_i)
              && $stable(bus_wdata_i));
    end
    if (!f_running) assume (!bus_valid_i);
    f_under_way <= core_rst_nq ? f_under_way + 4'(f_take) - 4'(out_valid) : '0;
  end

  always_comb if (!core_rst_nq) assume (!out_valid && !command_ready);

  // ---- The bus's request: since when it stands ----

  logic [3:0] f_stands = '0;    // clocks before this one
  logic       f_undisturbed;    // no reset in them

  always_ff @(posedge clk_i) begin
    f_stands <= (bus_valid_i && !bus_ready_o) ? f_stands + 1'b1 : '0;
    if (!bus_valid_i || bus_ready_o || f_stands == '0) f_undisturbed <= !resetting && !resets;
    else                                               f_undisturbed <= f_undisturbed && !resetting;
  end

  always_ff @(posedge clk_i) begin
    if (!core_rst_nq) begin
      c_chosen <= 1'b0;
      c_done   <= 1'b0;
    end else begin
      if (push && f_choose_command && !c_chosen) begin
        c_chosen <= 1'b1;
        c_before <= 8'(queued_q) + 8'(fetched_valid_q) + 8'(command_valid_q) - 8'(f_take);
        c_word   <= {value, wdata_q[WordWidth-1:0]};
      end else if (f_take && c_chosen && !c_done) begin
        if (c_before == '0) c_done <= 1'b1;
        else                c_before <= c_before - 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!core_rst_nq) begin
      o_chosen <= 1'b0;
      o_next   <= 1'b0;
      o_done   <= 1'b0;
    end else begin
      if (out_valid && f_choose_outcome && !o_chosen) begin
        o_chosen <= 1'b1;
        o_before <= 8'(waiting_q) - 8'(pop);
        o_word   <= out_outcome;
      end else if (pop && o_chosen && !o_next) begin
        if (o_before == '0) o_next <= 1'b1;
        else                o_before <= o_before - 1'b1;
      end
      if (o_next && bus_ready_o) o_done <= 1'b1;
    end
  end

  // ---- What is checked ----

  always_ff @(posedge clk_i) begin
    if (f_running) begin
      // A1. Requests are answered, and nothing else is: a write in its second clock, a read in its
      // fourth, a write of CONTROL in its third or after the reset that it asks for.
      if (bus_ready_o) a01_asked: assert (bus_valid_i);
      if (bus_ready_o && bus_write_i && bus_address_i != regmap_pkg::AddressControl)
        a01_write: assert (f_stands == 4'd1);
      if (bus_ready_o && !bus_write_i)
        a01_read: assert (f_undisturbed ? f_stands == 4'd3 : f_stands >= 4'd3);
      if (bus_ready_o && bus_write_i && bus_address_i == regmap_pkg::AddressControl)
        a01_control: assert (f_stands >= 4'd2);
      a01_answer: assert (f_stands <= 4'd12);
      // A2. Commands leave their queue in order, each once and as it was written.
      if (c_chosen && !c_done && f_take && c_before == '0) a02_command: assert (command_q == c_word);
      if (c_chosen && !c_done && core_rst_nq)
        a02_kept: assert (c_before < 8'(queued_q) + 8'(fetched_valid_q) + 8'(command_valid_q));
      // A3. Outcomes are read in order, each once and as it came.
      if (o_next && !o_done && bus_ready_o) a03_outcome: assert (bus_rdata_o == 32'(o_word));
      if (o_chosen && !o_next && core_rst_nq)
        a03_kept: assert (o_before < 8'(waiting_q));
      // A4. No queue overflows.
      if (core_rst_nq) begin
        a04_commands: assert (32'(queued_q) <= Batch);
        a04_outcomes: assert (32'(waiting_q) <= Batch && !(out_valid && 32'(waiting_q) == Batch));
      end
      // A5. A batch begins when nothing runs and no outcome waits, 15 clocks after the last at the
      // earliest; nothing is queued in it, and it ends when all of it has been answered.
      if (start && core_rst_nq) a05_begin: assert (!running_q && f_under_way == '0 && waiting_q == '0
                                    && drain_q == '0);
      if (push) a05_push: assert (!running_q && !wanted_q);
      if ($past(running_q) && !running_q && core_rst_nq)
        a05_end: assert (queued_q == '0 && f_under_way == '0 && !command_valid_q);
      // A6. Asleep and not asked, nothing changes, but that the oldest outcome comes to where the bus
      // reads it, which is soon enough in the first clock of the request that wakes it.
      if ($past(f_running) && $past(asleep_o && !bus_valid_i)) begin
        a06_bus: assert ($stable(bus_q) && $stable(ready_q)
                         && (waiting_q == '0 || popped_q == outcomes_q[pop_q]));
        a06_queues: assert ($stable(queued_q) && $stable(push_q) && $stable(fetch_q)
                            && $stable(put_q) && $stable(pop_q) && $stable(waiting_q)
                            && !fetched_valid_q && !command_valid_q);
        a06_batch: assert ($stable(clocks_q) && !running_q && !wanted_q && !busy_q
                           && drain_q == '0);
        a06_settings: assert ($stable(settings_q) && $stable(asked_q) && core_rst_nq
                              && !core_clear_q && !count_clear_q && !resetting);
      end
      // A7. Settings take effect with a reset, and at no other time.
      if ($past(f_running) && !$past(resets)) a07_settings: assert ($stable(settings_q));
      if ($past(f_running) && $past(resets)) a07_reset: assert (settings_q == $past(asked_q));
      // A8. A read of what is constant gives it, and of nothing 0; so does an outcome when none waits.
      if (bus_ready_o && !bus_write_i && bus_address_i == regmap_pkg::AddressId)
        a08_id: assert (bus_rdata_o == regmap_pkg::Id);
      if (bus_ready_o && !bus_write_i && bus_address_i == regmap_pkg::AddressVersion)
        a08_version: assert (bus_rdata_o == regmap_pkg::Version);
      if (bus_ready_o && !bus_write_i && bus_address_i == regmap_pkg::AddressControl)
        a08_nothing: assert (bus_rdata_o == '0);
      if (bus_ready_o && !bus_write_i && bus_address_i == regmap_pkg::AddressOutcome
          && $past(waiting_q, 2) == '0) a08_none: assert (bus_rdata_o == '0);
      // A9. STATUS says from the clock on in which a command was written and not queued that one was
      // lost, until a reset, and at no other time.
      if ($past(f_running) && $past(core_rst_nq) && core_rst_nq) begin
        a09_lost: assert (lost_q == ($past(lost_q) || ($past(pushes) && $stable(push_q))));
      end
      if (!core_rst_nq) a09_reset: assert (!lost_q);
      if (bus_ready_o && !bus_write_i && bus_address_i == regmap_pkg::AddressStatus)
        a09_shown: assert (bus_rdata_o[regmap_pkg::StatusLostBit] == lost_q);
    end
  end

  // ---- What has to be reachable ----

  logic f_lost_in_batch = 1'b0;

  always_ff @(posedge clk_i) if (pushes && running_q && !lost_q) f_lost_in_batch <= 1'b1;

  always_ff @(posedge clk_i) begin
    if (f_running) begin
      // C1. A command is queued, runs, and its outcome is read.
      c01_whole: cover (c_done && o_done);
      // C2. A command finds the queue full, and is lost.
      c02_full: cover (pushes && !running_q && queued_q[QueuedWidth-1]);
      // C3. RUN finds outcomes that wait, and does nothing.
      c03_refused: cover (runs && waiting_q != '0);
      // C4. It sleeps with outcomes of a batch.
      c04_sleeps: cover (asleep_o && waiting_q != '0);
      // C5. A command is lost because a batch runs, and STATUS says so.
      c05_lost: cover (lost_q && f_lost_in_batch && bus_ready_o && !bus_write_i
                       && bus_rdata_o[regmap_pkg::StatusLostBit]);
    end
  end
