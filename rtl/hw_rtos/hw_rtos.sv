// SPDX-License-Identifier: Apache-2.0
// The hardware RTOS: a scheduling module for each core, and one data handling module for all.
//
// Each core has a port of its own with the protocol of Ibex's load and store unit. One access is
// carried out per cycle; an arbiter takes turns among cores. A read of next_task waits (gnt_o low)
// until the next task is known.

`include "assert.svh"

module hw_rtos #(
  parameter  int unsigned NumCores      = 2,     // 1 to 4
  parameter  int unsigned NumTasks      = 16,    // 8 to 64
  parameter  int unsigned NumPorts      = 16,    // 8 to 64
  parameter  int unsigned WordsPerPort  = 1,     // of one message, 1 to 16
  parameter  bit          BuffersInRam  = 1'b0,
  parameter  int unsigned PrioWidth     = 3,     // 1 to 8
  parameter  int unsigned SliceWidth    = 20,    // 1 to 32
  parameter  int unsigned PatienceWidth = 12,    // 1 to 32
  localparam int unsigned TaskW         = $clog2(NumTasks)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // One port for each core.
  input  logic [NumCores-1:0]            req_i,
  output logic [NumCores-1:0]            gnt_o,     // in the cycle of req_i; low: wait
  input  logic [NumCores-1:0]            we_i,
  input  logic [NumCores-1:0][3:0]       be_i,
  input  logic [NumCores-1:0][11:0]      addr_i,
  input  logic [NumCores-1:0][31:0]      wdata_i,
  output logic [NumCores-1:0]            rvalid_o,  // one cycle after gnt_o
  output logic [NumCores-1:0][31:0]      rdata_o,
  output logic [NumCores-1:0]            err_o,     // no such register
  // There is something else for this core to run, until it reads next_task.
  output logic [NumCores-1:0]            irq_o,
  // What each core runs, and when its scheduling module takes a task, for traces.
  output logic [NumCores-1:0]            chose_o,
  output logic [NumCores-1:0]            running_o,
  output logic [NumCores-1:0][TaskW-1:0] task_o
);

  `REQUIRE_RANGE(NumCores, 1, 4)
  `REQUIRE_RANGE(NumTasks, 8, 64)
  `REQUIRE_RANGE(NumPorts, 8, 64)
  `REQUIRE_RANGE(WordsPerPort, 1, 16)
  `REQUIRE_RANGE(PrioWidth, 1, 8)
  `REQUIRE_RANGE(SliceWidth, 1, 32)
  `REQUIRE_RANGE(PatienceWidth, 1, 32)

  localparam int unsigned CoreW = NumCores > 1 ? $clog2(NumCores) : 1;
  localparam int unsigned PortW = $clog2(NumPorts);

  // ---- One access per cycle ------------------------------------------------------------------

  logic [NumCores-1:0] next_wanted, next_ready, ask, gnt;
  logic [CoreW-1:0]    core;
  logic                granted, we;
  logic [3:0]          be;
  logic [11:0]         addr;
  logic [31:0]         wdata;

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      next_wanted[c] = req_i[c] && !we_i[c] && addr_i[c] == rtos_pkg::RegNextTask;
      ask[c]         = req_i[c] && (!next_wanted[c] || next_ready[c]);
    end
  end

  fair_arbiter #(
    .NumReqs(NumCores)
  ) u_access (
    .clk_i,
    .rst_ni,
    .req_i(ask),
    .gnt_o(gnt)
  );

  assign gnt_o   = gnt;
  assign granted = gnt != '0;

  always_comb begin
    core  = '0;
    we    = 1'b0;
    be    = '0;
    addr  = '0;
    wdata = '0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (gnt[c]) begin
        core  = CoreW'(c);
        we    = we_i[c];
        be    = be_i[c];
        addr  = addr_i[c];
        wdata = wdata_i[c];
      end
    end
  end

  rtos_pkg::op_e op;
  logic [5:0]    index;
  logic          bad_port, bad_task, good;

  hw_rtos_decode #(
    .NumTasks(NumTasks),
    .NumPorts(NumPorts)
  ) u_decode (
    .addr_i    (addr),
    .we_i      (we),
    .be_i      (be),
    .op_o      (op),
    .index_o   (index),
    .bad_port_o(bad_port),
    .bad_task_o(bad_task)
  );

  assign good = granted && !bad_port && !bad_task;

  // ---- Registers -----------------------------------------------------------------------------

  logic [NumCores-1:0]              called;  // an accepted call
  logic [NumCores-1:0]              by_prio_q, by_prio_d, by_slice_q, by_slice_d;
  logic [NumCores-1:0]              wait_valid_q, wait_valid_d;
  logic [NumCores-1:0][PortW-1:0]   wait_port_q, wait_port_d;
  rtos_pkg::status_e [NumCores-1:0] status_q, status_d;
  logic [SliceWidth-1:0]            slice_q, slice_d;
  logic [PatienceWidth-1:0]         patience_q, patience_d;
  logic                             wait_ok;
  rtos_pkg::call_e                  call;

  assign call    = rtos_pkg::call_e'(wdata[1:0]);
  assign wait_ok = wdata < NumPorts;

  always_comb begin
    by_prio_d    = by_prio_q;
    by_slice_d   = by_slice_q;
    wait_valid_d = wait_valid_q;
    wait_port_d  = wait_port_q;
    slice_d      = slice_q;
    patience_d   = patience_q;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (gnt[c] && op == rtos_pkg::OpWaitPort) begin
        wait_valid_d[c] = wait_ok;
        wait_port_d[c]  = wdata[PortW-1:0];
      end
      if (called[c]) wait_valid_d[c] = 1'b0;
      if (gnt[c] && op == rtos_pkg::OpSetControl) begin
        by_prio_d[c]  = wdata[0];
        by_slice_d[c] = wdata[1];
      end
    end
    if (granted && op == rtos_pkg::OpSetSlice) slice_d = wdata[SliceWidth-1:0];
    if (granted && op == rtos_pkg::OpSetPatience) patience_d = wdata[PatienceWidth-1:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      by_prio_q    <= '0;
      by_slice_q   <= '0;
      wait_valid_q <= '0;
      status_q     <= {NumCores{rtos_pkg::StatusOk}};
      slice_q      <= '0;
      patience_q   <= '0;
    end else begin
      by_prio_q    <= by_prio_d;
      by_slice_q   <= by_slice_d;
      wait_valid_q <= wait_valid_d;
      status_q     <= status_d;
      slice_q      <= slice_d;
      patience_q   <= patience_d;
    end
  end

  // Without a reset: only a port that was written since is waited for.
  always_ff @(posedge clk_i) wait_port_q <= wait_port_d;

  // ---- Scheduling modules --------------------------------------------------------------------

  logic [NumCores-1:0]                next_read, saved, pick_req, pick_gnt, offer;
  logic [NumCores-1:0]                cur_valid, prev_valid;
  logic [NumCores-1:0][TaskW-1:0]     pick_task, cur, prev;
  logic [NumCores-1:0][NumTasks-1:0]  allowed, eligible;
  logic [NumTasks-1:0][PrioWidth-1:0] prio;
  logic                               call_ok, leaves;
  rtos_pkg::status_e                  call_status;

  // Without a task a call only asks for one.
  assign leaves = cur_valid[core];

  always_comb begin
    call_status = rtos_pkg::StatusOk;
    if (leaves && (offer[core] || prev_valid[core])) call_status = rtos_pkg::StatusOrder;
    else if (leaves && call == rtos_pkg::CallBlock && !wait_valid_q[core]) begin
      call_status = rtos_pkg::StatusBadPort;
    end
  end

  assign call_ok = granted && op == rtos_pkg::OpCall && call_status == rtos_pkg::StatusOk;

  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_sched
    assign called[c]    = call_ok && gnt[c];
    assign next_read[c] = granted && op == rtos_pkg::OpNextTask && gnt[c];
    assign saved[c]     = granted && op == rtos_pkg::OpSaved && gnt[c];

    hw_rtos_sched #(
      .NumTasks  (NumTasks),
      .PrioWidth (PrioWidth),
      .SliceWidth(SliceWidth)
    ) u_sched (
      .clk_i,
      .rst_ni,
      .call_i       (called[c]),
      .next_read_i  (next_read[c]),
      .saved_i      (saved[c]),
      .next_wanted_i(next_wanted[c]),
      .next_ready_o (next_ready[c]),
      .eligible_i   (eligible[c]),
      .prio_i       (prio),
      .allowed_i    (allowed[c]),
      .by_prio_i    (by_prio_q[c]),
      .by_slice_i   (by_slice_q[c]),
      .slice_i      (slice_q),
      .pick_req_o   (pick_req[c]),
      .pick_gnt_i   (pick_gnt[c]),
      .pick_task_o  (pick_task[c]),
      .offer_o      (offer[c]),
      .cur_valid_o  (cur_valid[c]),
      .cur_o        (cur[c]),
      .prev_valid_o (prev_valid[c]),
      .prev_o       (prev[c]),
      .irq_o        (irq_o[c])
    );
  end

  // One core takes a task in a cycle, so no two take the same.
  fair_arbiter #(
    .NumReqs(NumCores)
  ) u_pick (
    .clk_i,
    .rst_ni,
    .req_i(pick_req),
    .gnt_o(pick_gnt)
  );

  logic [CoreW-1:0] picking;
  logic [TaskW-1:0] picked;

  always_comb begin
    picking = '0;
    picked  = '0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (pick_gnt[c]) begin
        picking = CoreW'(c);
        picked  = pick_task[c];
      end
    end
  end

  // ---- Tasks and ports -----------------------------------------------------------------------

  logic [NumPorts-1:0] frozen;
  logic                set_task, in_use, retire, retired, gives_up, ends, config_now;
  logic [31:0]         task_config, task_state, port_state, received;
  rtos_pkg::status_e             port_status;

  // A slot is not used again while a core has the stack of the task before.
  assign set_task = good && op == rtos_pkg::OpSetTaskConfig &&
                    !(in_use && wdata[0] && !task_config[0]);

  hw_rtos_tasks #(
    .NumCores     (NumCores),
    .NumTasks     (NumTasks),
    .NumPorts     (NumPorts),
    .PrioWidth    (PrioWidth),
    .PatienceWidth(PatienceWidth)
  ) u_tasks (
    .clk_i,
    .rst_ni,
    .set_i       (set_task),
    .task_i      (index[TaskW-1:0]),
    .config_i    (wdata),
    .in_use_o    (in_use),
    .retire_o    (retire),
    .config_o    (task_config),
    .state_o     (task_state),
    .block_i     (call_ok && leaves && call == rtos_pkg::CallBlock),
    .exit_i      (call_ok && leaves && call == rtos_pkg::CallExit),
    .caller_i    (cur[core]),
    .retired_o   (retired),
    .port_i      (wait_port_q[core]),
    .pick_i      (pick_gnt != '0),
    .pick_core_i (picking),
    .pick_task_i (picked),
    .frozen_i    (frozen),
    .patience_i  (patience_q),
    .cur_valid_i (cur_valid),
    .cur_i       (cur),
    .prev_valid_i(prev_valid),
    .prev_i      (prev),
    .allowed_o   (allowed),
    .eligible_o  (eligible),
    .prio_o      (prio)
  );

  // A task that is interrupted keeps what it has sent: it did not decide to stop here.
  assign gives_up = call_ok && leaves && call != rtos_pkg::CallPreempt;
  assign ends     = call_ok && leaves && call == rtos_pkg::CallExit;

  // Bit 8 of the address: other words follow; bit 9: by no task.
  hw_rtos_ports #(
    .NumCores    (NumCores),
    .NumTasks    (NumTasks),
    .NumPorts    (NumPorts),
    .WordsPerPort(WordsPerPort),
    .InRam       (BuffersInRam)
  ) u_ports (
    .clk_i,
    .rst_ni,
    .port_i    (index[PortW-1:0]),
    .send_i    (good && op == rtos_pkg::OpSend),
    .more_i    (addr[8]),
    .now_i     (addr[9]),
    .by_task_i (!addr[9] && cur_valid[core]),
    .task_i    (cur[core]),
    .retired_i (retired),
    .core_i    (core),
    .wdata_i   (wdata),
    .receive_i (good && op == rtos_pkg::OpReceive),
    .set_i     (good && op == rtos_pkg::OpSetPortConfig),
    .set_now_i (wdata[0]),
    .status_o  (port_status),
    .rdata_o   (received),
    .config_o  (config_now),
    .state_o   (port_state),
    .release_i (gives_up || retire),
    .discard_i (ends || retire),
    .releaser_i(retire ? index[TaskW-1:0] : cur[core]),
    .frozen_o  (frozen)
  );

  // ---- Status, and what is counted -----------------------------------------------------------

  rtos_pkg::status_e status;
  logic    commands;  // an operation that says how it went

  always_comb begin
    status   = rtos_pkg::StatusOk;
    commands = granted;
    unique case (op)
      rtos_pkg::OpCall:     status = call_status;
      rtos_pkg::OpWaitPort: if (!wait_ok) status = rtos_pkg::StatusBadPort;
      rtos_pkg::OpSaved:    if (!prev_valid[core]) status = rtos_pkg::StatusNoTask;
      rtos_pkg::OpSetTaskConfig, rtos_pkg::OpTaskConfig, rtos_pkg::OpTaskState: begin
        if (bad_task) status = rtos_pkg::StatusBadTask;
        else if (op == rtos_pkg::OpSetTaskConfig && !set_task) status = rtos_pkg::StatusBusy;
      end
      rtos_pkg::OpSend, rtos_pkg::OpReceive, rtos_pkg::OpPortConfig, rtos_pkg::OpSetPortConfig,
      rtos_pkg::OpPortState: begin
        status = bad_port ? rtos_pkg::StatusBadPort : port_status;
      end
      default: commands = 1'b0;
    endcase
  end

  always_comb begin
    status_d = status_q;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (commands && gnt[c]) status_d[c] = status;
    end
  end

  logic [31:0] errors;

  hw_rtos_errors u_errors (
    .clk_i,
    .rst_ni,
    .clear_i (granted && op == rtos_pkg::OpClearErrors),
    .valid_i (commands),
    .status_i(status),
    .errors_o(errors)
  );

  // ---- The answer, one cycle later -----------------------------------------------------------

  logic [31:0]         info, answer_d, answer_q;
  logic [NumCores-1:0] rvalid_q;
  logic                receive_q, bad_q;

  assign info = {8'(WordsPerPort), 8'(NumPorts), 8'(NumTasks), 8'(NumCores)};

  always_comb begin
    answer_d = '0;
    unique case (op)
      rtos_pkg::OpNextTask, rtos_pkg::OpCurrent: begin
        answer_d[rtos_pkg::NoTaskBit] = !cur_valid[core];
        answer_d[TaskW-1:0]           = cur_valid[core] ? cur[core] : '0;
      end
      rtos_pkg::OpStatus:     answer_d = 32'(status_q[core]);
      rtos_pkg::OpErrors:     answer_d = errors;
      rtos_pkg::OpControl:    answer_d = 32'({by_slice_q[core], by_prio_q[core]});
      rtos_pkg::OpSlice:      answer_d = 32'(slice_q);
      rtos_pkg::OpPatience:   answer_d = 32'(patience_q);
      rtos_pkg::OpInfo:       answer_d = info;
      rtos_pkg::OpTaskConfig: answer_d = bad_task ? '0 : task_config;
      rtos_pkg::OpTaskState:  answer_d = bad_task ? '0 : task_state;
      rtos_pkg::OpPortConfig: answer_d = bad_port ? '0 : 32'(config_now);
      rtos_pkg::OpPortState:  answer_d = bad_port ? '0 : port_state;
      default:      answer_d = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q  <= '0;
      receive_q <= 1'b0;
      bad_q     <= 1'b0;
    end else begin
      rvalid_q  <= gnt;
      receive_q <= good && op == rtos_pkg::OpReceive && port_status == rtos_pkg::StatusOk;
      bad_q     <= granted && op == rtos_pkg::OpBad;
    end
  end

  always_ff @(posedge clk_i) answer_q <= answer_d;

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      rvalid_o[c] = rvalid_q[c];
      rdata_o[c]  = receive_q ? received : answer_q;
      err_o[c]    = rvalid_q[c] && bad_q;
    end
  end

  // Who has few tasks or ports needs few bits of the index, which is checked whole.
  logic unused_index;
  assign unused_index = ^index;

  assign chose_o   = pick_gnt;
  assign running_o = cur_valid;
  assign task_o    = cur;

  // ---- What always holds ---------------------------------------------------------------------

`ifdef RTL_ASSERTIONS
  logic two_owners, stolen, two_contexts, starved;

  always_comb begin
    two_owners   = 1'b0;
    stolen       = 1'b0;
    two_contexts = 1'b0;
    for (int unsigned i = 0; i < NumCores; i++) begin
      for (int unsigned j = 0; j < NumCores; j++) begin
        if (i != j) begin
          two_owners   |= cur_valid[i] && cur_valid[j] && cur[i] == cur[j];
          stolen       |= cur_valid[i] && prev_valid[j] && cur[i] == prev[j];
          two_contexts |= prev_valid[i] && prev_valid[j] && prev[i] == prev[j];
        end
      end
    end
    starved = pick_req != '0 && pick_gnt == '0;
  end

  `ASSERT(OneOwner, !two_owners)
  `ASSERT(ContextIsSavedFirst, !stolen)
  `ASSERT(OneContext, !two_contexts)
  `ASSERT(SomebodyPicks, !starved)
  `ASSERT(OneAccess, (gnt & (gnt - NumCores'(1))) == '0)
`endif

  // A word that is received is the one that was sent: so hw_rtos_ports is proved.
  `ASSERT_KNOWN(GrantKnown, gnt_o)
  `ASSERT_KNOWN(ValidKnown, {rvalid_o, err_o})
  `ASSERT_KNOWN(IrqKnown, irq_o)
  `ASSERT_KNOWN(TaskKnown, {chose_o, running_o, task_o})
  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_known
    `ASSERT_KNOWN_IF(DataKnown, rdata_o[c], rvalid_o[c] && !receive_q)
    `ASSERT_KNOWN_IF(WaitPortKnown, wait_port_q[c], wait_valid_q[c])
  end

endmodule
