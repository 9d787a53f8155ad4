// SPDX-License-Identifier: Apache-2.0
// The stores of a core that are not in the RAM yet, oldest first. Stores to the line of the newest
// entry join it, so a run of them is one transfer.
//
// Order: stores leave as lines, and lines in the order of their first store. A store joins only the
// newest line, so no store overtakes one to another line. Other cores see a line's stores at once.

`include "assert.svh"

module write_buffer #(
  parameter  int unsigned Depth     = 4,  // lines
  parameter  int unsigned LineWords = 4,
  parameter  int unsigned WordW     = 22,
  localparam int unsigned OffsetW   = $clog2(LineWords),
  localparam int unsigned LineW     = WordW - OffsetW
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // A store.
  input  logic                       push_i,
  output logic                       ready_o,
  input  logic [WordW-1:0]           word_i,
  input  logic [3:0]                 be_i,
  input  logic [31:0]                wdata_i,
  // What a load, and a fetch of instructions, need to know: is a store to their line here?
  input  logic [1:0][LineW-1:0]      line_i,
  output logic [1:0]                 match_o,
  output logic                       empty_o,
  // The bus.
  output logic                       req_o,
  input  logic                       may_gnt_i,  // the bus takes somebody's in this cycle
  input  logic                       gnt_i,
  input  logic                       done_i,
  output logic [WordW-1:0]           word_o,
  output logic [OffsetW-1:0]         more_o,
  output logic [LineWords-1:0][31:0] wdata_o,
  output logic [LineWords-1:0][3:0]  be_o
);

  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned SlotW  = Depth > 1 ? $clog2(Depth) : 1;

  logic [Depth-1:0][LineW-1:0]                 lines_q;
  logic [Depth-1:0][LineWords-1:0][31:0]       data_q;
  logic [Depth-1:0][LineWords-1:0][3:0]        be_q;
  logic [SlotW-1:0]                            head_q, tail_q, slot;
  logic [CountW-1:0]                           count_q, count_d;
  logic                                        sending_q, sending_d;  // the head is on the bus
  logic                                        head_fixed, joins, opens, push;

  function automatic logic [SlotW-1:0] after(logic [SlotW-1:0] s);
    after = 32'(s) == Depth - 1 ? '0 : s + SlotW'(1);
  endfunction

  // Nothing joins what the bus takes, or has taken.
  assign head_fixed = sending_q || may_gnt_i;
  assign joins      = count_q != '0 && lines_q[tail_q] == word_i[WordW-1:OffsetW] &&
                      !(head_fixed && count_q == CountW'(1));
  assign ready_o    = joins || 32'(count_q) < Depth;
  assign push       = push_i && ready_o;
  assign opens      = push && !joins;
  assign slot       = opens ? (count_q == '0 ? head_q : after(tail_q)) : tail_q;

  always_comb begin
    count_d   = count_q + CountW'(opens) - CountW'(done_i);
    sending_d = (sending_q || gnt_i) && !done_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q    <= '0;
      tail_q    <= '0;
      count_q   <= '0;
      sending_q <= 1'b0;
    end else begin
      if (done_i) head_q <= after(head_q);
      if (opens)  tail_q <= slot;
      count_q   <= count_d;
      sending_q <= sending_d;
    end
  end

  // Without a reset: no slot is read before it is written.
  always_ff @(posedge clk_i) begin
    if (opens) begin
      lines_q[slot] <= word_i[WordW-1:OffsetW];
      be_q[slot]    <= '0;
    end
    if (push) begin
      be_q[slot][word_i[OffsetW-1:0]] <=
          be_i | (opens ? 4'b0 : be_q[slot][word_i[OffsetW-1:0]]);
      for (int unsigned b = 0; b < 4; b++) begin
        if (be_i[b]) data_q[slot][word_i[OffsetW-1:0]][8*b+:8] <= wdata_i[8*b+:8];
      end
    end
  end

  // Which slots are in use.
  logic [Depth-1:0] used;

  always_comb begin
    used = '0;
    for (int unsigned s = 0; s < Depth; s++) begin
      used[s] = (s + (s < 32'(head_q) ? Depth : 0)) - 32'(head_q) < 32'(count_q);
    end
  end

  always_comb begin
    match_o = '0;
    for (int unsigned s = 0; s < Depth; s++) begin
      for (int unsigned i = 0; i < 2; i++) begin
        if (used[s] && lines_q[s] == line_i[i]) match_o[i] = 1'b1;
      end
    end
  end

  assign empty_o = count_q == '0;

  // The words from the first to the last one that has been stored.
  logic [OffsetW-1:0] first, last;

  always_comb begin
    first = '0;
    last  = '0;
    for (int unsigned w = 0; w < LineWords; w++) begin
      if (be_q[head_q][w] != '0) last = OffsetW'(w);
      if (be_q[head_q][LineWords-1-w] != '0) first = OffsetW'(LineWords - 1 - w);
    end
  end

  assign req_o   = count_q != '0 && !sending_q;
  assign word_o  = {lines_q[head_q], first};
  assign more_o  = last - first;
  assign wdata_o = data_q[head_q];
  assign be_o    = be_q[head_q];

  `ASSERT(SendsWhatItHas, !done_i || (sending_q && count_q != '0))

  `ASSERT_KNOWN(StateKnown, {empty_o, req_o})
  `ASSERT_KNOWN_IF(ReadyKnown, ready_o, push_i)
  `ASSERT_KNOWN_IF(HeadKnown, {word_o, more_o, be_o}, !empty_o)
  for (genvar w = 0; w < int'(LineWords); w++) begin : gen_known
    for (genvar b = 0; b < 4; b++) begin : gen_byte
      `ASSERT_KNOWN_IF(DataKnown, wdata_o[w][8*b+:8], !empty_o && be_o[w][b])
    end
  end

endmodule
