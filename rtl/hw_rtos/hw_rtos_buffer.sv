// SPDX-License-Identifier: Apache-2.0
// The words of all send and receive buffers, in flip-flops or in a RAM. Read and written in
// different cycles; what is read comes one cycle later.

module hw_rtos_buffer #(
  parameter  int unsigned NumWords = 32,
  parameter  bit          InRam    = 1'b0,
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

  if (InRam) begin : gen_ram
    ram_1r1w #(.NumWords(NumWords)) u_words (
      .clk_i, .we_i, .waddr_i, .wdata_i, .re_i, .raddr_i, .rdata_o
    );
  end else begin : gen_flops
    flops_1r1w #(.NumWords(NumWords)) u_words (
      .clk_i, .we_i, .waddr_i, .wdata_i, .re_i, .raddr_i, .rdata_o
    );
  end

endmodule
