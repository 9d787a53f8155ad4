// SPDX-License-Identifier: Apache-2.0
// Picks one of the eligible tasks: the highest priority, and among equals the next one after the
// task that was picked last. Each pick brings the equals that wait nearer, so none of them starves.

`include "assert.svh"

module hw_rtos_select #(
  parameter  int unsigned NumTasks  = 16,
  parameter  int unsigned PrioWidth = 3,
  localparam int unsigned TaskW     = $clog2(NumTasks)
) (
  input  logic [NumTasks-1:0]                eligible_i,
  input  logic [NumTasks-1:0][PrioWidth-1:0] prio_i,
  input  logic [TaskW-1:0]                   last_i,  // the task picked before
  output logic                               any_o,
  output logic [TaskW-1:0]                   task_o,
  output logic [PrioWidth-1:0]               prio_o   // of the task picked
);

  logic [NumTasks-1:0] best, match, after, choice, chosen;
  logic [PrioWidth-1:0] top;

  // The highest priority, bit by bit from the top: whoever lacks a bit that another has is out.
  always_comb begin
    best  = eligible_i;
    top   = '0;
    match = '0;
    for (int unsigned level = 0; level < PrioWidth; level++) begin
      for (int unsigned t = 0; t < NumTasks; t++) begin
        match[t] = best[t] && prio_i[t][PrioWidth-1-level];
      end
      if (match != '0) begin
        best                   = match;
        top[PrioWidth-1-level] = 1'b1;
      end
    end
  end

  always_comb begin
    after = '0;
    for (int unsigned t = 0; t < NumTasks; t++) begin
      after[t] = best[t] && t > 32'(last_i);
    end
  end

  assign choice = after != '0 ? after : best;
  assign chosen = choice & (~choice + NumTasks'(1));

  always_comb begin
    task_o = '0;
    for (int unsigned t = 0; t < NumTasks; t++) begin
      if (chosen[t]) task_o |= TaskW'(t);
    end
  end

  assign any_o  = eligible_i != '0;
  assign prio_o = top;

  `ASSERT_KNOWN(AnyKnown, any_o)
  `ASSERT_KNOWN(TaskKnown, task_o)
  `ASSERT_KNOWN(PrioKnown, prio_o)

endmodule
