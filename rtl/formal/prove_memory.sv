// SPDX-License-Identifier: Apache-2.0
// The caches of a core, its write buffer, and the bus to the RAM, which another core's caches use too.

`include "formal.svh"

module prove_memory #(
  parameter  int unsigned WordW     = 3,  // 4 lines
  localparam int unsigned LineWords = 2,
  localparam int unsigned OffsetW   = $clog2(LineWords),
  localparam int unsigned Bytes     = 8 * LineWords  // two lines
) (
  input logic                           clk_i,
  input logic [7:0]                     wait_states_i,
  // The core.
  input logic                           req_i,
  input logic                           we_i,
  input logic [3:0]                     be_i,
  input logic [WordW-1:0]               word_i,
  input logic [31:0]                    wdata_i,
  input logic                           uncached_i,
  input logic                           strict_i,
  input logic                           flush_i,
  input logic                           fetch_req_i,
  input logic [31:0]                    fetch_addr_i,
  // The other core's data cache, and its fetches.
  input logic [1:0]                     other_req_i,
  input logic [1:0][WordW-1:0]          other_word_i,
  input logic [1:0][OffsetW-1:0]        other_more_i,
  input logic                           other_we_i,
  input logic [LineWords-1:0][31:0]     other_wdata_i,
  input logic [LineWords-1:0][3:0]      other_be_i,
  // What the RAM answers.
  input logic [31:0]                    ram_rdata_i
);

  `RESET_ONCE

  logic [3:0]                      bus_req, gnt, beat, done;
  logic [3:0][WordW-1:0]           word;
  logic [3:0][OffsetW-1:0]         more;
  logic [1:0]                      we, snoop;
  logic [1:0][LineWords-1:0][31:0] wdata;
  logic [1:0][LineWords-1:0][3:0]  be;
  logic [WordW-OffsetW-1:0]        snoop_line, fetch_line;
  logic [31:0]                     rdata, load, instr, ram_wdata;
  logic                            may_gnt, ram_we, load_gnt, load_valid, fetch_gnt, fetch_valid;
  logic                            fetch_err, stored, drained, idle, fetch_idle, hit, miss, stall;
  logic [3:0]                      ram_be;
  logic [WordW-1:0]                ram_word;

  // Masters 0 and 2 are the core's.
  assign {bus_req[3], bus_req[1]} = other_req_i;
  assign {word[3], word[1]}       = other_word_i;
  assign {more[3], more[1]}       = other_more_i;
  assign we[1]                    = other_we_i;
  assign wdata[1]                 = other_wdata_i;
  assign be[1]                    = other_be_i;

  ram_bus #(.NumCores(2), .LineWords(LineWords), .WordW(WordW)) u_bus (
    .clk_i, .rst_ni, .wait_states_i, .req_i(bus_req), .word_i(word), .more_i(more), .we_i(we),
    .wdata_i(wdata), .be_i(be), .may_gnt_o(may_gnt), .gnt_o(gnt), .beat_o(beat), .done_o(done),
    .rdata_o(rdata), .snoop_o(snoop), .snoop_line_o(snoop_line), .ram_we_o(ram_we),
    .ram_be_o(ram_be), .ram_word_o(ram_word), .ram_wdata_o(ram_wdata), .ram_rdata_i
  );

  icache #(.Bytes(2 ** (WordW + 1)), .LineWords(LineWords), .WordW(WordW)) u_icache (
    .clk_i, .rst_ni, .req_i(fetch_req_i), .gnt_o(fetch_gnt), .addr_i(fetch_addr_i),
    .rvalid_o(fetch_valid), .rdata_o(instr), .err_o(fetch_err), .snoop_i(snoop != '0),
    .snoop_line_i(snoop_line), .flush_i, .line_o(fetch_line), .stored_i(stored),
    .bus_req_o(bus_req[2]), .bus_word_o(word[2]), .bus_more_o(more[2]), .bus_gnt_i(gnt[2]),
    .bus_beat_i(beat[2]), .bus_done_i(done[2]), .bus_rdata_i(rdata), .idle_o(fetch_idle)
  );

  dcache #(.Bytes(Bytes), .LineWords(LineWords), .BufferLines(2), .WordW(WordW)) u_dcache (
    .clk_i, .rst_ni, .req_i, .gnt_o(load_gnt), .we_i, .be_i, .word_i, .wdata_i, .uncached_i,
    .rvalid_o(load_valid), .rdata_o(load), .strict_i, .flush_i, .snoop_i(snoop[1]),
    .snoop_line_i(snoop_line), .fetch_line_i(fetch_line), .fetch_stored_o(stored),
    .bus_req_o(bus_req[0]), .bus_we_o(we[0]), .bus_word_o(word[0]), .bus_more_o(more[0]),
    .bus_wdata_o(wdata[0]), .bus_be_o(be[0]), .bus_may_gnt_i(may_gnt), .bus_gnt_i(gnt[0]),
    .bus_beat_i(beat[0]), .bus_done_i(done[0]), .bus_rdata_i(rdata), .drained_o(drained),
    .idle_o(idle), .hit_o(hit), .miss_o(miss), .stall_o(stall)
  );

endmodule
