// SPDX-License-Identifier: Apache-2.0
// A RAM with one port to write and one to read, as generators of memories offer it.

module ram_1r1w #(
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

  logic [31:0] words[NumWords];

  always_ff @(posedge clk_i) begin
    if (we_i) words[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= words[raddr_i];
  end

endmodule
