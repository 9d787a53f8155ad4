// SPDX-License-Identifier: Apache-2.0
// One holder of each address; who asks first has it first; nobody waits while nobody holds.

`include "formal.svh"

module prove_lock_unit_order #(
  parameter int unsigned NumCores  = 4,
  parameter int unsigned AddrWidth = 2  // enough for an address of its own for each core
) (
  input logic                      clk_i,
  input logic [NumCores-1:0]       ask_i,
  input logic [NumCores-1:0][AddrWidth-1:0] address_i,
  input logic [NumCores-1:0]       drop_i
);

  `RESET_ONCE

  (* anyconst *) logic [1:0] one, other;
  logic [NumCores-1:0]       pending, granted, kept_q = '0;
  logic [NumCores-1:0][AddrWidth-1:0] address;
  logic [1:0]                overtaken_q = '0;
  logic                      held, waits;

  lock_unit_order #(.NumCores(NumCores), .AddrWidth(AddrWidth)) dut (
    .clk_i, .rst_ni, .ask_i, .address_i, .drop_i,
    .pending_o(pending), .granted_o(granted), .address_o(address)
  );

  // `one` waits for what `other` has.
  assign waits = pending[one] && !granted[one] && !drop_i[one];

  always_comb begin
    held = 1'b0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      held |= granted[c] && address[c] == address[one];
    end
  end

  always @(posedge clk_i) begin
    kept_q <= rst_ni ? granted & ~drop_i : '0;
    if (!rst_ni || !waits) overtaken_q <= '0;
    else if (granted[other] && drop_i[other] && address[other] == address[one]
             && overtaken_q != 2'd3) overtaken_q <= overtaken_q + 2'd1;
  end

  `ASSUME(TheyExist, 32'(one) < NumCores && 32'(other) < NumCores && one != other)
  `ASSUME(AsksOnce, (ask_i & pending) == '0)
  `ASSUME(DropsWhatItHas, (drop_i & ~pending) == '0)

  `ASSERT(OneHolder, !(granted[one] && granted[other] && address[one] == address[other]))
  `ASSERT(OnlyWhoAsks, (granted & ~pending) == '0)
  `ASSERT(KeptUntilDropped, (kept_q & ~granted) == '0)
  `ASSERT(NobodyWaitsForNobody, !pending[one] || held)
  `ASSERT(OvertakenOnceAtMost, overtaken_q <= 2'd1)

endmodule
