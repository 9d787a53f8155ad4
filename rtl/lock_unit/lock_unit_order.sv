// SPDX-License-Identifier: Apache-2.0
// Who asks for which address, and in which order. The first of those who ask for an address has it.

`include "assert.svh"

module lock_unit_order #(
  parameter int unsigned NumCores  = 2,
  parameter int unsigned AddrWidth = 32
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  input  logic [NumCores-1:0]                ask_i,
  input  logic [NumCores-1:0][AddrWidth-1:0] address_i,
  input  logic [NumCores-1:0]                drop_i,
  output logic [NumCores-1:0]                pending_o,
  output logic [NumCores-1:0]                granted_o,
  output logic [NumCores-1:0][AddrWidth-1:0] address_o
);

  logic [NumCores-1:0]               pending_q, pending_d;
  logic [NumCores-1:0][AddrWidth-1:0]         address_q, address_d;
  // ahead_q[i][j], for i < j: i is before j. Only half of the matrix is used.
  logic [NumCores-1:0][NumCores-1:0] ahead_q, ahead_d;

  assign pending_d = (pending_q & ~drop_i) | ask_i;

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      address_d[c] = ask_i[c] ? address_i[c] : address_q[c];
    end
  end

  // Who asks is behind all who have asked before, and in a tie behind lower cores.
  always_comb begin
    ahead_d = '0;
    for (int unsigned i = 0; i < NumCores; i++) begin
      for (int unsigned j = i + 1; j < NumCores; j++) begin
        ahead_d[i][j] = ask_i[j] || (ahead_q[i][j] && !ask_i[i]);
      end
    end
  end

  always_comb begin
    granted_o = pending_q;
    for (int unsigned i = 0; i < NumCores; i++) begin
      for (int unsigned j = i + 1; j < NumCores; j++) begin
        if (pending_q[i] && pending_q[j] && address_q[i] == address_q[j]) begin
          if (ahead_q[i][j]) granted_o[j] = 1'b0;
          else               granted_o[i] = 1'b0;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
      ahead_q   <= '0;
    end else begin
      pending_q <= pending_d;
      ahead_q   <= ahead_d;
    end
  end

  // Without a reset: only the addresses of who has asked are looked at.
  always_ff @(posedge clk_i) address_q <= address_d;

  assign pending_o = pending_q;
  assign address_o = address_q;

`ifdef RTL_ASSERTIONS
  logic two_holders;

  always_comb begin
    two_holders = 1'b0;
    for (int unsigned i = 0; i < NumCores; i++) begin
      for (int unsigned j = i + 1; j < NumCores; j++) begin
        two_holders |= granted_o[i] && granted_o[j] && address_q[i] == address_q[j];
      end
    end
  end

  `ASSERT(MutualExclusion, !two_holders)
  `ASSERT(HoldersAsked, (granted_o & ~pending_q) == '0)
`endif

  `ASSERT_KNOWN(PendingKnown, {pending_o, granted_o})
  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_known
    `ASSERT_KNOWN_IF(AddressKnown, address_o[c], pending_o[c])
  end

endmodule
