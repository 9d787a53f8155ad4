// SPDX-License-Identifier: Apache-2.0
// Grants one of several requests per cycle. The lowest number wins a tie, and nobody starves: those
// who ask at the same time are a batch, and all of a batch are served before anyone who asks later.

`include "assert.svh"

module fair_arbiter #(
  parameter int unsigned NumReqs = 2
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [NumReqs-1:0] req_i,  // stays high until granted
  output logic [NumReqs-1:0] gnt_o   // at most one bit, in the same cycle
);

  logic [NumReqs-1:0] batch_q, batch_d, served, lowest;

  // The rest of the batch; without one, whoever asks now is the next batch.
  assign served  = (batch_q & req_i) == '0 ? req_i : batch_q & req_i;
  assign lowest  = served & (~served + NumReqs'(1));
  assign gnt_o   = lowest;
  assign batch_d = served & ~lowest;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) batch_q <= '0;
    else         batch_q <= batch_d;
  end

  `ASSERT(OneGrant, (gnt_o & (gnt_o - NumReqs'(1))) == '0)
  `ASSERT(GrantsWhoAsks, (gnt_o & ~req_i) == '0)
  `ASSERT(NeverIdleWhileAsked, (req_i == '0) == (gnt_o == '0))

  `ASSERT_KNOWN(GrantKnown, gnt_o)

endmodule
