// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Program and data memory of the SoC: one port, shared by the processor's instruction and data buses.
//
// Latency: a word is acknowledged one clock after it was asked for, a write too. Throughput: one
// word a clock within a burst, else one every other clock for each bus.
// Back-pressure: a bus holds its request until the clock of its acknowledgement. A burst is not
// interrupted; otherwise data goes first, and cannot starve instructions, because it leaves every
// other clock free.
// Does not do: address checks; addresses repeat beyond `Bytes`.

`default_nettype none

module soc_memory #(
  parameter int unsigned Bytes     = 131072,  // a power of two, at least 64
  parameter              ImageFile = "",      // words in hexadecimal; none leaves it undefined
  // Derived; do not override.
  localparam int unsigned Words        = Bytes / 4,
  localparam int unsigned AddressWidth = $clog2(Words)
) (
  input  logic        clk_i,
  input  logic        rst_ni,  // asynchronous, active low

  // Instructions: reads only.
  input  logic        ibus_request_i,
  input  logic        ibus_more_i,     // the next word follows
  input  logic [29:0] ibus_address_i,  // words
  output logic        ibus_ack_o,

  // Data.
  input  logic        dbus_request_i,
  input  logic        dbus_more_i,
  input  logic        dbus_write_i,
  input  logic [3:0]  dbus_bytes_i,
  input  logic [29:0] dbus_address_i,  // words
  input  logic [31:0] dbus_wdata_i,
  output logic        dbus_ack_o,

  // What was read, in the clock of either acknowledgement.
  output logic [31:0] rdata_o
);

  if (Bytes < 64 || (Bytes & (Bytes - 1)) != 0) begin : g_check
    $error("soc_memory: Bytes is a power of two from 64 on");
  end

  logic [31:0]             words [Words];
  logic [31:0]             rdata_q;
  logic                    iack_d, iack_q, dack_d, dack_q;
  logic                    write;
  logic [AddressWidth-1:0] address;
  logic [2:0]              inext, dnext;

  assign ibus_ack_o = iack_q;
  assign dbus_ack_o = dack_q;
  assign rdata_o    = rdata_q;

  // A burst stays in its line of eight words.
  assign inext = ibus_address_i[2:0] + 3'd1;
  assign dnext = dbus_address_i[2:0] + 3'd1;

  always_comb begin
    iack_d  = 1'b0;
    dack_d  = 1'b0;
    write   = 1'b0;
    address = dbus_address_i[AddressWidth-1:0];
    if (iack_q && ibus_more_i) begin
      iack_d  = 1'b1;
      address = {ibus_address_i[AddressWidth-1:3], inext};
    end else if (dack_q && dbus_more_i) begin
      dack_d  = 1'b1;
      address = {dbus_address_i[AddressWidth-1:3], dnext};
    end else if (dbus_request_i && !dack_q) begin
      dack_d = 1'b1;
      write  = dbus_write_i;
    end else if (ibus_request_i && !iack_q) begin
      iack_d  = 1'b1;
      address = ibus_address_i[AddressWidth-1:0];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      iack_q <= 1'b0;
      dack_q <= 1'b0;
    end else begin
      iack_q <= iack_d;
      dack_q <= dack_d;
    end
  end

  // Neither memory nor output is reset.
  always_ff @(posedge clk_i) begin
    if (write) begin
      if (dbus_bytes_i[0]) words[address][7:0] <= dbus_wdata_i[7:0];
      if (dbus_bytes_i[1]) words[address][15:8] <= dbus_wdata_i[15:8];
      if (dbus_bytes_i[2]) words[address][23:16] <= dbus_wdata_i[23:16];
      if (dbus_bytes_i[3]) words[address][31:24] <= dbus_wdata_i[31:24];
    end else begin
      rdata_q <= words[address];
    end
  end

`ifdef STRATA_SIMULATION
  string image;
  initial begin
    if ($value$plusargs("image=%s", image) != 0) $readmemh(image, words);
    else if (ImageFile != "") $readmemh(ImageFile, words);
  end
`else
  initial begin
    if (ImageFile != "") $readmemh(ImageFile, words);
  end
`endif

  logic unused_address;
  assign unused_address = ^{ibus_address_i[29:AddressWidth], dbus_address_i[29:AddressWidth]};
endmodule

`default_nettype wire
