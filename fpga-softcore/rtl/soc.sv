// SPDX-License-Identifier: MIT OR Apache-2.0
//
// System on a chip around the prototype: a VexRiscv with caches, memory, a serial port, a clock
// counter, output pins, and the prototype, which the firmware drives.
//
// Addresses (docs/hw/soc.md): memory 0x4000_0000; devices from 0xf000_0000 on, uncached: serial port
// +0x0000, timer +0x1000, pins +0x2000, prototype +0x1_0000. Elsewhere reads give 0, writes nothing.
// Latency: a device's register is read in 3 clocks of the bus; a write is taken in 2 and waits for
// its device behind the processor's back. Devices take words; byte selects are not looked at.
// Needs the module VexRiscv with caches and Wishbone buses, which is not part of this repository.
// Does not do: interrupts, bus errors, a debug port.

`default_nettype none

module soc #(
  parameter int unsigned MemoryBytes  = 131072,      // a power of two
  parameter              MemoryFile   = "",          // its first words, in hexadecimal
  parameter int unsigned ClockHz      = 50_000_000,  // what `clk_i` runs at; at least 1000
  parameter int unsigned UartDepth    = 1024,        // bytes of either queue, a power of two
  parameter int unsigned Warps        = 8,           // of the prototype, and so on
  parameter int unsigned CacheEntries = 13,
  parameter int unsigned PoolEntries  = 60,
  parameter int unsigned Lanes        = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,  // asynchronous, active low; released with the clock

  // Serial line. Zero clocks a bit choose the streams below; constant after reset.
  input  logic [15:0] uart_divisor_i,
  input  logic        uart_rx_i,
  output logic        uart_tx_o,

  // Byte streams for a simulator.
  input  logic        stream_rx_valid_i,
  output logic        stream_rx_ready_o,
  input  logic [7:0]  stream_rx_data_i,
  output logic        stream_tx_valid_o,
  input  logic        stream_tx_ready_i,
  output logic [7:0]  stream_tx_data_o,
  output logic        idle_o,  // the firmware looked for a byte, and there was none

  // The prototype's own clock: `clk_i`. A simulator may leave out clocks before which
  // `prototype_awake_o` is low: nothing in the prototype changes in them.
  input  logic        prototype_clk_i,
  output logic        prototype_awake_o,

  output logic [7:0]  pins_o
);

  if (ClockHz < 1000) begin : g_check
    $error("soc: ClockHz is at least 1000, for the firmware's milliseconds");
  end

  localparam logic [31:0] ResetVector = 32'h4000_0000;
  localparam logic [2:0]  BurstMore   = 3'b010;  // CTI of a burst whose next word follows

  // Processor.
  logic        ibus_strobe, ibus_ack, dbus_strobe, dbus_ack, dbus_write;
  logic [29:0] ibus_address, dbus_address;
  logic [31:0] memory_rdata, dbus_rdata, dbus_wdata;
  logic [3:0]  dbus_bytes;
  logic [2:0]  ibus_cti, dbus_cti;
  logic        dbus_memory, dbus_device, memory_ack;

  /* verilator lint_off PINCONNECTEMPTY */  // Outputs that say nothing here.
  VexRiscv u_cpu (
    .externalResetVector   (ResetVector),
    .timerInterrupt        (1'b0),
    .softwareInterrupt     (1'b0),
    .externalInterruptArray(32'd0),
    .iBusWishbone_CYC      (),
    .iBusWishbone_STB      (ibus_strobe),
    .iBusWishbone_ACK      (ibus_ack),
    .iBusWishbone_WE       (),
    .iBusWishbone_ADR      (ibus_address),
    .iBusWishbone_DAT_MISO (memory_rdata),
    .iBusWishbone_DAT_MOSI (),
    .iBusWishbone_SEL      (),
    .iBusWishbone_ERR      (1'b0),
    .iBusWishbone_CTI      (ibus_cti),
    .iBusWishbone_BTE      (),
    .dBusWishbone_CYC      (),
    .dBusWishbone_STB      (dbus_strobe),
    .dBusWishbone_ACK      (dbus_ack),
    .dBusWishbone_WE       (dbus_write),
    .dBusWishbone_ADR      (dbus_address),
    .dBusWishbone_DAT_MISO (dbus_rdata),
    .dBusWishbone_DAT_MOSI (dbus_wdata),
    .dBusWishbone_SEL      (dbus_bytes),
    .dBusWishbone_ERR      (1'b0),
    .dBusWishbone_CTI      (dbus_cti),
    .dBusWishbone_BTE      (),
    .clk                   (clk_i),
    .reset                 (!rst_ni)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Bit 31 of a byte address is what the processor does not cache.
  assign dbus_memory = dbus_strobe && !dbus_address[29];
  assign dbus_device = dbus_strobe && dbus_address[29];

  soc_memory #(
    .Bytes    (MemoryBytes),
    .ImageFile(MemoryFile)
  ) u_memory (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .ibus_request_i(ibus_strobe),
    .ibus_more_i   (ibus_cti == BurstMore),
    .ibus_address_i(ibus_address),
    .ibus_ack_o    (ibus_ack),
    .dbus_request_i(dbus_memory),
    .dbus_more_i   (dbus_cti == BurstMore),
    .dbus_write_i  (dbus_write),
    .dbus_bytes_i  (dbus_bytes),
    .dbus_address_i(dbus_address),
    .dbus_wdata_i  (dbus_wdata),
    .dbus_ack_o    (memory_ack),
    .rdata_o       (memory_rdata)
  );

  // The one access to a device that is under way: registered, so that no path leads from the
  // processor through a device and back.
  logic        valid_q, write_q, ack_q, taken, done;
  logic [31:0] wdata_q, rdata_q;
  logic [11:0] address_q;
  logic        uart_q, timer_q, gpio_q, prototype_q;
  logic        uart_ready, timer_ready, gpio_ready, prototype_ready;
  logic [31:0] uart_rdata, timer_rdata, gpio_rdata, prototype_rdata, device_rdata;

  // A read that is under way is the request that still stands.
  assign taken      = dbus_device && !ack_q && (!valid_q || (write_q && done));
  assign dbus_ack   = memory_ack || ack_q;
  assign dbus_rdata = ack_q ? rdata_q : memory_rdata;

  always_comb begin
    done         = 1'b1;
    device_rdata = '0;
    unique case (1'b1)
      uart_q: begin
        done         = uart_ready;
        device_rdata = uart_rdata;
      end
      timer_q: begin
        done         = timer_ready;
        device_rdata = timer_rdata;
      end
      gpio_q: begin
        done         = gpio_ready;
        device_rdata = gpio_rdata;
      end
      prototype_q: begin
        done         = prototype_ready;
        device_rdata = prototype_rdata;
      end
      default: begin
        done         = 1'b1;
        device_rdata = '0;
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ack_q   <= 1'b0;
    end else begin
      valid_q <= taken || (valid_q && !done);
      ack_q   <= (taken && dbus_write) || (valid_q && !write_q && done);
    end
  end

  // Mean nothing unless an access is under way.
  always_ff @(posedge clk_i) begin
    rdata_q <= device_rdata;
    if (taken) begin
      write_q     <= dbus_write;
      wdata_q     <= dbus_wdata;
      address_q   <= {dbus_address[9:0], 2'b00};
      uart_q      <= dbus_address[28:10] == 19'h7_0000;
      timer_q     <= dbus_address[28:10] == 19'h7_0001;
      gpio_q      <= dbus_address[28:10] == 19'h7_0002;
      prototype_q <= dbus_address[28:10] == 19'h7_0010;
    end
  end

  uart #(
    .ReceiveDepth(UartDepth),
    .SendDepth   (UartDepth)
  ) u_uart (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .bus_valid_i      (valid_q && uart_q),
    .bus_write_i      (write_q),
    .bus_address_i    (address_q),
    .bus_wdata_i      (wdata_q),
    .bus_ready_o      (uart_ready),
    .bus_rdata_o      (uart_rdata),
    .divisor_i        (uart_divisor_i),
    .rx_i             (uart_rx_i),
    .tx_o             (uart_tx_o),
    .stream_rx_valid_i(stream_rx_valid_i),
    .stream_rx_ready_o(stream_rx_ready_o),
    .stream_rx_data_i (stream_rx_data_i),
    .stream_tx_valid_o(stream_tx_valid_o),
    .stream_tx_ready_i(stream_tx_ready_i),
    .stream_tx_data_o (stream_tx_data_o),
    .idle_o           (idle_o)
  );

  timer #(
    .ClockHz(ClockHz)
  ) u_timer (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .bus_valid_i  (valid_q && timer_q),
    .bus_write_i  (write_q),
    .bus_address_i(address_q),
    .bus_ready_o  (timer_ready),
    .bus_rdata_o  (timer_rdata)
  );

  gpio #(
    .Pins(8)
  ) u_gpio (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .bus_valid_i  (valid_q && gpio_q),
    .bus_write_i  (write_q),
    .bus_address_i(address_q),
    .bus_wdata_i  (wdata_q),
    .bus_ready_o  (gpio_ready),
    .bus_rdata_o  (gpio_rdata),
    .pins_o       (pins_o)
  );

  logic prototype_valid, prototype_asleep;

  assign prototype_valid   = valid_q && prototype_q;
  assign prototype_awake_o = prototype_valid || !prototype_asleep;

  prototype #(
    .Warps       (Warps),
    .CacheEntries(CacheEntries),
    .PoolEntries (PoolEntries),
    .Lanes       (Lanes)
  ) u_prototype (
    .clk_i        (prototype_clk_i),
    .rst_ni       (rst_ni),
    .bus_valid_i  (prototype_valid),
    .bus_write_i  (write_q),
    .bus_address_i(address_q),
    .bus_wdata_i  (wdata_q),
    .bus_ready_o  (prototype_ready),
    .bus_rdata_o  (prototype_rdata),
    .asleep_o     (prototype_asleep)
  );
endmodule

`default_nettype wire
