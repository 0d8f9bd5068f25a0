// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serial line with eight data bits, no parity and one stop bit, between two byte streams.
//
// Latency: a byte is there in the middle of its stop bit. Throughput: a byte in ten bits.
// Back-pressure: `send_ready_o` is high between bytes. A received byte stands for one clock: its
// receiver has to have room, since the line cannot wait.
// Does not do: parity, breaks; a byte without a stop bit is dropped.

`default_nettype none

module uart_phy (
  input  logic        clk_i,
  input  logic        rst_ni,  // asynchronous, active low

  input  logic [15:0] divisor_i,  // clocks of a bit, at least 4

  // The line, high when idle.
  input  logic        rx_i,
  output logic        tx_o,

  input  logic        send_valid_i,
  output logic        send_ready_o,
  input  logic [7:0]  send_data_i,

  output logic        received_valid_o,
  output logic [7:0]  received_data_o
);

  // Bits of a byte on the line: start, data from bit 0 on, stop.
  localparam logic [3:0] Bits = 4'd10;

  logic [15:0] send_clocks_q;
  logic [3:0]  send_bits_q;
  logic [9:0]  send_shift_q;
  logic        send_tick;

  assign send_ready_o = send_bits_q == '0;
  assign send_tick    = send_clocks_q == '0;
  assign tx_o         = send_shift_q[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      send_clocks_q <= '0;
      send_bits_q   <= '0;
      send_shift_q  <= '1;
    end else if (send_ready_o) begin
      if (send_valid_i) begin
        send_clocks_q <= divisor_i - 16'd1;
        send_bits_q   <= Bits;
        send_shift_q  <= {1'b1, send_data_i, 1'b0};
      end
    end else if (send_tick) begin
      send_clocks_q <= divisor_i - 16'd1;
      send_bits_q   <= send_bits_q - 4'd1;
      send_shift_q  <= {1'b1, send_shift_q[9:1]};
    end else begin
      send_clocks_q <= send_clocks_q - 16'd1;
    end
  end

  logic [2:0]  line_q;
  logic [15:0] receive_clocks_q;
  logic [3:0]  receive_bits_q;
  logic [7:0]  receive_shift_q;
  logic        line, started, receive_tick;

  // Two stages against metastability; the third finds the edge.
  assign line         = line_q[1];
  assign started      = line_q[2] && !line_q[1];
  assign receive_tick = receive_clocks_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q           <= '1;
      receive_clocks_q <= '0;
      receive_bits_q   <= '0;
      receive_shift_q  <= '0;
      received_valid_o <= 1'b0;
      received_data_o  <= '0;
    end else begin
      line_q           <= {line_q[1:0], rx_i};
      received_valid_o <= 1'b0;
      if (receive_bits_q == '0) begin
        if (started) begin
          // To the middle of the start bit.
          receive_clocks_q <= 16'(divisor_i >> 1) - 16'd1;
          receive_bits_q   <= Bits;
        end
      end else if (!receive_tick) begin
        receive_clocks_q <= receive_clocks_q - 16'd1;
      end else begin
        receive_clocks_q <= divisor_i - 16'd1;
        receive_bits_q   <= receive_bits_q - 4'd1;
        receive_shift_q  <= {line, receive_shift_q[7:1]};
        // A glitch is no start bit.
        if (receive_bits_q == Bits && line) receive_bits_q <= '0;
        if (receive_bits_q == 4'd1 && line) begin
          received_valid_o <= 1'b1;
          received_data_o  <= receive_shift_q;
        end
      end
    end
  end
endmodule

`default_nettype wire
