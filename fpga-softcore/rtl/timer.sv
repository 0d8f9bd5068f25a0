// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Clock counter of the SoC: 64 bits, from reset on.
//
// Registers (docs/hw/soc.md): 0x0 CLOCKS_LOW, 0x4 CLOCKS_HIGH, 0x8 CLOCK_HZ. A read of CLOCKS_LOW
// keeps the upper half of the same clock for the next read of CLOCKS_HIGH.
// Latency: none. Back-pressure: none. Does not do: interrupts.

`default_nettype none

module timer #(
  parameter int unsigned ClockHz = 50_000_000  // what `clk_i` runs at
) (
  input  logic        clk_i,
  input  logic        rst_ni,  // asynchronous, active low

  // Bus slave. Writes have no effect.
  input  logic        bus_valid_i,
  input  logic        bus_write_i,
  input  logic [11:0] bus_address_i,  // bytes
  output logic        bus_ready_o,
  output logic [31:0] bus_rdata_o
);

  logic [63:0] clocks_q;
  logic [31:0] high_q;

  assign bus_ready_o = 1'b1;

  always_comb begin
    unique case (bus_address_i[3:2])
      2'd0:    bus_rdata_o = clocks_q[31:0];
      2'd1:    bus_rdata_o = high_q;
      2'd2:    bus_rdata_o = ClockHz;
      default: bus_rdata_o = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clocks_q <= '0;
      high_q   <= '0;
    end else begin
      clocks_q <= clocks_q + 64'd1;
      if (bus_valid_i && !bus_write_i && bus_address_i[3:2] == 2'd0) high_q <= clocks_q[63:32];
    end
  end

  logic unused_bus;
  assign unused_bus = ^{bus_address_i[11:4], bus_address_i[1:0]};
endmodule

`default_nettype wire
