// SPDX-License-Identifier: Apache-2.0
// A slice is over after as many cycles as it is long, and never if it has no length.

`include "formal.svh"

module prove_slice #(
  parameter int unsigned Width = 4
) (
  input logic             clk_i,
  input logic             start_i,
  input logic [Width-1:0] length_i
);

  `RESET_ONCE

  logic [Width-1:0] length_q = '0, ran_q = '0;
  logic             over;

  hw_rtos_slice #(.Width(Width)) dut (
    .clk_i, .rst_ni, .start_i, .length_i, .over_o(over)
  );

  always @(posedge clk_i) begin
    if (rst_ni && start_i) begin
      length_q <= length_i;
      ran_q    <= '0;
    end else if (rst_ni && ran_q != length_q) begin
      ran_q <= ran_q + Width'(1);
    end
  end

  `ASSERT(OverWhenItRanSoLong, over == (length_q != '0 && ran_q == length_q))

endmodule
