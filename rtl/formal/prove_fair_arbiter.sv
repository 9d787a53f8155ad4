// SPDX-License-Identifier: Apache-2.0
// Nobody starves: whoever waits is overtaken twice at most by each other, and is served soon.

`include "formal.svh"

module prove_fair_arbiter #(
  parameter int unsigned NumReqs = 4
) (
  input logic               clk_i,
  input logic [NumReqs-1:0] req_i
);

  `RESET_ONCE

  localparam int unsigned IdW = $clog2(NumReqs);
  localparam logic [7:0] LongestWait = 8'(2 * (NumReqs - 1));

  (* anyconst *) logic [IdW-1:0] waiter, rival;
  logic [NumReqs-1:0] gnt, refused_q = '0;
  logic [7:0]         waited_q = '0;
  logic [1:0]         overtaken_q = '0;
  logic               waits;

  fair_arbiter #(.NumReqs(NumReqs)) dut (.clk_i, .rst_ni, .req_i, .gnt_o(gnt));

  assign waits = req_i[waiter] && !gnt[waiter];

  always @(posedge clk_i) begin
    refused_q   <= rst_ni ? req_i & ~gnt : '0;
    waited_q    <= rst_ni && waits ? waited_q + 8'd1 : '0;
    overtaken_q <= rst_ni && waits ? overtaken_q + 2'(gnt[rival] && overtaken_q != 2'd3) : '0;
  end

  `ASSUME(KeepsAsking, (refused_q & ~req_i) == '0)
  `ASSUME(TheyExist, 32'(waiter) < NumReqs && 32'(rival) < NumReqs)

  `ASSERT(ServedSoon, waited_q <= LongestWait)
  `ASSERT(OvertakenTwiceAtMost, overtaken_q <= 2'd2)

endmodule
