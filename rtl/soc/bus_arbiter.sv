// SPDX-License-Identifier: Apache-2.0
// fair_arbiter for transfers that take several cycles: who asks while one is under way waits.

`include "assert.svh"

module bus_arbiter #(
  parameter int unsigned NumReqs = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               ready_i,  // the next transfer may begin
  input  logic [NumReqs-1:0] req_i,
  output logic [NumReqs-1:0] gnt_o     // at most one bit, in the same cycle
);

  // The rest of the batch that is served, as in fair_arbiter.
  logic [NumReqs-1:0] batch_q, batch_d, served, lowest;

  assign served  = (batch_q & req_i) == '0 ? req_i : batch_q & req_i;
  assign lowest  = served & (~served + NumReqs'(1));
  assign gnt_o   = ready_i ? lowest : '0;
  assign batch_d = ready_i ? served & ~lowest : batch_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) batch_q <= '0;
    else         batch_q <= batch_d;
  end

  `ASSERT_KNOWN(GrantKnown, gnt_o)

endmodule
