// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serial port of the SoC: two queues of bytes behind bus registers, and a line before them. The line
// is `uart_phy`, or a byte stream that a simulator drives without a bit time.
//
// Registers (docs/hw/soc.md): 0x0 DATA, 0x4 STATUS, 0x8 DIVISOR, 0xc OVERRUNS.
// Latency: none; an access ends in the clock it stands in. Throughput: one byte an access.
// Back-pressure: none on the bus. Firmware asks STATUS; a byte written to a full queue is lost, and
// one that the PHY receives when its queue is full is lost and counted. A stream waits.

`default_nettype none

module uart #(
  parameter int unsigned ReceiveDepth = 1024,  // bytes, a power of two
  parameter int unsigned SendDepth    = 1024   // bytes, a power of two
) (
  input  logic        clk_i,
  input  logic        rst_ni,  // asynchronous, active low

  // Bus slave.
  input  logic        bus_valid_i,
  input  logic        bus_write_i,
  input  logic [11:0] bus_address_i,  // bytes
  input  logic [31:0] bus_wdata_i,
  output logic        bus_ready_o,
  output logic [31:0] bus_rdata_o,

  // The line. Zero clocks a bit choose the streams; constant after reset.
  input  logic [15:0] divisor_i,
  input  logic        rx_i,
  output logic        tx_o,
  input  logic        stream_rx_valid_i,
  output logic        stream_rx_ready_o,
  input  logic [7:0]  stream_rx_data_i,
  output logic        stream_tx_valid_o,
  input  logic        stream_tx_ready_i,
  output logic [7:0]  stream_tx_data_o,

  // The firmware looked for a byte, and there was none.
  output logic        idle_o
);

  localparam int unsigned ReceiveCountWidth = $clog2(ReceiveDepth + 1);
  localparam int unsigned SendCountWidth    = $clog2(SendDepth + 1);

  typedef enum logic [1:0] {
    RegData     = 2'd0,
    RegStatus   = 2'd1,
    RegDivisor  = 2'd2,
    RegOverruns = 2'd3
  } register_e;

  logic                         streams;
  logic                         phy_valid, phy_send_ready;
  logic [7:0]                   phy_data;
  logic                         rx_in_valid, rx_in_ready, rx_valid, rx_pop;
  logic [7:0]                   rx_in_data, rx_data;
  logic [ReceiveCountWidth-1:0] rx_count;
  logic                         tx_push, tx_valid, tx_ready, unused_tx_in_ready;
  logic [7:0]                   tx_data;
  logic [SendCountWidth-1:0]    tx_count, tx_room;
  logic [15:0]                  overruns_q;
  logic                         read, at_data, at_status;

  assign streams   = divisor_i == '0;
  assign read      = bus_valid_i && !bus_write_i;
  assign at_data   = bus_address_i[3:2] == RegData;
  assign at_status = bus_address_i[3:2] == RegStatus;

  assign rx_in_valid = streams ? stream_rx_valid_i : phy_valid;
  assign rx_in_data  = streams ? stream_rx_data_i : phy_data;
  assign rx_pop      = read && at_data;
  assign tx_room     = SendCountWidth'(SendDepth) - tx_count;
  assign tx_push     = bus_valid_i && bus_write_i && at_data;
  assign tx_ready    = streams ? stream_tx_ready_i : phy_send_ready;

  assign stream_rx_ready_o = streams && rx_in_ready;
  assign stream_tx_valid_o = streams && tx_valid;
  assign stream_tx_data_o  = tx_data;
  assign idle_o            = read && !rx_valid && (at_data || (at_status && rx_count == '0));

  assign bus_ready_o = 1'b1;

  always_comb begin
    bus_rdata_o = '0;
    unique case (bus_address_i[3:2])
      RegData:     bus_rdata_o = {!rx_valid, 23'd0, rx_data};
      RegStatus:   bus_rdata_o = {16'(tx_room), 16'(rx_count)};
      RegDivisor:  bus_rdata_o = {16'd0, divisor_i};
      RegOverruns: bus_rdata_o = {16'd0, overruns_q};
      default:     bus_rdata_o = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) overruns_q <= '0;
    else if (!streams && phy_valid && !rx_in_ready && overruns_q != '1)
      overruns_q <= overruns_q + 16'd1;
  end

  stream_fifo #(
    .Width(8),
    .Depth(ReceiveDepth)
  ) u_receive (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .in_valid_i (rx_in_valid),
    .in_ready_o (rx_in_ready),
    .in_data_i  (rx_in_data),
    .out_valid_o(rx_valid),
    .out_ready_i(rx_pop),
    .out_data_o (rx_data),
    .count_o    (rx_count)
  );

  stream_fifo #(
    .Width(8),
    .Depth(SendDepth)
  ) u_send (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .in_valid_i (tx_push),
    .in_ready_o (unused_tx_in_ready),
    .in_data_i  (bus_wdata_i[7:0]),
    .out_valid_o(tx_valid),
    .out_ready_i(tx_ready),
    .out_data_o (tx_data),
    .count_o    (tx_count)
  );

  uart_phy u_phy (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .divisor_i       (divisor_i),
    .rx_i            (rx_i),
    .tx_o            (tx_o),
    .send_valid_i    (tx_valid && !streams),
    .send_ready_o    (phy_send_ready),
    .send_data_i     (tx_data),
    .received_valid_o(phy_valid),
    .received_data_o (phy_data)
  );

  // The block takes the bits that it knows of an address and of a word.
  logic unused_bus;
  assign unused_bus = ^{bus_address_i[11:4], bus_address_i[1:0], bus_wdata_i[31:8]};
endmodule

`default_nettype wire
