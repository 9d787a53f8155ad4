// SPDX-License-Identifier: Apache-2.0
// The data handling module: a send and a receive buffer for each port, and whether they hold an
// event (active, frozen).
//
// A message waits in the send buffer until its sender blocks, unless it is to be visible at once.
// Then it moves to the receive buffer, as soon as that is empty: the two buffers change roles, no
// word is copied. Nothing is ever overwritten: where the send buffer is in use, a send is refused.
//
// A sender is a task, not its slot: one that was retired while it runs sends nothing any more. All
// that a slot has sent is therefore of one task, and goes when that task ends.

`include "assert.svh"

module hw_rtos_ports #(
  parameter  int unsigned NumCores     = 2,
  parameter  int unsigned NumTasks     = 16,
  parameter  int unsigned NumPorts     = 16,
  parameter  int unsigned WordsPerPort = 1,
  parameter  bit          InRam        = 1'b0,
  localparam int unsigned CoreW        = NumCores > 1 ? $clog2(NumCores) : 1,
  localparam int unsigned TaskW        = $clog2(NumTasks),
  localparam int unsigned PortW        = $clog2(NumPorts),
  // Who is no task is the sender of unfinished messages only, which are of several words.
  localparam int unsigned IdW          = WordsPerPort > 1 && CoreW > TaskW ? CoreW : TaskW,
  localparam int unsigned SenderW      = WordsPerPort > 1 ? IdW + 1 : IdW
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Commands on port_i, at most one in a cycle.
  input  logic [PortW-1:0]       port_i,
  input  logic                   send_i,
  input  logic                   more_i,     // other words follow
  input  logic                   now_i,      // visible at once
  input  logic                   by_task_i,  // task_i sends; otherwise whatever runs on core_i
  input  logic [TaskW-1:0]       task_i,
  input  logic                   retired_i,  // so is task_i
  input  logic [CoreW-1:0]       core_i,
  input  logic [31:0]            wdata_i,
  input  logic                   receive_i,
  input  logic                   set_i,      // sets whether all sends are visible at once
  input  logic                   set_now_i,
  output rtos_pkg::status_e      status_o,   // of send_i or receive_i
  output logic [31:0]            rdata_o,    // one cycle after receive_i
  output logic                   config_o,   // of port_i
  output logic [31:0]            state_o,    // of port_i
  // A task gives up the processor, or ends.
  input  logic                   release_i,  // what releaser_i has sent becomes visible
  input  logic                   discard_i,  // and what it has not finished is dropped
  input  logic [TaskW-1:0]       releaser_i,
  output logic [NumPorts-1:0]    frozen_o    // a message is in the receive buffer
);

  localparam int unsigned LenW  = $clog2(WordsPerPort + 1);
  localparam int unsigned AddrW = $clog2(NumPorts * 2 * WordsPerPort);

  rtos_pkg::send_e [NumPorts-1:0]   send_q, send_d;
  logic [NumPorts-1:0][SenderW-1:0] sender_q, sender_d;
  logic [NumPorts-1:0]              frozen_q, frozen_d, bank_q, bank_d, now_q, now_d;
  logic [NumPorts-1:0][LenW-1:0]    written_q, written_d;  // words in the send buffer
  logic [NumPorts-1:0][LenW-1:0]    left_q, left_d;        // words in the receive buffer
  logic [NumPorts-1:0][LenW-1:0]    read_q, read_d;        // words of it that are received

  logic [SenderW-1:0] sender, releaser;
  logic [LenW-1:0]    written, left, already_read;
  logic               free, mine, room, gone, accept, last, take;

  // ---- The command ---------------------------------------------------------------------------

  // Who is no task is known by its core.
  assign sender   = SenderW'(by_task_i || WordsPerPort == 1 ? {1'b0, IdW'(task_i)}
                                                            : {1'b1, IdW'(core_i)});
  assign releaser = SenderW'({1'b0, IdW'(releaser_i)});

  assign written      = WordsPerPort > 1 ? written_q[port_i] : '0;
  assign left         = WordsPerPort > 1 ? left_q[port_i] : LenW'(1);
  assign already_read = WordsPerPort > 1 ? read_q[port_i] : '0;

  // A message of several words is its sender's until it is whole: nobody's words mix with it.
  assign free   = send_q[port_i] == rtos_pkg::SendEmpty;
  assign mine   = WordsPerPort > 1 && send_q[port_i] == rtos_pkg::SendOpen &&
                  sender_q[port_i] == sender;
  assign room   = !more_i || (WordsPerPort > 1 && 32'(written) + 32'd1 < WordsPerPort);
  assign gone   = by_task_i && retired_i;
  assign accept = send_i && !gone && (free || mine) && room;
  assign take   = receive_i && frozen_q[port_i];
  assign last   = left == LenW'(1);

  always_comb begin
    status_o = rtos_pkg::StatusOk;
    if (send_i && gone) begin
      status_o = rtos_pkg::StatusNoTask;
    end else if (send_i && !free && !mine) begin
      status_o = send_q[port_i] == rtos_pkg::SendOpen ? rtos_pkg::StatusBusy : rtos_pkg::StatusFull;
    end else if (send_i && !room) begin
      status_o = rtos_pkg::StatusTooLong;
    end else if (receive_i && !frozen_q[port_i]) begin
      status_o = rtos_pkg::StatusEmpty;
    end
  end

  // ---- The ports -----------------------------------------------------------------------------

  always_comb begin
    send_d    = send_q;
    sender_d  = sender_q;
    frozen_d  = frozen_q;
    bank_d    = bank_q;
    now_d     = now_q;
    written_d = written_q;
    left_d    = left_q;
    read_d    = read_q;
    for (int unsigned p = 0; p < NumPorts; p++) begin
      if (32'(port_i) == p) begin
        if (set_i) now_d[p] = set_now_i;
        if (take) begin
          left_d[p] = left_q[p] - LenW'(1);
          read_d[p] = read_q[p] + LenW'(1);
          if (last) frozen_d[p] = 1'b0;
        end
        if (accept) begin
          sender_d[p]  = sender;
          written_d[p] = written_q[p] + LenW'(1);
          if (more_i)                                send_d[p] = rtos_pkg::SendOpen;
          else if (now_i || now_q[p] || !by_task_i)  send_d[p] = rtos_pkg::SendDue;
          else                                       send_d[p] = rtos_pkg::SendHeld;
        end
      end
      if (sender_q[p] == releaser) begin
        if (release_i && send_q[p] == rtos_pkg::SendHeld) send_d[p] = rtos_pkg::SendDue;
        if (WordsPerPort > 1 && discard_i && send_q[p] == rtos_pkg::SendOpen) begin
          send_d[p]    = rtos_pkg::SendEmpty;
          written_d[p] = '0;
        end
      end
      // Whoever waits for this port is eligible in the next cycle.
      if (send_d[p] == rtos_pkg::SendDue && !frozen_d[p]) begin
        send_d[p]    = rtos_pkg::SendEmpty;
        frozen_d[p]  = 1'b1;
        bank_d[p]    = !bank_q[p];
        left_d[p]    = written_d[p];
        read_d[p]    = '0;
        written_d[p] = '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      send_q   <= {NumPorts{rtos_pkg::SendEmpty}};
      frozen_q <= '0;
      bank_q   <= '0;
      now_q    <= '0;
    end else begin
      send_q   <= send_d;
      frozen_q <= frozen_d;
      bank_q   <= bank_d;
      now_q    <= now_d;
    end
  end

  // Without a reset: a send buffer that is empty has no sender.
  always_ff @(posedge clk_i) sender_q <= sender_d;

  // Messages of one word need no lengths.
  if (WordsPerPort > 1) begin : gen_lengths
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        written_q <= '0;
        left_q    <= '0;
        read_q    <= '0;
      end else begin
        written_q <= written_d;
        left_q    <= left_d;
        read_q    <= read_d;
      end
    end
  end else begin : gen_no_lengths
    assign written_q = '0;
    assign left_q    = '0;
    assign read_q    = '0;

    logic unused_lengths;
    assign unused_lengths = ^{left_d, read_d, written_d};
  end

  // ---- The buffers ---------------------------------------------------------------------------

  logic [AddrW-1:0] waddr, raddr;

  // bank_q says which of a port's two buffers is the receive buffer.
  assign waddr = AddrW'((32'(port_i) * 2 + 32'(!bank_q[port_i])) * WordsPerPort + 32'(written));
  assign raddr = AddrW'((32'(port_i) * 2 + 32'(bank_q[port_i])) * WordsPerPort + 32'(already_read));

  hw_rtos_buffer #(
    .NumWords(NumPorts * 2 * WordsPerPort),
    .InRam   (InRam)
  ) u_buffer (
    .clk_i,
    .we_i   (accept),
    .waddr_i(waddr),
    .wdata_i,
    .re_i   (take),
    .raddr_i(raddr),
    .rdata_o
  );

  // ---- What software reads -------------------------------------------------------------------

  assign frozen_o = frozen_q;
  assign config_o = now_q[port_i];

  always_comb begin
    state_o      = '0;
    state_o[1:0] = send_q[port_i];
    state_o[2]   = frozen_q[port_i];
    if (frozen_q[port_i]) state_o[8+:LenW] = left;
  end

  `ASSERT(NothingIsOverwritten, !accept || send_q[port_i] == rtos_pkg::SendEmpty || mine)
  `ASSERT(OneCommand, !(send_i && receive_i) && !(set_i && (send_i || receive_i)))
  `ASSERT(ReadsAfterWrites, !(accept && take))

  `ASSERT_KNOWN(StatusKnown, status_o)
  `ASSERT_KNOWN(ConfigKnown, {config_o, state_o})
  `ASSERT_KNOWN(FrozenKnown, frozen_o)
  for (genvar p = 0; p < int'(NumPorts); p++) begin : gen_known
    `ASSERT_KNOWN_IF(SenderKnown, sender_q[p], send_q[p] != rtos_pkg::SendEmpty)
  end

endmodule
