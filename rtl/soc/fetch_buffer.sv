// SPDX-License-Identifier: Apache-2.0
// The line that a core fetches instructions from, between Ibex's instruction cache and the bus. A
// line comes in one transfer, the wanted word first. It snoops, so what is written is fetched anew.

module fetch_buffer #(
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
  // A line that a core has written, or all.
  input  logic               snoop_i,
  input  logic [LineW-1:0]   snoop_line_i,
  input  logic               flush_i,
  // This core's stores that are not in the RAM yet: it must not fetch what they replace.
  output logic [LineW-1:0]   stored_line_o,
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

  logic [LineWords-1:0][31:0] words_q;
  logic [LineWords-1:0]       there_q;
  logic [LineW-1:0]           line_q, line;
  logic [OffsetW-1:0]         beat_q, offset;
  logic                       filling_q, in_ram, here, hit, dropped;

  assign line    = addr_i[2+OffsetW+:LineW];
  assign offset  = addr_i[2+:OffsetW];
  assign in_ram  = addr_i[31:2+WordW] == soc_pkg::RamBase[31:2+WordW];
  assign here    = line_q == line;
  assign hit     = here && there_q[offset];
  assign gnt_o   = req_i && (hit || !in_ram);
  assign dropped = flush_i || (snoop_i && snoop_line_i == line_q);

  assign stored_line_o = line;
  assign bus_req_o  = req_i && in_ram && !hit && !filling_q && !stored_i;
  assign bus_word_o = {line, offset};
  assign bus_more_o = OffsetW'(LineWords - 1);
  assign idle_o     = !filling_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      there_q   <= '0;
      filling_q <= 1'b0;
    end else begin
      if (bus_gnt_i)       filling_q <= 1'b1;
      else if (bus_done_i) filling_q <= 1'b0;
      if (bus_gnt_i || dropped) there_q <= '0;
      else if (bus_beat_i)      there_q[beat_q] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (bus_gnt_i) begin
      line_q <= line;
      beat_q <= offset;
    end else if (bus_beat_i) begin
      words_q[beat_q] <= bus_rdata_i;
      beat_q          <= beat_q + OffsetW'(1);
    end
  end

  logic rvalid_q, err_q;
  logic [31:0] rdata_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      err_q    <= 1'b0;
    end else begin
      rvalid_q <= gnt_o;
      err_q    <= !in_ram;
    end
  end

  always_ff @(posedge clk_i) begin
    if (gnt_o) rdata_q <= words_q[offset];
  end

  assign rvalid_o = rvalid_q;
  assign rdata_o  = rdata_q;
  assign err_o    = rvalid_q && err_q;

  logic unused_addr;
  assign unused_addr = ^addr_i[1:0];

endmodule
