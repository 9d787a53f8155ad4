// SPDX-License-Identifier: Apache-2.0
// Counts the time slice of the task that a core runs.

module hw_rtos_slice #(
  parameter int unsigned Width = 20
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,   // a task begins
  input  logic             run_i,     // it runs
  input  logic [Width-1:0] length_i,  // cycles; 0: without end
  output logic             over_o
);

  logic [Width-1:0] left_q, left_d;
  logic             armed_q, armed_d;

  always_comb begin
    left_d  = left_q;
    armed_d = armed_q;
    if (start_i) begin
      left_d  = length_i;
      armed_d = length_i != '0;
    end else if (run_i && left_q != '0) begin
      left_d = left_q - Width'(1);
    end
  end

  assign over_o = armed_q && left_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      armed_q <= 1'b0;
    end else begin
      left_q  <= left_d;
      armed_q <= armed_d;
    end
  end

endmodule
