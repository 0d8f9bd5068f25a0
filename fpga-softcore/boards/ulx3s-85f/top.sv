// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The SoC on a ULX3S with an LFE5U-85F: clock, reset, serial line over USB, lamps.
//
// The clock of 25 MHz becomes `ClockHz` in a PLL. To change it, change the PLL's divisors, and
// see in report.md whether the SoC can follow. The serial line runs at `LineBaud` of
// fpga-softcore/regmap.toml, 8 bits, no parity.
// The first power button resets. Never run on a board: docs/hw/synthesis.md.

`default_nettype none

module top #(
  parameter int unsigned ClockHz = 60_000_000,
  // Derived; do not override.
  localparam int unsigned Divisor = ClockHz / regmap_pkg::LineBaud
) (
  input  logic       clk_25mhz,
  input  logic       btn_pwr_n,   // low while it is pressed
  input  logic       ftdi_txd,    // from the host
  output logic       ftdi_rxd,    // to the host
  output logic [7:0] led,
  output logic       wifi_gpio0   // high keeps the radio module from starting the FPGA anew
);

  // Within 2 % of the speed that was asked for: half a bit in ten is 5 %, for both ends together.
  if (Divisor < 4 || Divisor > 65535
      || ClockHz / Divisor - regmap_pkg::LineBaud > regmap_pkg::LineBaud / 50) begin : g_check
    $error("top: no divisor of ClockHz gives the serial line's speed");
  end

  logic clk, locked;

  // 25 MHz / 5 * 12 = 60 MHz; the oscillator runs at 600 MHz, within its 400 to 800.
  (* FREQUENCY_PIN_CLKI = "25", FREQUENCY_PIN_CLKOP = "60", ICP_CURRENT = "12" *)
  (* LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV        (5),
    .CLKFB_DIV       (12),
    .CLKOP_DIV       (10),
    .CLKOP_CPHASE    (4),
    .CLKOP_FPHASE    (0),
    .CLKOP_ENABLE    ("ENABLED"),
    .FEEDBK_PATH     ("CLKOP"),
    .OUTDIVIDER_MUXA ("DIVA"),
    .OUTDIVIDER_MUXB ("DIVB"),
    .OUTDIVIDER_MUXC ("DIVC"),
    .OUTDIVIDER_MUXD ("DIVD"),
    .DPHASE_SOURCE   ("DISABLED"),
    .PLLRST_ENA      ("DISABLED"),
    .INTFB_WAKE      ("DISABLED"),
    .STDBY_ENABLE    ("DISABLED")
  ) u_pll (
    .CLKI        (clk_25mhz),
    .CLKFB       (clk),
    .CLKOP       (clk),
    .LOCK        (locked),
    .RST         (1'b0),
    .STDBY       (1'b0),
    .ENCLKOP     (1'b0),
    .PHASESEL0   (1'b0),
    .PHASESEL1   (1'b0),
    .PHASEDIR    (1'b1),
    .PHASESTEP   (1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC (1'b0),
    .CLKINTFB    ()
  );

  // Reset begins at once and ends with the clock.
  logic       run;
  logic [2:0] running_q;

  assign run = locked && btn_pwr_n;

  always_ff @(posedge clk or negedge run) begin
    if (!run) running_q <= '0;
    else      running_q <= {running_q[1:0], 1'b1};
  end

  // What the line sends is not ours to time.
  logic [1:0] rx_q;

  always_ff @(posedge clk) rx_q <= {rx_q[0], ftdi_txd};

  logic       unused_rx_ready, unused_tx_valid, unused_idle, unused_awake;
  logic [7:0] unused_tx_data;

  soc #(
    .MemoryBytes  (262144),
    .MemoryFile   ("firmware.hex"),
    .ClockHz      (ClockHz),
    .CacheEntries (6),
    .PoolEntries  (60)
  ) u_soc (
    .clk_i            (clk),
    .rst_ni           (running_q[2]),
    .uart_divisor_i   (16'(Divisor)),
    .uart_rx_i        (rx_q[1]),
    .uart_tx_o        (ftdi_rxd),
    .stream_rx_valid_i(1'b0),
    .stream_rx_ready_o(unused_rx_ready),
    .stream_rx_data_i (8'd0),
    .stream_tx_valid_o(unused_tx_valid),
    .stream_tx_ready_i(1'b0),
    .stream_tx_data_o (unused_tx_data),
    .idle_o           (unused_idle),
    .prototype_clk_i  (clk),
    .prototype_awake_o(unused_awake),
    .pins_o           (led)
  );

  assign wifi_gpio0 = 1'b1;
endmodule

`default_nettype wire
