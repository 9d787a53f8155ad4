// SPDX-License-Identifier: Apache-2.0
// A word that is read is the one that was written last at its address.

`include "formal.svh"

module prove_buffer #(
  parameter int unsigned NumWords = 8,
  parameter bit          InRam    = 1'b0
) (
  input logic                        clk_i,
  input logic                        we_i,
  input logic [$clog2(NumWords)-1:0] waddr_i,
  input logic [31:0]                 wdata_i,
  input logic                        re_i,
  input logic [$clog2(NumWords)-1:0] raddr_i
);

  `RESET_ONCE

  (* anyconst *) logic [$clog2(NumWords)-1:0] addr;
  logic [31:0] rdata, word_q;
  logic        written_q = 1'b0, reading_q = 1'b0;

  hw_rtos_buffer #(.NumWords(NumWords), .InRam(InRam)) dut (
    .clk_i, .we_i, .waddr_i, .wdata_i, .re_i, .raddr_i, .rdata_o(rdata)
  );

  always @(posedge clk_i) begin
    if (rst_ni && we_i && waddr_i == addr) begin
      word_q    <= wdata_i;
      written_q <= 1'b1;
    end
    reading_q <= rst_ni && re_i && raddr_i == addr && written_q;
  end

  // One access in a cycle, and no word is written right after it is read: so hw_rtos_ports does.
  `ASSUME(OneAccess, !(we_i && re_i))
  `ASSUME(NotWrittenWhileRead, !(reading_q && we_i && waddr_i == addr))

  `ASSERT(ReadsWhatWasWritten, !reading_q || rdata == word_q)

endmodule
