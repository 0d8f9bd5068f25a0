// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the requester of `prototype` keeps: assumed in
// ../prototype_properties.svh, and checked in simulation, wherever the block is.

`default_nettype none

// The reset is looked at in every clock here.
// verilator lint_off SYNCASYNCNET
// A bound may be the highest number that there is.
// verilator lint_off CMPCONST

module prototype_interface (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        bus_valid_i,
  input logic        bus_write_i,
  input logic [11:0] bus_address_i,
  input logic [31:0] bus_wdata_i,
  input logic        bus_ready_o,
  input logic        core_rst_nq,
  input logic        command_valid_q,
  input logic        command_ready,
  input logic        out_valid,
  input logic        busy,
  input logic        runs_i           // a batch does, or is to
);

  logic [4:0]  under_way_q;  // commands that the sequencer has taken, and not answered
  logic        waits_q;
  logic [44:0] request, request_q;

  assign request = {bus_write_i, bus_address_i, bus_wdata_i};

  always_ff @(posedge clk_i) begin
    if (rst_ni && core_rst_nq) begin
      if (out_valid) e01_asked: assert (under_way_q != '0);
      e01_room: assert (under_way_q <= 5'd11);
      e02_busy: assert (busy == (command_valid_q || under_way_q != '0));
    end
    if (rst_ni) begin
      if (bus_valid_i && !bus_write_i && runs_i)
        e03_outcomes: assert (bus_address_i != regmap_pkg::AddressOutcome
                              && bus_address_i[11:6] != regmap_pkg::AddressReadData[11:6]);
      if (waits_q) e04_stands: assert (bus_valid_i && request == request_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waits_q <= 1'b0;
    else         waits_q <= bus_valid_i && !bus_ready_o;
  end

  always_ff @(posedge clk_i or negedge core_rst_nq) begin
    if (!core_rst_nq) under_way_q <= '0;
    else under_way_q <= under_way_q + 5'(command_valid_q && command_ready) - 5'(out_valid);
  end

  always_ff @(posedge clk_i) request_q <= request;
endmodule

bind prototype prototype_interface u_interface (.runs_i(running_q || wanted_q), .*);

`default_nettype wire
