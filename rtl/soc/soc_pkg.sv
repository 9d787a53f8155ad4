// SPDX-License-Identifier: Apache-2.0
// The memory map, and what modules of the SoC agree on. soc_regs.h has the same numbers for C.

package soc_pkg;

  localparam logic [31:0] RamBase    = 32'h8000_0000;
  localparam logic [31:0] TcmBase    = 32'h1000_0000;
  localparam logic [31:0] TimerBase  = 32'h0200_0000;
  localparam logic [31:0] RtosBase   = 32'h2000_0000;
  localparam logic [31:0] LockBase   = 32'h2000_1000;
  localparam logic [31:0] UartBase   = 32'h2000_2000;
  localparam logic [31:0] SystemBase = 32'h2000_3000;

  // A second is this many cycles, for software that counts in seconds.
  localparam int unsigned ClockHz = 10_000_000;

  // What a load or a store of a core goes to.
  typedef enum logic [2:0] {
    TargetRam     = 3'd0,  // through the data cache
    TargetTcm     = 3'd1,
    TargetRtos    = 3'd2,
    TargetLock    = 3'd3,
    TargetDevices = 3'd4,  // timer, UART, system: one bus for all cores
    TargetNone    = 3'd5   // a bus error
  } target_e;

  localparam int unsigned NumTargets = 5;  // that answer; TargetNone is answered at once

  // What is counted for each core.
  typedef struct packed {
    logic buffer_stall;  // a store that waits for the write buffer
    logic bus_wait;      // a transfer that waits for the bus
    logic fetch_miss;    // a line fetched for instructions
    logic data_miss;
    logic data_hit;
    logic asleep;        // in wfi
  } events_t;

endpackage
