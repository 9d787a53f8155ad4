// SPDX-License-Identifier: Apache-2.0
// The pick is an eligible task of the highest priority. A task that stays eligible and is second to
// none in priority is picked after all others at most.

`include "formal.svh"

module prove_select #(
  parameter  int unsigned NumTasks  = 8,
  parameter  int unsigned PrioWidth = 2,
  localparam int unsigned TaskW     = $clog2(NumTasks)
) (
  input logic                               clk_i,
  input logic [NumTasks-1:0]                eligible_i,
  input logic [NumTasks-1:0][PrioWidth-1:0] prio_i,
  input logic                               pick_i
);

  `RESET_ONCE

  (* anyconst *) logic [TaskW-1:0] waiter;
  logic [TaskW-1:0]     last_q = '0, picked;
  logic [PrioWidth-1:0] prio;
  logic [NumTasks-1:0]  above;
  logic [TaskW:0]       others_q = '0;
  logic                 any, waits;

  hw_rtos_select #(.NumTasks(NumTasks), .PrioWidth(PrioWidth)) dut (
    .eligible_i, .prio_i, .last_i(last_q), .any_o(any), .task_o(picked), .prio_o(prio)
  );

  always_comb begin
    above = '0;
    for (int unsigned t = 0; t < NumTasks; t++) above[t] = eligible_i[t] && prio_i[t] > prio;
  end

  assign waits = eligible_i[waiter] && prio_i[waiter] == prio;

  always @(posedge clk_i) begin
    if (rst_ni && pick_i && any) last_q <= picked;
    if (!rst_ni || !waits || (pick_i && picked == waiter)) others_q <= '0;
    else if (pick_i) others_q <= others_q + (TaskW + 1)'(1);
  end

  `ASSERT(AnyIsAny, any == (eligible_i != '0))
  `ASSERT(PicksWhoMayRun, !any || eligible_i[picked])
  `ASSERT(PicksTheMostUrgent, !any || (above == '0 && prio_i[picked] == prio))
  `ASSERT(NobodyStarves, 32'(others_q) < NumTasks)

endmodule
