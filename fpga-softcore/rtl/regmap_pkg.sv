// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Registers of the prototype, the fields of its words, their codes, and its counters.
// Written by `cargo xtask regmap` from fpga-softcore/regmap.toml: change that.

package regmap_pkg;

  // No module uses all of them.
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

  // First bit of each field, and the words as structures of their fields.
  localparam int unsigned Parameters0WarpsBit = 0;
  localparam int unsigned Parameters0CacheEntriesBit = 8;
  localparam int unsigned Parameters0PoolEntriesBit = 16;
  localparam int unsigned Parameters0LanesBit = 24;
  localparam int unsigned Parameters0Width = 32;
  typedef struct packed {
    logic [7:0]  lanes;
    logic [7:0]  pool_entries;
    logic [7:0]  cache_entries;
    logic [7:0]  warps;
  } parameters0_t;

  localparam int unsigned Parameters1BatchBit = 0;
  localparam int unsigned Parameters1BanksBit = 16;
  localparam int unsigned Parameters1RowsBit = 24;
  localparam int unsigned Parameters1Width = 32;
  typedef struct packed {
    logic [7:0]  rows;
    logic [7:0]  banks;
    logic [15:0] batch;
  } parameters1_t;

  localparam int unsigned ControlResetBit = 0;
  localparam int unsigned ControlRunBit = 1;
  localparam int unsigned ControlClearCountersBit = 2;
  localparam int unsigned ControlWidth = 3;
  typedef struct packed {
    logic        clear_counters;
    logic        run;
    logic        reset;
  } control_t;

  localparam int unsigned SettingsCacheEntriesBit = 0;
  localparam int unsigned SettingsLruBit = 4;
  localparam int unsigned SettingsLivenessBit = 5;
  localparam int unsigned SettingsSplitBit = 6;
  localparam int unsigned SettingsWriteCyclesBit = 7;
  localparam int unsigned SettingsPoolEntriesBit = 11;
  localparam int unsigned SettingsRegistersBit = 17;
  localparam int unsigned SettingsWidth = 25;
  typedef struct packed {
    logic [7:0]  registers;
    logic [5:0]  pool_entries;
    logic [3:0]  write_cycles;
    logic        split;
    logic        liveness;
    logic        lru;
    logic [3:0]  cache_entries;
  } settings_t;

  localparam int unsigned StatusRunningBit = 0;
  localparam int unsigned StatusLostBit = 1;
  localparam int unsigned StatusCommandsBit = 8;
  localparam int unsigned StatusOutcomesBit = 16;
  localparam int unsigned StatusWidth = 24;
  typedef struct packed {
    logic [7:0]  outcomes;
    logic [7:0]  commands;
    logic [5:0]  unused_2;
    logic        lost;
    logic        running;
  } status_t;

  localparam int unsigned CommandOperationBit = 0;
  localparam int unsigned CommandWarpBit = 3;
  localparam int unsigned CommandRegisterNumberBit = 6;
  localparam int unsigned CommandLastUseBit = 14;
  localparam int unsigned CommandMoreBit = 15;
  localparam int unsigned CommandLanesBit = 16;
  localparam int unsigned CommandWidth = 32;
  typedef struct packed {
    logic [15:0] lanes;
    logic        more;
    logic        last_use;
    logic [7:0]  register_number;
    logic [2:0]  warp;
    logic [2:0]  operation;
  } command_t;

  localparam int unsigned OutcomeCacheBit = 0;
  localparam int unsigned OutcomeWayBit = 3;
  localparam int unsigned OutcomeMainBit = 7;
  localparam int unsigned OutcomeWritebacksBit = 10;
  localparam int unsigned OutcomeDroppedBit = 14;
  localparam int unsigned OutcomeWaitedBit = 20;
  localparam int unsigned OutcomeWidth = 28;
  typedef struct packed {
    logic [7:0]  waited;
    logic [5:0]  dropped;
    logic [3:0]  writebacks;
    logic [2:0]  main;
    logic [3:0]  way;
    logic [2:0]  cache;
  } outcome_t;

  localparam logic [2:0] OpCodeRead = 3'd0;
  localparam logic [2:0] OpCodeWrite = 3'd1;
  localparam logic [2:0] OpCodeBypass = 3'd2;
  localparam logic [2:0] OpCodeFill = 3'd3;
  localparam logic [2:0] OpCodeFlush = 3'd4;
  localparam logic [2:0] OpCodeExit = 3'd5;
  localparam logic [2:0] OpCodeDemote = 3'd6;
  localparam logic [2:0] OpCodeDrop = 3'd7;

  localparam logic [2:0] CacheOutcomeNothing = 3'd0;
  localparam logic [2:0] CacheOutcomeMiss = 3'd1;
  localparam logic [2:0] CacheOutcomePartialHit = 3'd2;
  localparam logic [2:0] CacheOutcomeHit = 3'd3;
  localparam logic [2:0] CacheOutcomeInPlace = 3'd4;
  localparam logic [2:0] CacheOutcomeAllocation = 3'd5;
  localparam logic [2:0] CacheOutcomeInvalidated = 3'd6;
  localparam logic [2:0] CacheOutcomeEmptied = 3'd7;

  localparam logic [2:0] MainAccessRead = 3'd0;
  localparam logic [2:0] MainAccessWrite = 3'd1;
  localparam logic [2:0] MainAccessDemote = 3'd2;
  localparam logic [2:0] MainAccessDrop = 3'd3;
  localparam logic [2:0] MainAccessNothing = 3'd4;

  localparam logic [2:0] MainOutcomeNothing = 3'd0;
  localparam logic [2:0] MainOutcomeBank = 3'd1;
  localparam logic [2:0] MainOutcomePoolHit = 3'd2;
  localparam logic [2:0] MainOutcomePoolPartialHit = 3'd3;
  localparam logic [2:0] MainOutcomePoolAllocation = 3'd4;
  localparam logic [2:0] MainOutcomePoolReplacement = 3'd5;
  localparam logic [2:0] MainOutcomePoolMoved = 3'd6;


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
