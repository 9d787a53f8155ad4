// SPDX-License-Identifier: Apache-2.0
// The Lock Unit: one address per core, which it locks or waits for. What is done between the grant
// and the release is atomic for all who lock the same address.
//
// A grant comes one cycle after the request. The lowest core wins a tie; whoever waits is served
// before all who ask later, so nobody starves.

`include "assert.svh"

module lock_unit #(
  parameter int unsigned NumCores = 2  // 1 to 4
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // One port for each core.
  input  logic [NumCores-1:0]       req_i,
  output logic [NumCores-1:0]       gnt_o,     // in the cycle of req_i; low: wait
  input  logic [NumCores-1:0]       we_i,
  input  logic [NumCores-1:0][3:0]  be_i,
  input  logic [NumCores-1:0][11:0] addr_i,
  input  logic [NumCores-1:0][31:0] wdata_i,
  output logic [NumCores-1:0]       rvalid_o,  // one cycle after gnt_o
  output logic [NumCores-1:0][31:0] rdata_o,
  output logic [NumCores-1:0]       err_o,     // no such register
  // Who has asked for a lock, and who holds one.
  output logic [NumCores-1:0]       pending_o,
  output logic [NumCores-1:0]       granted_o
);

  `REQUIRE_RANGE(NumCores, 1, 4)

  localparam logic [8:0] CountMax = 9'd255;

  logic [NumCores-1:0]       ask, drop, refused, clear;
  logic [NumCores-1:0][31:0] locked;
  logic [7:0]                errors_q, errors_d;
  logic [8:0]                sum;

  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_port
    lock_unit_port u_port (
      .clk_i,
      .rst_ni,
      .req_i    (req_i[c]),
      .gnt_o    (gnt_o[c]),
      .we_i     (we_i[c]),
      .be_i     (be_i[c]),
      .addr_i   (addr_i[c]),
      .wdata_i  (wdata_i[c]),
      .rvalid_o (rvalid_o[c]),
      .rdata_o  (rdata_o[c]),
      .err_o    (err_o[c]),
      .pending_i(pending_o[c]),
      .granted_i(granted_o[c]),
      .locked_i (locked[c]),
      .ask_o    (ask[c]),
      .drop_o   (drop[c]),
      .errors_i (errors_q),
      .refused_o(refused[c]),
      .clear_o  (clear[c])
    );
  end

  lock_unit_order #(
    .NumCores(NumCores)
  ) u_order (
    .clk_i,
    .rst_ni,
    .ask_i    (ask),
    .address_i(wdata_i),
    .drop_i   (drop),
    .pending_o,
    .granted_o,
    .address_o(locked)
  );

  // Several cores may be refused in one cycle. A counter that is full stays so.
  always_comb begin
    sum = 9'(errors_q);
    for (int unsigned c = 0; c < NumCores; c++) sum += 9'(refused[c]);
    errors_d = clear != '0 ? '0 : sum > CountMax ? CountMax[7:0] : sum[7:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) errors_q <= '0;
    else         errors_q <= errors_d;
  end

  `ASSERT_KNOWN(GrantKnown, gnt_o)
  `ASSERT_KNOWN(AnswerKnown, {rvalid_o, rdata_o, err_o})
  `ASSERT_KNOWN(OwnersKnown, {pending_o, granted_o})

endmodule
