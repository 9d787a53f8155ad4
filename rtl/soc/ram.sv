// SPDX-License-Identifier: Apache-2.0
// The shared RAM: a word per cycle. How long the first word takes is the bus's matter.

module ram #(
  parameter  int unsigned NumWords = 4096,
  localparam int unsigned AddrW    = $clog2(NumWords)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [3:0]       be_i,
  input  logic [AddrW-1:0] word_i,
  input  logic [31:0]      wdata_i,
  output logic [31:0]      rdata_o
);

  // The harness loads the program here.
  logic [31:0] words[NumWords]  /*verilator public_flat_rw*/;

  always_ff @(posedge clk_i) begin
    for (int unsigned b = 0; b < 4; b++) begin
      if (we_i && be_i[b]) words[word_i][8*b+:8] <= wdata_i[8*b+:8];
    end
  end

  assign rdata_o = words[word_i];

endmodule
