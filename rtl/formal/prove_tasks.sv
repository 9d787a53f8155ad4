// SPDX-License-Identifier: Apache-2.0
// Who may run is who should: valid, on this core, not running, its context not elsewhere, and not
// waiting for a port that is empty. All who should may, at the latest when patience is over.

`include "formal.svh"

module prove_tasks #(
  parameter  int unsigned NumCores = 2,
  parameter  int unsigned NumTasks = 4,
  parameter  int unsigned NumPorts = 4,
  localparam int unsigned TaskW    = $clog2(NumTasks),
  localparam int unsigned PortW    = $clog2(NumPorts)
) (
  input logic                            clk_i,
  input logic                            set_i,
  input logic [TaskW-1:0]                task_i,
  input logic [31:0]                     config_i,
  input logic                            block_i,
  input logic                            exit_i,
  input logic [TaskW-1:0]                caller_i,
  input logic [PortW-1:0]                port_i,
  input logic                            pick_i,
  input logic                            pick_core_i,
  input logic [TaskW-1:0]                pick_task_i,
  input logic [NumPorts-1:0]             frozen_i,
  input logic [NumCores-1:0]             cur_valid_i,
  input logic [NumCores-1:0][TaskW-1:0]  cur_i,
  input logic [NumCores-1:0]             prev_valid_i,
  input logic [NumCores-1:0][TaskW-1:0]  prev_i,
  input logic [1:0]                      patience_i
);

  `RESET_ONCE

  localparam int unsigned PatienceWidth = 2;
  (* anyconst *) logic [TaskW-1:0]         one;
  (* anyconst *) logic                     core;

  logic [NumCores-1:0][NumTasks-1:0] allowed, eligible;
  logic [NumTasks-1:0][0:0]          prio;
  logic [31:0]                       config_now, state;
  logic                              in_use, retire, retired;

  hw_rtos_tasks #(
    .NumCores(NumCores), .NumTasks(NumTasks), .NumPorts(NumPorts), .PrioWidth(1),
    .PatienceWidth(PatienceWidth)
  ) dut (
    .clk_i, .rst_ni, .set_i, .task_i, .config_i, .in_use_o(in_use), .retire_o(retire),
    .config_o(config_now), .state_o(state), .block_i, .exit_i, .caller_i, .retired_o(retired),
    .port_i, .pick_i, .pick_core_i, .pick_task_i, .frozen_i, .patience_i, .cur_valid_i, .cur_i,
    .prev_valid_i, .prev_i, .allowed_o(allowed), .eligible_o(eligible), .prio_o(prio)
  );

  // What is known of task `one` from the commands.
  logic                valid_q = 1'b0, waiting_q = 1'b0, prefer_q = 1'b0, last_q = 1'b0;
  logic [NumCores-1:0] affinity_q = '0;
  logic [PortW-1:0]    port_q = '0;
  logic [4:0]          ready_for_q = '0;  // and the patience is the same
  logic [1:0]          patience_q = '0;
  logic                running, here, elsewhere, ready;
  logic [4:0]          longest;

  assign running   = (cur_valid_i[0] && cur_i[0] == one) || (cur_valid_i[1] && cur_i[1] == one);
  assign here      = prev_valid_i[core] && prev_i[core] == one;
  assign elsewhere = prev_valid_i[!core] && prev_i[!core] == one;
  // Two ticks, each a period and a cycle apart.
  assign longest   = 5'd2 * (5'(patience_q) + 5'd1);
  assign ready     = valid_q && !running && (!waiting_q || frozen_i[port_q]);

  always @(posedge clk_i) begin
    if (rst_ni && set_i && task_i == one) begin
      valid_q    <= config_i[0];
      prefer_q   <= config_i[1];
      affinity_q <= config_i[16+:NumCores];
      if (!valid_q) begin
        waiting_q <= 1'b0;
        last_q    <= 1'b0;
      end
    end
    if (rst_ni && block_i && caller_i == one) begin
      waiting_q <= 1'b1;
      port_q    <= port_i;
    end
    if (rst_ni && exit_i && caller_i == one) valid_q <= 1'b0;
    if (rst_ni && pick_i && pick_task_i == one) begin
      waiting_q <= 1'b0;
      last_q    <= pick_core_i;
    end
    patience_q <= patience_i;
    if (!rst_ni || !ready || patience_i != patience_q) ready_for_q <= '0;
    else if (ready_for_q != '1) ready_for_q <= ready_for_q + 5'd1;
  end

  `ASSUME(OneCommand, 32'(set_i) + 32'(block_i) + 32'(exit_i) <= 32'd1)
  `ASSUME(PicksWhoMayRun, !pick_i || eligible[pick_core_i][pick_task_i])
  `ASSUME(CallersRun, !(block_i || exit_i) || !pick_i || pick_task_i != caller_i)
  `ASSUME(ContextsApart, !(here && elsewhere))

  `ASSERT(OnlyWhoIsReady, !eligible[core][one] || ready)
  `ASSERT(OnlyWhereItMay, !eligible[core][one] || affinity_q[core])
  `ASSERT(NotWithoutItsContext, !eligible[core][one] || !elsewhere)
  `ASSERT(WhoeverShouldMay, !(ready && affinity_q[core] && !elsewhere
                              && (!prefer_q || last_q == core || ready_for_q > longest))
                            || eligible[core][one])
  `ASSERT(AllowedIsConfigured, allowed[core][one] == (valid_q && affinity_q[core]))
  `ASSERT(RetiredIsNotValid, caller_i != one || retired == !valid_q)
  `ASSERT(RetiresTheValid, retire == (set_i && !config_i[0] && config_now[0]))

endmodule
