// SPDX-License-Identifier: Apache-2.0
// Counts the time slice of the task that a core runs.

`include "assert.svh"

module hw_rtos_slice #(
  parameter int unsigned Width = 20
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,   // a task begins: the slice is counted from the cycle after
  input  logic [Width-1:0] length_i,  // cycles; 0: without end
  output logic             over_o
);

  logic [Width-1:0] left_q, left_d;
  logic             armed_q, armed_d, over_q, over_d;

  // It counts on below zero: that it was there is kept, which is smaller than to stop.
  assign left_d  = start_i ? length_i : left_q - Width'(1);
  assign armed_d = start_i ? length_i != '0 : armed_q;
  assign over_o  = over_q || (armed_q && left_q == '0);
  assign over_d  = over_o && !start_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      armed_q <= 1'b0;
      over_q  <= 1'b0;
    end else begin
      armed_q <= armed_d;
      over_q  <= over_d;
    end
  end

  // Without a reset: it is looked at once a task has begun.
  always_ff @(posedge clk_i) left_q <= left_d;

  `ASSERT_KNOWN(OverKnown, over_o)
  `ASSERT_KNOWN_IF(LeftKnown, left_q, armed_q)

endmodule
