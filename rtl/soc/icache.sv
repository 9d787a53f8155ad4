// SPDX-License-Identifier: Apache-2.0
// The instruction cache of a core, set associative. A line comes in one transfer, the wanted word
// first; words that are there are fetched while the others come.
//
// It snoops: a line that any core writes is dropped when the write is done. Until then, a fetch of
// a line that this core has stored to waits. So code that was stored is fetched, after a fence.i.

`include "assert.svh"

module icache #(
  parameter  int unsigned Bytes     = 4096,
  parameter  int unsigned Ways      = 2,
  parameter  int unsigned LineWords = 4,
  parameter  int unsigned WordW     = 22,
  localparam int unsigned OffsetW   = $clog2(LineWords),
  localparam int unsigned LineW     = WordW - OffsetW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // The core.
  input  logic               req_i,
  output logic               gnt_o,
  input  logic [31:0]        addr_i,
  output logic               rvalid_o,
  output logic [31:0]        rdata_o,
  output logic               err_o,
  // A line that a core has written, or all of them for as long as flush_i is high.
  input  logic               snoop_i,
  input  logic [LineW-1:0]   snoop_line_i,
  input  logic               flush_i,
  // The line that is looked up: this core has stored to it, and that is not done.
  output logic [LineW-1:0]   line_o,
  input  logic               stored_i,
  // The bus.
  output logic               bus_req_o,
  output logic [WordW-1:0]   bus_word_o,
  output logic [OffsetW-1:0] bus_more_o,
  input  logic               bus_gnt_i,
  input  logic               bus_beat_i,
  input  logic               bus_done_i,
  input  logic [31:0]        bus_rdata_i,
  output logic               idle_o
);

  localparam int unsigned NumSets = Bytes / 4 / LineWords / Ways;
  localparam int unsigned IndexW  = $clog2(NumSets);
  localparam int unsigned TagW    = LineW - IndexW;
  localparam int unsigned WayW    = Ways > 1 ? $clog2(Ways) : 1;

  // ---- The fetch that is looked up -----------------------------------------------------------

  logic               valid_q, in_ram_q;
  logic [WordW-1:0]   word_q;
  logic [LineW-1:0]   line;
  logic [IndexW-1:0]  index;
  logic [OffsetW-1:0] offset;

  assign line   = word_q[WordW-1:OffsetW];
  assign index  = line[IndexW-1:0];
  assign offset = word_q[OffsetW-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)             valid_q <= 1'b0;
    else if (flush_i)        valid_q <= 1'b0;
    else if (req_i && gnt_o) valid_q <= 1'b1;
    else if (rvalid_o)       valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (req_i && gnt_o) begin
      word_q   <= addr_i[2+:WordW];
      in_ram_q <= addr_i[31:2+WordW] == soc_pkg::RamBase[31:2+WordW];
    end
  end

  // ---- Lines ---------------------------------------------------------------------------------

  logic [Ways-1:0][NumSets-1:0] present_q;
  logic [TagW-1:0]              tags[Ways][NumSets];
  logic [31:0]                  data[Ways][NumSets*LineWords];

  logic                 filling_q, keep_q;  // the line that comes is one to keep
  logic [LineW-1:0]     fill_line_q;
  logic [IndexW-1:0]    fill_index;
  logic [WayW-1:0]      fill_way_q, victim_q;
  logic [OffsetW-1:0]   beat_q;
  logic [LineWords-1:0] there_q;  // what has come of it
  logic                 found, comes, came, hit;
  logic [31:0]          found_word;

  assign fill_index = fill_line_q[IndexW-1:0];

  always_comb begin
    found      = 1'b0;
    found_word = data[fill_way_q][{index, offset}];
    for (int unsigned w = 0; w < Ways; w++) begin
      if (present_q[w][index] && tags[w][index] == line[LineW-1:IndexW]) begin
        found      = 1'b1;
        found_word = data[w][{index, offset}];
      end
    end
  end

  assign came     = filling_q && keep_q && fill_line_q == line && there_q[offset];
  assign comes    = filling_q && fill_line_q == line && bus_beat_i && beat_q == offset;
  assign hit      = (found || came || comes) && !stored_i;
  assign rvalid_o = valid_q && (hit || !in_ram_q);
  assign rdata_o  = comes ? bus_rdata_i : found_word;
  assign err_o    = rvalid_o && !in_ram_q;
  assign gnt_o    = !valid_q || rvalid_o;
  assign line_o   = line;
  assign idle_o   = !filling_q;

  assign bus_req_o  = valid_q && in_ram_q && !hit && !filling_q && !stored_i;
  assign bus_word_o = word_q;
  assign bus_more_o = OffsetW'(LineWords - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filling_q <= 1'b0;
      keep_q    <= 1'b0;
      there_q   <= '0;
      victim_q  <= '0;
    end else begin
      if (bus_gnt_i) begin
        filling_q <= 1'b1;
        keep_q    <= !flush_i;
        there_q   <= '0;
        victim_q  <= 32'(victim_q) == Ways - 1 ? '0 : victim_q + WayW'(1);
      end else begin
        if (bus_done_i) filling_q <= 1'b0;
        if (bus_beat_i) there_q[beat_q] <= 1'b1;
        if (flush_i || (snoop_i && snoop_line_i == fill_line_q)) keep_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      present_q <= '0;
    else if (flush_i) present_q <= '0;
    else begin
      for (int unsigned w = 0; w < Ways; w++) begin
        if (snoop_i && tags[w][snoop_line_i[IndexW-1:0]] == snoop_line_i[LineW-1:IndexW]) begin
          present_q[w][snoop_line_i[IndexW-1:0]] <= 1'b0;
        end
      end
      if (bus_gnt_i) present_q[victim_q][index] <= 1'b0;
      if (bus_done_i && keep_q) present_q[fill_way_q][fill_index] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (bus_gnt_i) begin
      fill_line_q           <= line;
      fill_way_q            <= victim_q;
      beat_q                <= offset;
      tags[victim_q][index] <= line[LineW-1:IndexW];
    end else if (bus_beat_i) begin
      data[fill_way_q][{fill_index, beat_q}] <= bus_rdata_i;
      beat_q                                 <= beat_q + OffsetW'(1);
    end
  end

  logic unused_addr;
  assign unused_addr = ^addr_i[1:0];

  // The bus does one thing at a time.
  `ASSERT(NoWriteWhileALineComes, !(snoop_i && filling_q && fill_line_q == snoop_line_i))

  `ASSERT_KNOWN(AnswerKnown, {gnt_o, rvalid_o, err_o})
  `ASSERT_KNOWN(BusKnown, {bus_req_o, bus_more_o, idle_o})
  `ASSERT_KNOWN_IF(LineKnown, {line_o, bus_word_o}, bus_req_o)

endmodule
