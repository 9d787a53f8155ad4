// SPDX-License-Identifier: Apache-2.0
// The current task changes only when software gives it up; a context is kept until it is saved or
// goes on here; only who has something to run asks for the pick; a read of next_task ends.

`include "formal.svh"

module prove_sched #(
  parameter  int unsigned NumTasks  = 8,
  parameter  int unsigned PrioWidth = 1,
  localparam int unsigned TaskW     = $clog2(NumTasks)
) (
  input logic                               clk_i,
  input logic                               call_i,
  input logic                               saved_i,
  input logic                               next_wanted_i,
  input logic                               access_gnt_i,
  input logic [NumTasks-1:0]                eligible_i,
  input logic [NumTasks-1:0][PrioWidth-1:0] prio_i,
  input logic [NumTasks-1:0]                allowed_i,
  input logic                               by_prio_i,
  input logic                               by_slice_i,
  input logic [3:0]                         slice_i,
  input logic                               pick_gnt_i
);

  `RESET_ONCE

  logic             next_ready, pick_req, offer, cur_valid, prev_valid, irq, next_read;
  logic [TaskW-1:0] pick_task, cur, prev;

  hw_rtos_sched #(.NumTasks(NumTasks), .PrioWidth(PrioWidth), .SliceWidth(4)) dut (
    .clk_i, .rst_ni, .call_i, .next_read_i(next_read), .saved_i, .next_wanted_i,
    .next_ready_o(next_ready), .eligible_i, .prio_i, .allowed_i, .by_prio_i, .by_slice_i,
    .slice_i, .pick_req_o(pick_req), .pick_gnt_i, .pick_task_o(pick_task), .offer_o(offer),
    .cur_valid_o(cur_valid), .cur_o(cur), .prev_valid_o(prev_valid), .prev_o(prev), .irq_o(irq)
  );

  assign next_read = next_wanted_i && next_ready && access_gnt_i;

  logic             ran_q = 1'b0, left_q, offered_q = 1'b0, took_q = 1'b0;
  logic             unsaved_q = 1'b0, saved_q;
  logic [TaskW-1:0] cur_q, prev_q, picked_q;
  logic [2:0]       waited_q = '0;

  always @(posedge clk_i) begin
    ran_q     <= rst_ni && cur_valid;
    cur_q     <= cur;
    left_q    <= call_i || next_wanted_i;
    offered_q <= rst_ni && offer && !next_read;
    took_q    <= rst_ni && pick_gnt_i;
    picked_q  <= pick_task;
    unsaved_q <= rst_ni && prev_valid;
    prev_q    <= prev;
    saved_q   <= saved_i;
    if (!rst_ni || !next_wanted_i || next_ready) waited_q <= '0;
    else if (waited_q != '1 && !(pick_req && !pick_gnt_i)) waited_q <= waited_q + 3'd1;
  end

  // hw_rtos carries out one access in a cycle, and refuses calls that are out of order.
  `ASSUME(OneAccess, 32'(call_i) + 32'(saved_i) + 32'(next_wanted_i) <= 32'd1)
  `ASSUME(InOrder, !(call_i && cur_valid && (offer || prev_valid)))
  `ASSUME(AskedFor, !pick_gnt_i || pick_req)
  `ASSUME(NotTwice, !(cur_valid && eligible_i[cur]))

  `ASSERT(StaysUntilGivenUp, !ran_q || left_q || (cur_valid && cur == cur_q))
  `ASSERT(OfferStays, !offered_q || (offer && cur == cur_q))
  `ASSERT(TakesWhatItPicked, !took_q || (offer && cur == picked_q))
  `ASSERT(PicksWhoMayRun, !pick_req || eligible_i[pick_task])
  `ASSERT(ContextIsKept, !unsaved_q || saved_q || took_q || (prev_valid && prev == prev_q))
  `ASSERT(ContextIsKeptByAnother, !unsaved_q || saved_q || picked_q == prev_q
                                  || (prev_valid && prev == prev_q))
  `ASSERT(ReadEnds, waited_q <= 3'd2)
  `ASSERT(NoInterruptWithoutReason, !irq || cur_valid)

endmodule
