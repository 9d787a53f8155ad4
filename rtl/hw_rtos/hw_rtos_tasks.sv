// SPDX-License-Identifier: Apache-2.0
// The table of tasks: slots, priorities, affinities, and the wait_port_list. From it, which tasks
// each core may pick.

`include "assert.svh"

module hw_rtos_tasks #(
  parameter  int unsigned NumCores      = 2,
  parameter  int unsigned NumTasks      = 16,
  parameter  int unsigned NumPorts      = 16,
  parameter  int unsigned PrioWidth     = 3,
  parameter  int unsigned PatienceWidth = 12,
  localparam int unsigned CoreW         = NumCores > 1 ? $clog2(NumCores) : 1,
  localparam int unsigned TaskW         = $clog2(NumTasks),
  localparam int unsigned PortW         = $clog2(NumPorts)
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // Commands.
  input  logic                               set_i,         // configures task_i
  input  logic [TaskW-1:0]                   task_i,
  input  logic [31:0]                        config_i,
  output logic                               in_use_o,      // task_i: a core still has its context
  output logic                               retire_o,      // set_i retires task_i
  output logic [31:0]                        config_o,      // of task_i
  output logic [31:0]                        state_o,       // of task_i
  input  logic                               block_i,       // caller_i waits for port_i
  input  logic                               exit_i,        // caller_i ends
  input  logic [TaskW-1:0]                   caller_i,
  output logic                               retired_o,     // caller_i ended, though it still runs
  input  logic [PortW-1:0]                   port_i,
  // What happens besides.
  input  logic                               pick_i,        // pick_core_i takes pick_task_i
  input  logic [CoreW-1:0]                   pick_core_i,
  input  logic [TaskW-1:0]                   pick_task_i,
  input  logic [NumPorts-1:0]                frozen_i,      // a message is in the receive buffer
  input  logic [PatienceWidth-1:0]           patience_i,
  input  logic [NumCores-1:0]                cur_valid_i,
  input  logic [NumCores-1:0][TaskW-1:0]     cur_i,
  input  logic [NumCores-1:0]                prev_valid_i,
  input  logic [NumCores-1:0][TaskW-1:0]     prev_i,
  output logic [NumCores-1:0][NumTasks-1:0]  allowed_o,     // valid, and with affinity to the core
  output logic [NumCores-1:0][NumTasks-1:0]  eligible_o,
  output logic [NumTasks-1:0][PrioWidth-1:0] prio_o
);

  // Two ticks of patience: the first may come at once, so the wait is between one and two periods.
  localparam logic [1:0] OldEnough = 2'd2;

  logic [NumTasks-1:0]                valid_q, valid_d, prefer_q, prefer_d, waiting_q, waiting_d;
  logic [NumTasks-1:0][PrioWidth-1:0] prio_q, prio_d;
  logic [NumTasks-1:0][NumCores-1:0]  affinity_q, affinity_d;
  logic [NumTasks-1:0][PortW-1:0]     port_q, port_d;  // the wait_port_list, with waiting_q
  logic [NumTasks-1:0][CoreW-1:0]     last_q, last_d;
  logic [NumTasks-1:0][1:0]           age_q, age_d;

  logic [NumTasks-1:0]                running, ready, open;
  logic [NumCores-1:0][NumTasks-1:0]  unsaved;
  logic [NumTasks-1:0]                unsaved_any;
  logic                               tick;

  // ---- Which tasks each core may pick --------------------------------------------------------

  always_comb begin
    running     = '0;
    unsaved     = '0;
    unsaved_any = '0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      for (int unsigned t = 0; t < NumTasks; t++) begin
        if (cur_valid_i[c] && 32'(cur_i[c]) == t) running[t] = 1'b1;
        if (prev_valid_i[c] && 32'(prev_i[c]) == t) begin
          unsaved[c][t]  = 1'b1;
          unsaved_any[t] = 1'b1;
        end
      end
    end
  end

  always_comb begin
    for (int unsigned t = 0; t < NumTasks; t++) begin
      ready[t] = valid_q[t] && !running[t] && (!waiting_q[t] || frozen_i[port_q[t]]);
      open[t]  = !prefer_q[t] || age_q[t] == OldEnough || patience_i == '0;
    end
  end

  // A context that is still in the registers of a core can go on only there.
  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      for (int unsigned t = 0; t < NumTasks; t++) begin
        allowed_o[c][t]  = valid_q[t] && affinity_q[t][c];
        eligible_o[c][t] = ready[t] && affinity_q[t][c] &&
                           (!unsaved_any[t] || unsaved[c][t]) &&
                           (open[t] || 32'(last_q[t]) == c);
      end
    end
  end

  // ---- What commands and picks change --------------------------------------------------------

  assign retired_o = !valid_q[caller_i];
  assign in_use_o = running[task_i] || unsaved_any[task_i];
  assign retire_o = set_i && valid_q[task_i] && !config_i[0];

  always_comb begin
    valid_d    = valid_q;
    prefer_d   = prefer_q;
    waiting_d  = waiting_q;
    prio_d     = prio_q;
    affinity_d = affinity_q;
    port_d     = port_q;
    last_d     = last_q;
    for (int unsigned t = 0; t < NumTasks; t++) begin
      if (set_i && 32'(task_i) == t) begin
        valid_d[t]    = config_i[0];
        prefer_d[t]   = config_i[1];
        prio_d[t]     = config_i[8+:PrioWidth];
        affinity_d[t] = config_i[16+:NumCores];
        if (!valid_q[t]) begin
          waiting_d[t] = 1'b0;
          last_d[t]    = '0;
        end
      end
      if (block_i && 32'(caller_i) == t) begin
        waiting_d[t] = 1'b1;
        port_d[t]    = port_i;
      end
      if (exit_i && 32'(caller_i) == t) valid_d[t] = 1'b0;
      if (pick_i && 32'(pick_task_i) == t) begin
        waiting_d[t] = 1'b0;
        last_d[t]    = pick_core_i;
      end
    end
  end

  always_comb begin
    for (int unsigned t = 0; t < NumTasks; t++) begin
      if (!ready[t])                          age_d[t] = 2'd0;
      else if (tick && age_q[t] != OldEnough) age_d[t] = age_q[t] + 2'd1;
      else                                    age_d[t] = age_q[t];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      waiting_q <= '0;
      age_q     <= '0;
    end else begin
      valid_q   <= valid_d;
      waiting_q <= waiting_d;
      age_q     <= age_d;
    end
  end

  // Without a reset: a slot that is not valid is not looked at, nor the port of who does not wait.
  always_ff @(posedge clk_i) begin
    prefer_q   <= prefer_d;
    prio_q     <= prio_d;
    affinity_q <= affinity_d;
    port_q     <= port_d;
    last_q     <= last_d;
  end

  // ---- Patience ------------------------------------------------------------------------------

  logic [PatienceWidth-1:0] patience_q, patience_d;

  assign tick       = patience_q == '0;
  // Of a patience that was shortened meanwhile no more is left than a period.
  assign patience_d = (tick || patience_q > patience_i) ? patience_i
                                                        : patience_q - PatienceWidth'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) patience_q <= '0;
    else         patience_q <= patience_d;
  end

  // ---- What software reads -------------------------------------------------------------------

  assign prio_o = prio_q;

  always_comb begin
    config_o   = '0;
    state_o    = '0;
    state_o[1] = running[task_i];
    state_o[3] = unsaved_any[task_i];
    if (valid_q[task_i]) begin
      config_o[0]            = 1'b1;
      config_o[1]            = prefer_q[task_i];
      config_o[8+:PrioWidth] = prio_q[task_i];
      config_o[16+:NumCores] = affinity_q[task_i];
      state_o[0]             = 1'b1;
      state_o[2]             = waiting_q[task_i];
      state_o[16+:CoreW]     = last_q[task_i];
      if (waiting_q[task_i]) state_o[8+:PortW] = port_q[task_i];
    end
  end

  logic unused_config;
  assign unused_config = ^config_i;

  `ASSERT_KNOWN(SlotKnown, {in_use_o, retire_o, config_o, state_o, retired_o})
  `ASSERT_KNOWN(EligibleKnown, {allowed_o, eligible_o})
  for (genvar t = 0; t < int'(NumTasks); t++) begin : gen_known
    `ASSERT_KNOWN_IF(ConfigKnown, {prio_o[t], prefer_q[t], affinity_q[t], last_q[t]}, valid_q[t])
    `ASSERT_KNOWN_IF(PortKnown, port_q[t], waiting_q[t])
  end

endmodule
