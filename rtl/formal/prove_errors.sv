// SPDX-License-Identifier: Apache-2.0
// Each refused command is counted once, by its kind; a counter that is full stays so.

`include "formal.svh"

module prove_errors (
  input logic       clk_i,
  input logic       clear_i,
  input logic       valid_i,
  input logic [3:0] status_i
);

  `RESET_ONCE

  logic [31:0]     errors;
  logic [2:0][7:0] now, before_q = '0;
  logic            refused, refused_q = 1'b0, cleared_q = 1'b1;
  logic [1:0]      steps;
  logic [2:0]      falls, full, jumps;

  hw_rtos_errors #(.Width(3)) dut (
    .clk_i, .rst_ni, .clear_i, .valid_i,
    .status_i(rtos_pkg::status_e'(status_i)), .errors_o(errors)
  );

  assign now     = errors[23:0];
  assign refused = valid_i && status_i >= 4'd2 && status_i <= 4'd8;

  always_comb begin
    steps = '0;
    for (int unsigned k = 0; k < 3; k++) begin
      steps   += 2'(now[k] != before_q[k]);
      falls[k] = now[k] < before_q[k];
      full[k]  = before_q[k] == 8'd7;
      jumps[k] = now[k] != before_q[k] && now[k] != before_q[k] + 8'd1;
    end
  end

  always @(posedge clk_i) begin
    before_q  <= now;
    refused_q <= rst_ni && refused && !clear_i;
    cleared_q <= !rst_ni || clear_i;
  end

  `ASSERT(ClearedIsZero, !cleared_q || now == '0)
  `ASSERT(NeverFalls, cleared_q || falls == '0)
  `ASSERT(ByOne, cleared_q || jumps == '0)
  `ASSERT(CountedOnce, cleared_q || (refused_q ? steps == 2'd1 || full != '0 : steps == '0))

endmodule
