// SPDX-License-Identifier: Apache-2.0
// The bus to the shared RAM. It carries out one transfer at a time: up to a line of words, after
// the wait states of the first. So all cores see its transfers in one order.
//
// Masters 0 to NumCores-1 are the cores' data caches, which also write; the others fetch.

`include "assert.svh"

module ram_bus #(
  parameter  int unsigned NumCores   = 2,
  parameter  int unsigned LineWords  = 4,
  parameter  int unsigned WordW      = 22,  // of the address of a word of the RAM
  localparam int unsigned NumMasters = 2 * NumCores,
  localparam int unsigned OffsetW    = $clog2(LineWords)
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  input  logic [7:0]                               wait_states_i,
  // All stay until done_o, but for req_i, which may go after gnt_o.
  input  logic [NumMasters-1:0]                    req_i,
  input  logic [NumMasters-1:0][WordW-1:0]         word_i,   // the first one; wraps in its line
  input  logic [NumMasters-1:0][OffsetW-1:0]       more_i,   // how many words follow it
  input  logic [NumCores-1:0]                      we_i,
  input  logic [NumCores-1:0][LineWords-1:0][31:0] wdata_i,  // of the line
  input  logic [NumCores-1:0][LineWords-1:0][3:0]  be_i,
  output logic                                     may_gnt_o,  // one may begin in this cycle
  output logic [NumMasters-1:0]                    gnt_o,      // begins
  output logic [NumMasters-1:0]                    beat_o,   // a word is in rdata_o, or written
  output logic [NumMasters-1:0]                    done_o,   // and it is the last
  output logic [31:0]                              rdata_o,
  // A write is done, for caches and fetch buffers.
  output logic [NumCores-1:0]                      snoop_o,  // by whom
  output logic [WordW-OffsetW-1:0]                 snoop_line_o,
  // The RAM.
  output logic                                     ram_we_o,
  output logic [3:0]                               ram_be_o,
  output logic [WordW-1:0]                         ram_word_o,
  output logic [31:0]                              ram_wdata_o,
  input  logic [31:0]                              ram_rdata_i
);

  logic                   active_q, active_d, beat, last;
  logic [NumMasters-1:0]  owner_q, owner_d;
  logic                   write_q, write_d;
  logic [WordW-1:0]       word_q, word_d;
  logic [OffsetW-1:0]     more_q, more_d;
  logic [7:0]             wait_q, wait_d;

  assign beat = active_q && wait_q == '0;
  assign last = beat && more_q == '0;

  assign may_gnt_o = !active_q || last;

  bus_arbiter #(
    .NumReqs(NumMasters)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .ready_i(may_gnt_o),
    .req_i,
    .gnt_o
  );

  always_comb begin
    active_d = active_q && !last;
    owner_d  = owner_q;
    write_d  = write_q;
    word_d   = word_q;
    more_d   = more_q;
    wait_d   = wait_q == '0 ? '0 : wait_q - 8'd1;
    if (beat) begin
      word_d[OffsetW-1:0] = word_q[OffsetW-1:0] + OffsetW'(1);
      more_d              = more_q - OffsetW'(1);
    end
    for (int unsigned m = 0; m < NumMasters; m++) begin
      if (gnt_o[m]) begin
        active_d = 1'b1;
        owner_d  = gnt_o;
        write_d  = 1'b0;
        word_d   = word_i[m];
        more_d   = more_i[m];
        wait_d   = wait_states_i;
      end
    end
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (gnt_o[c]) write_d = we_i[c];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      owner_q  <= '0;
      write_q  <= 1'b0;
      word_q   <= '0;
      more_q   <= '0;
      wait_q   <= '0;
    end else begin
      active_q <= active_d;
      owner_q  <= owner_d;
      write_q  <= write_d;
      word_q   <= word_d;
      more_q   <= more_d;
      wait_q   <= wait_d;
    end
  end

  assign beat_o  = beat ? owner_q : '0;
  assign done_o  = last ? owner_q : '0;
  assign rdata_o = ram_rdata_i;

  always_comb begin
    ram_we_o    = beat && write_q;
    ram_word_o  = word_q;
    ram_be_o    = '0;
    ram_wdata_o = '0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (owner_q[c]) begin
        ram_be_o    = be_i[c][word_q[OffsetW-1:0]];
        ram_wdata_o = wdata_i[c][word_q[OffsetW-1:0]];
      end
    end
  end

  // Once, with the last word: until then nobody else can read any of them.
  assign snoop_o      = last && write_q ? owner_q[NumCores-1:0] : '0;
  assign snoop_line_o = word_q[WordW-1:OffsetW];

  `ASSERT(OneOwner, (owner_q & (owner_q - NumMasters'(1))) == '0)

  `ASSERT_KNOWN(GrantKnown, {may_gnt_o, gnt_o})
  `ASSERT_KNOWN(BeatKnown, {beat_o, done_o})
  `ASSERT_KNOWN_IF(SnoopKnown, {snoop_o, snoop_line_o}, snoop_o != '0)
  `ASSERT_KNOWN_IF(WriteKnown, {ram_we_o, ram_be_o, ram_word_o}, ram_we_o)
  for (genvar b = 0; b < 4; b++) begin : gen_known
    `ASSERT_KNOWN_IF(DataKnown, ram_wdata_o[8*b+:8], ram_we_o && ram_be_o[b])
  end

endmodule
