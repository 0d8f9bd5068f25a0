// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Registers and counters of the prototype. Written by `cargo xtask regmap` from
// fpga-softcore/regmap.toml: change that.

package regmap_pkg;

  // Nobody needs all of them.
  // verilator lint_off UNUSEDPARAM

  localparam logic [31:0] Id      = 32'h53545241;
  localparam logic [31:0] Version = 32'd2;

  // What a board's serial line runs at. Unit: bits a second.
  localparam int unsigned LineBaud = 1000000;

  // Addresses. Unit: bytes.
  localparam logic [11:0] AddressId          = 12'h000;
  localparam logic [11:0] AddressVersion     = 12'h004;
  localparam logic [11:0] AddressParameters0 = 12'h008;
  localparam logic [11:0] AddressParameters1 = 12'h00c;
  localparam logic [11:0] AddressControl     = 12'h010;
  localparam logic [11:0] AddressSettings    = 12'h014;
  localparam logic [11:0] AddressStatus      = 12'h018;
  localparam logic [11:0] AddressClocks      = 12'h01c;
  localparam logic [11:0] AddressData        = 12'h020;
  localparam logic [11:0] AddressCommand     = 12'h030;
  localparam logic [11:0] AddressOutcome     = 12'h034;
  localparam logic [11:0] AddressReadData    = 12'h040;
  localparam logic [11:0] AddressCounters    = 12'h100;

  // First bit and number of bits of each field.
  localparam int unsigned Parameters0WarpsBit = 0;
  localparam int unsigned Parameters0WarpsWidth = 8;
  localparam int unsigned Parameters0CacheEntriesBit = 8;
  localparam int unsigned Parameters0CacheEntriesWidth = 8;
  localparam int unsigned Parameters0PoolEntriesBit = 16;
  localparam int unsigned Parameters0PoolEntriesWidth = 8;
  localparam int unsigned Parameters0LanesBit = 24;
  localparam int unsigned Parameters0LanesWidth = 8;
  localparam int unsigned Parameters1BatchBit = 0;
  localparam int unsigned Parameters1BatchWidth = 16;
  localparam int unsigned Parameters1BanksBit = 16;
  localparam int unsigned Parameters1BanksWidth = 8;
  localparam int unsigned Parameters1RowsBit = 24;
  localparam int unsigned Parameters1RowsWidth = 8;
  localparam int unsigned ControlResetBit = 0;
  localparam int unsigned ControlResetWidth = 1;
  localparam int unsigned ControlRunBit = 1;
  localparam int unsigned ControlRunWidth = 1;
  localparam int unsigned ControlClearCountersBit = 2;
  localparam int unsigned ControlClearCountersWidth = 1;
  localparam int unsigned SettingsCacheEntriesBit = 0;
  localparam int unsigned SettingsCacheEntriesWidth = 4;
  localparam int unsigned SettingsLruBit = 4;
  localparam int unsigned SettingsLruWidth = 1;
  localparam int unsigned SettingsLivenessBit = 5;
  localparam int unsigned SettingsLivenessWidth = 1;
  localparam int unsigned SettingsSplitBit = 6;
  localparam int unsigned SettingsSplitWidth = 1;
  localparam int unsigned SettingsWriteCyclesBit = 7;
  localparam int unsigned SettingsWriteCyclesWidth = 4;
  localparam int unsigned SettingsPoolEntriesBit = 11;
  localparam int unsigned SettingsPoolEntriesWidth = 6;
  localparam int unsigned SettingsRegistersBit = 17;
  localparam int unsigned SettingsRegistersWidth = 8;
  localparam int unsigned StatusRunningBit = 0;
  localparam int unsigned StatusRunningWidth = 1;
  localparam int unsigned StatusLostBit = 1;
  localparam int unsigned StatusLostWidth = 1;
  localparam int unsigned StatusCommandsBit = 8;
  localparam int unsigned StatusCommandsWidth = 8;
  localparam int unsigned StatusOutcomesBit = 16;
  localparam int unsigned StatusOutcomesWidth = 8;

  localparam int unsigned Counters = 25;

  // Number of each counter.
  localparam int unsigned CountCommands               = 0;
  localparam int unsigned CountClocks                 = 1;
  localparam int unsigned CountCacheReadsHit          = 2;
  localparam int unsigned CountCacheReadsPartial      = 3;
  localparam int unsigned CountCacheReadsMissed       = 4;
  localparam int unsigned CountCacheWritesInPlace     = 5;
  localparam int unsigned CountCacheAllocations       = 6;
  localparam int unsigned CountCacheFills             = 7;
  localparam int unsigned CountCacheBypasses          = 8;
  localparam int unsigned CountCacheWritebacksEvicted = 9;
  localparam int unsigned CountCacheWritebacksFlushed = 10;
  localparam int unsigned CountCacheDropped           = 11;
  localparam int unsigned CountBankReads              = 12;
  localparam int unsigned CountBankWrites             = 13;
  localparam int unsigned CountReadsBesideWrite       = 14;
  localparam int unsigned CountPoolReadsHit           = 15;
  localparam int unsigned CountPoolReadsPartial       = 16;
  localparam int unsigned CountPoolReadsMissed        = 17;
  localparam int unsigned CountPoolWritesHit          = 18;
  localparam int unsigned CountPoolAllocations        = 19;
  localparam int unsigned CountPoolReplacements       = 20;
  localparam int unsigned CountPoolDemotions          = 21;
  localparam int unsigned CountPoolDropped            = 22;
  localparam int unsigned CountReadWaits              = 23;
  localparam int unsigned CountWriteWaits             = 24;

  // verilator lint_on UNUSEDPARAM

endpackage
