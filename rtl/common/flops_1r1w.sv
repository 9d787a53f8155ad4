// SPDX-License-Identifier: Apache-2.0
// What ram_1r1w is, of flip-flops. A word is not read in the cycle in which it is written, nor
// written in the one after it is read.

module flops_1r1w #(
  parameter  int unsigned NumWords = 32,
  localparam int unsigned AddrW    = $clog2(NumWords)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [AddrW-1:0] waddr_i,
  input  logic [31:0]      wdata_i,
  input  logic             re_i,
  input  logic [AddrW-1:0] raddr_i,
  output logic [31:0]      rdata_o
);

  logic [NumWords-1:0][31:0] words_q;
  logic [AddrW-1:0]          raddr_q;

  // Without a reset: no word is read before it is written.
  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < NumWords; w++) begin
      if (we_i && 32'(waddr_i) == w) words_q[w] <= wdata_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (re_i) raddr_q <= raddr_i;
  end

  // AND-OR by a decoded address is smaller than a tree of multiplexers, and a register of the
  // address smaller than one of what it selects.
  always_comb begin
    rdata_o = '0;
    for (int unsigned w = 0; w < NumWords; w++) begin
      if (32'(raddr_q) == w) rdata_o |= words_q[w];
    end
  end

endmodule
