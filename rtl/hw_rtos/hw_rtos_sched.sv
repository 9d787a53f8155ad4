// SPDX-License-Identifier: Apache-2.0
// The scheduling module of one core: call_rtos, next_task, the task that runs, and the one whose
// context is not saved yet.
//
// The current task changes only when software gives it up, by a call or by reading next_task in the
// interrupt. Until then everything the core sends is that task's, however long the interrupt waits.

`include "assert.svh"

module hw_rtos_sched #(
  parameter  int unsigned NumTasks   = 16,
  parameter  int unsigned PrioWidth  = 3,
  parameter  int unsigned SliceWidth = 20,
  localparam int unsigned TaskW      = $clog2(NumTasks)
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // What the core does; at most one of the first three in a cycle.
  input  logic                               call_i,        // an accepted call
  input  logic                               next_read_i,   // next_task is read
  input  logic                               saved_i,
  input  logic                               next_wanted_i, // asks for next_task, granted or not
  output logic                               next_ready_o,  // it may be granted
  // What it may run.
  input  logic [NumTasks-1:0]                eligible_i,
  input  logic [NumTasks-1:0][PrioWidth-1:0] prio_i,
  input  logic [NumTasks-1:0]                allowed_i,     // valid, and with affinity to this core
  input  logic                               by_prio_i,     // a more urgent task interrupts
  input  logic                               by_slice_i,    // so does an equal one after the slice
  input  logic [SliceWidth-1:0]              slice_i,
  // The pick: one core at a time.
  output logic                               pick_req_o,
  input  logic                               pick_gnt_i,
  output logic [TaskW-1:0]                   pick_task_o,
  // What it runs.
  output logic                               offer_o,       // next_task has not been read yet
  output logic                               cur_valid_o,
  output logic [TaskW-1:0]                   cur_o,
  output logic                               prev_valid_o,  // a context that is not saved
  output logic [TaskW-1:0]                   prev_o,
  output logic                               irq_o
);

  typedef enum logic [1:0] {
    StHalt,   // after reset, until the first call
    StPick,   // without a task; takes one as soon as there is one
    StOffer,  // has a task that software has not read yet
    StRun
  } state_e;

  state_e               state_q, state_d;
  logic [TaskW-1:0]     cur_q, cur_d, prev_q, prev_d;
  logic                 prev_valid_q, prev_valid_d;
  logic                 idle_q, idle_d;  // software knows that there is nothing, and may sleep
  logic                 due_q, due_d;
  logic                 any, over, leave;
  logic [PrioWidth-1:0] best_prio, cur_prio;

  hw_rtos_select #(
    .NumTasks (NumTasks),
    .PrioWidth(PrioWidth)
  ) u_select (
    .eligible_i,
    .prio_i,
    .last_i(cur_q),
    .any_o (any),
    .task_o(pick_task_o),
    .prio_o(best_prio)
  );

  hw_rtos_slice #(
    .Width(SliceWidth)
  ) u_slice (
    .clk_i,
    .rst_ni,
    .start_i (state_q == StOffer),
    .length_i(slice_i),
    .over_o  (over)
  );

  assign cur_prio = prio_i[cur_q];

  // A task whose context is not saved yet cannot be followed by a second one.
  assign due_d = state_q == StRun && !prev_valid_q &&
                 (!allowed_i[cur_q] ||
                  (any && by_prio_i && best_prio > cur_prio) ||
                  (any && by_slice_i && over && best_prio >= cur_prio));

  // A read of next_task while the interrupt is due is its acknowledgement.
  assign leave = state_q == StRun && (call_i || (next_wanted_i && due_q));

  // Without a task there is no request: an idle core would keep the pick from the others.
  assign pick_req_o   = state_q == StPick && any;
  assign next_ready_o = !pick_req_o && !(state_q == StRun && due_q);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StHalt:  if (call_i) state_d = StPick;
      StPick:  if (pick_gnt_i) state_d = StOffer;
      StOffer: if (next_read_i) state_d = StRun;
      StRun:   if (leave) state_d = StPick;
      default: state_d = StHalt;
    endcase
  end

  always_comb begin
    cur_d        = cur_q;
    prev_d       = prev_q;
    prev_valid_d = prev_valid_q;
    if (saved_i) prev_valid_d = 1'b0;
    if (leave) begin
      prev_d       = cur_q;
      prev_valid_d = 1'b1;
    end
    if (pick_gnt_i) begin
      cur_d = pick_task_o;
      // It goes on where it was: nothing to save, nothing to restore.
      if (pick_task_o == prev_q) prev_valid_d = 1'b0;
    end
  end

  assign idle_d = next_read_i ? state_q == StPick || state_q == StHalt : idle_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StHalt;
      cur_q        <= '0;
      prev_valid_q <= 1'b0;
      idle_q       <= 1'b0;
      due_q        <= 1'b0;
    end else begin
      state_q      <= state_d;
      cur_q        <= cur_d;
      prev_valid_q <= prev_valid_d;
      idle_q       <= idle_d;
      due_q        <= due_d;
    end
  end

  // Without a reset: it is looked at where it is valid.
  always_ff @(posedge clk_i) prev_q <= prev_d;

  assign offer_o      = state_q == StOffer;
  assign cur_valid_o  = state_q == StOffer || state_q == StRun;
  assign cur_o        = cur_q;
  assign prev_valid_o = prev_valid_q;
  assign prev_o       = prev_q;
  assign irq_o        = (state_q == StOffer && idle_q) || (state_q == StRun && due_q);

  `ASSERT(AsksForSomething, !pick_req_o || eligible_i != '0)
  `ASSERT(PickIsAsked, !pick_gnt_i || pick_req_o)
  `ASSERT(OwnContextIsNoOther, !(cur_valid_o && prev_valid_o && cur_o == prev_o))

  `ASSERT_KNOWN(NextReadyKnown, next_ready_o)
  `ASSERT_KNOWN(PickKnown, {pick_req_o, pick_task_o})
  `ASSERT_KNOWN(OfferKnown, offer_o)
  `ASSERT_KNOWN(CurKnown, {cur_valid_o, cur_o})
  `ASSERT_KNOWN_IF(PrevKnown, prev_o, prev_valid_o)
  `ASSERT_KNOWN(IrqKnown, irq_o)

endmodule
