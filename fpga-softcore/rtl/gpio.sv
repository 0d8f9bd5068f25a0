// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Output pins of the SoC: lamps, and a trigger for a logic analyser.
//
// Registers (docs/hw/soc.md): 0x0 OUTPUT, 0x4 SET, 0x8 CLEAR; the last two take a mask.
// Latency: the pins change one clock after the write. Back-pressure: none.

`default_nettype none

module gpio #(
  parameter int unsigned Pins = 8  // 1 to 32
) (
  input  logic            clk_i,
  input  logic            rst_ni,  // asynchronous, active low

  // Bus slave.
  input  logic            bus_valid_i,
  input  logic            bus_write_i,
  input  logic [11:0]     bus_address_i,  // bytes
  input  logic [31:0]     bus_wdata_i,
  output logic            bus_ready_o,
  output logic [31:0]     bus_rdata_o,

  output logic [Pins-1:0] pins_o
);

  if (Pins < 1 || Pins > 32) begin : g_check
    $error("gpio: Pins is 1 to 32");
  end

  logic [Pins-1:0] pins_d, pins_q;

  assign bus_ready_o = 1'b1;
  assign bus_rdata_o = 32'(pins_q);
  assign pins_o      = pins_q;

  always_comb begin
    pins_d = pins_q;
    if (bus_valid_i && bus_write_i) begin
      unique case (bus_address_i[3:2])
        2'd0:    pins_d = bus_wdata_i[Pins-1:0];
        2'd1:    pins_d = pins_q | bus_wdata_i[Pins-1:0];
        2'd2:    pins_d = pins_q & ~bus_wdata_i[Pins-1:0];
        default: pins_d = pins_q;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pins_q <= '0;
    else pins_q <= pins_d;
  end

  logic unused_bus;
  assign unused_bus = ^{bus_address_i, bus_wdata_i};
endmodule

`default_nettype wire
