// SPDX-License-Identifier: Apache-2.0
// The tightly coupled memory of a core: its own, a cycle away. After a reset of the core its first
// word is the core's number.

module tcm #(
  parameter  int unsigned Bytes = 2048,
  localparam int unsigned WordW = $clog2(Bytes) - 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [31:0]      number_i,
  input  logic             req_i,
  output logic             gnt_o,
  input  logic             we_i,
  input  logic [3:0]       be_i,
  input  logic [WordW-1:0] word_i,
  input  logic [31:0]      wdata_i,
  output logic             rvalid_o,
  output logic [31:0]      rdata_o
);

  logic [31:0]      words[Bytes/4];
  logic             numbered_q, rvalid_q, write;
  logic [WordW-1:0] word_q;

  assign gnt_o = req_i && numbered_q;
  assign write = gnt_o && we_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      numbered_q <= 1'b0;
      rvalid_q   <= 1'b0;
    end else begin
      numbered_q <= 1'b1;
      rvalid_q   <= gnt_o;
    end
  end

  always_ff @(posedge clk_i) begin
    word_q <= word_i;
    if (!numbered_q) words[0] <= number_i;
    for (int unsigned b = 0; b < 4; b++) begin
      if (write && be_i[b]) words[word_i][8*b+:8] <= wdata_i[8*b+:8];
    end
  end

  assign rvalid_o = rvalid_q;
  assign rdata_o  = words[word_q];

endmodule
