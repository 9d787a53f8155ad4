// SPDX-License-Identifier: Apache-2.0
// No message is lost or doubled: what a port accepted is received once, in order, word by word,
// unless its sender ended before it was whole. A message that is due is there. A sender is a task,
// and not its slot: what was sent before the slot was configured anew is of another one.

`include "formal.svh"

module prove_ports #(
  parameter  int unsigned WordsPerPort = 1,
  parameter  bit          InRam        = 1'b0,
  parameter  int unsigned Watched      = 0,  // of the bits of every word, which are alike
  localparam int unsigned NumPorts     = 2,
  localparam int unsigned NumTasks     = 2,
  localparam int unsigned Words        = 2 * WordsPerPort
) (
  input logic        clk_i,
  input logic        port_i,
  input logic        send_i,
  input logic        more_i,
  input logic        now_i,
  input logic        by_task_i,
  input logic        task_i,
  input logic        core_i,
  input logic [31:0] wdata_i,
  input logic        receive_i,
  input logic        set_i,
  input logic        set_now_i,
  input logic        release_i,
  input logic        discard_i,
  input logic        releaser_i,
  input logic        create_i  // a task in slot task_i
);

  `RESET_ONCE

  (* anyconst *) logic one;
  logic [NumTasks-1:0] exists_q = '0;  // the task in each slot
  rtos_pkg::status_e   status;
  logic [31:0]         rdata, state;
  logic                config_now;
  logic [NumPorts-1:0] frozen;

  hw_rtos_ports #(
    .NumCores(2), .NumTasks(NumTasks), .NumPorts(NumPorts), .WordsPerPort(WordsPerPort),
    .InRam(InRam)
  ) dut (
    .clk_i, .rst_ni, .port_i, .send_i, .more_i, .now_i, .by_task_i, .task_i,
    .retired_i(!exists_q[task_i]), .core_i, .wdata_i, .receive_i, .set_i, .set_now_i,
    .status_o(status), .rdata_o(rdata), .config_o(config_now), .state_o(state), .release_i,
    .discard_i, .releaser_i, .frozen_o(frozen)
  );

  // A queue of the words that port `one` has accepted: the oldest at 0, each with whether it is its
  // message's last. The message that is sent now begins at `whole_q`.
  logic [Words-1:0] bit_q, bit_d, last_q, last_d;
  logic [3:0]       count_q = '0, count_d, whole_q = '0, whole_d;
  logic             sender_task_q, sender_q, held_q = 1'b0, held_d, all_now_q = 1'b0;
  logic             ended_q = 1'b0;  // the task that sent last
  logic             accept, take, same, got_q = 1'b0, bit_got_q;

  assign accept = send_i && port_i == one && status == rtos_pkg::StatusOk;
  assign take   = receive_i && port_i == one && status == rtos_pkg::StatusOk;
  assign same   = sender_task_q && sender_q == releaser_i && !ended_q;

  always_comb begin
    bit_d   = bit_q;
    last_d  = last_q;
    count_d = count_q;
    whole_d = whole_q;
    held_d  = held_q;
    if (discard_i && same && count_q != whole_q) count_d = whole_q;
    if (release_i && same) held_d = 1'b0;
    if (take) begin
      bit_d   = bit_q >> 1;
      last_d  = last_q >> 1;
      count_d = count_q - 4'd1;
      whole_d = whole_q - 4'd1;
    end
    if (accept && 32'(count_q) < Words) begin
      bit_d[count_q]  = wdata_i[Watched];
      last_d[count_q] = !more_i;
      count_d         = count_q + 4'd1;
      if (!more_i) begin
        whole_d = count_d;
        held_d  = by_task_i && !now_i && !all_now_q;
      end
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      bit_q     <= bit_d;
      last_q    <= last_d;
      count_q   <= count_d;
      whole_q   <= whole_d;
      held_q    <= held_d;
      if (set_i && port_i == one) all_now_q <= set_now_i;
      if (accept) begin
        sender_task_q <= by_task_i;
        sender_q      <= by_task_i ? task_i : core_i;
        ended_q       <= by_task_i && !exists_q[task_i];
      end else if (discard_i && same) begin
        ended_q <= 1'b1;
      end
      if (create_i) exists_q[task_i] <= 1'b1;
      if (discard_i) exists_q[releaser_i] <= 1'b0;
    end
    got_q     <= rst_ni && take;
    bit_got_q <= bit_q[0];
  end

  logic [3:0] messages;  // that are whole

  always_comb begin
    messages = '0;
    for (int unsigned w = 0; w < Words; w++) begin
      if (4'(w) < whole_q) messages += 4'(last_q[w]);
    end
  end

  `ASSUME(OneCommand, 32'(send_i) + 32'(receive_i) + 32'(set_i) + 32'(release_i) + 32'(create_i)
                      <= 32'd1)
  `ASSUME(DiscardsWhatItReleases, !discard_i || release_i)

  `ASSERT(RoomForAll, !accept || 32'(count_q) < Words)
  `ASSERT(ReceivesWhatThereIs, !take || whole_q != '0)
  `ASSERT(OneSender, !accept || count_q == whole_q
                     || (by_task_i == sender_task_q && (by_task_i ? task_i : core_i) == sender_q
                         && !ended_q))
  `ASSERT(OnlyWhoExists, !accept || !by_task_i || exists_q[task_i])
  `ASSERT(KeptByWhoExists, !(held_q || count_q != whole_q) || !ended_q)
  `ASSERT(InOrder, !got_q || rdata[Watched] == bit_got_q)
  `ASSERT(DueIsThere, messages == '0 || (messages == 4'd1 && held_q) || frozen[one])
  `ASSERT(HeldIsNotThere, !frozen[one] || messages > 4'(held_q))
  `ASSERT(RefusedIsSaid, !(receive_i && port_i == one && !frozen[one])
                         || status == rtos_pkg::StatusEmpty)

endmodule
