// SPDX-License-Identifier: Apache-2.0
// Counts refused commands. A counter that is full stays so.

`include "assert.svh"

module hw_rtos_errors #(
  parameter int unsigned Width = 8  // of a counter, at most 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 valid_i,
  input  rtos_pkg::status_e    status_i,
  output logic [31:0]          errors_o  // [7:0] full, [15:8] out of range, [23:16] out of order
);

  logic [2:0]            kind;
  logic [2:0][Width-1:0] count_q, count_d;

  always_comb begin
    kind = '0;
    unique case (status_i)
      rtos_pkg::StatusFull, rtos_pkg::StatusBusy, rtos_pkg::StatusTooLong: kind[0] = valid_i;
      rtos_pkg::StatusBadPort, rtos_pkg::StatusBadTask:                    kind[1] = valid_i;
      rtos_pkg::StatusOrder, rtos_pkg::StatusNoTask:                       kind[2] = valid_i;
      default:                                                             kind = '0;
    endcase
  end

  always_comb begin
    count_d = count_q;
    for (int unsigned k = 0; k < 3; k++) begin
      if (clear_i) count_d[k] = '0;
      else if (kind[k] && count_q[k] != '1) count_d[k] = count_q[k] + Width'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else         count_q <= count_d;
  end

  assign errors_o = {8'd0, 8'(count_q[2]), 8'(count_q[1]), 8'(count_q[0])};

  `ASSERT_KNOWN(ErrorsKnown, errors_o)

endmodule
