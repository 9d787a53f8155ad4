// SPDX-License-Identifier: Apache-2.0
// What software and the modules of the HW-RTOS agree on: registers, calls, answers.
// hw_rtos.rdl describes the registers.

package rtos_pkg;

  // hw_rtos.rdl: make rtl-registers
  // Byte offsets within the unit.
  localparam logic [11:0] RegCallRtos = 12'h000;  // w   a call_e: gives the processor away
  localparam logic [11:0] RegWaitPort = 12'h004;  // w   what the next accepted CallBlock waits for
  localparam logic [11:0] RegNextTask = 12'h008;  // r   the task to run, or bit 31: none
  localparam logic [11:0] RegSaved    = 12'h00C;  // w   the context of the task before is saved
  localparam logic [11:0] RegCurrent  = 12'h010;  // r   the task that this core runs, or bit 31
  localparam logic [11:0] RegStatus   = 12'h014;  // r   a status_e: of this core's last command
  localparam logic [11:0] RegErrors   = 12'h018;  // rw  counters; any write clears them
  localparam logic [11:0] RegControl  = 12'h01C;  // rw  the causes of an interrupt of this core
  localparam logic [11:0] RegSlice    = 12'h020;  // rw  cycles of a time slice, for all cores
  localparam logic [11:0] RegPatience = 12'h024;  // rw  cycles a task waits for its last core
  localparam logic [11:0] RegInfo     = 12'h028;  // r   cores, tasks, ports, words of a message

  // Of task or port n, at n words from here.
  localparam logic [11:0] RegTaskConfig  = 12'h100;  // rw  a task, and where it may run
  localparam logic [11:0] RegTaskState   = 12'h200;  // r   what a task does
  localparam logic [11:0] RegPortConfig  = 12'h300;  // rw  when messages become visible
  localparam logic [11:0] RegSend        = 12'h400;  // w   the last or only word, by the task
  localparam logic [11:0] RegSendMore    = 12'h500;  // w   a word that others follow
  localparam logic [11:0] RegSendNow     = 12'h600;  // w   the last word, by no task: at once
  localparam logic [11:0] RegSendNowMore = 12'h700;  // w   a word that others follow, by no task
  localparam logic [11:0] RegReceive     = 12'h800;  // r   the next word of the message there
  localparam logic [11:0] RegPortState   = 12'h900;  // r   what there is in a port

  typedef enum logic [1:0] {
    CallBlock   = 2'd0,  // until there is a message in the port of RegWaitPort
    CallYield   = 2'd1,  // to others of at least its priority
    CallPreempt = 2'd2,  // the same, but what the task has sent stays with it: by an interrupt
    CallExit    = 2'd3   // for good: its slot is free once the context is given up (RegSaved)
  } call_e;

  typedef enum logic [3:0] {
    StatusOk      = 4'd0,
    StatusEmpty   = 4'd1,
    StatusFull    = 4'd2,  // the message before is still in the send buffer; nothing is sent
    StatusBusy    = 4'd3,  // the message of somebody else is unfinished; the slot is still in use
    StatusTooLong = 4'd4,  // a message has no room for this word and another one
    StatusBadPort = 4'd5,
    StatusBadTask = 4'd6,
    StatusOrder   = 4'd7,  // called before the offered task was read, or the context saved
    StatusNoTask  = 4'd8   // no task whose context could be saved; the sender was retired
  } status_e;

  typedef enum logic [1:0] {
    SendEmpty = 2'd0,
    SendOpen  = 2'd1,  // words of a message that others follow
    SendHeld  = 2'd2,
    SendDue   = 2'd3   // a message for the receive buffer, as soon as that is empty
  } send_e;
  // end of registers

  // Of RegNextTask and RegCurrent.
  localparam int unsigned NoTaskBit = 31;

  typedef enum logic [4:0] {
    OpBad,  // no such register, or not a whole word: a bus error
    OpCall,
    OpWaitPort,
    OpNextTask,
    OpSaved,
    OpCurrent,
    OpStatus,
    OpErrors,
    OpClearErrors,
    OpControl,
    OpSetControl,
    OpSlice,
    OpSetSlice,
    OpPatience,
    OpSetPatience,
    OpInfo,
    OpTaskConfig,
    OpSetTaskConfig,
    OpTaskState,
    OpPortConfig,
    OpSetPortConfig,
    OpSend,
    OpReceive,
    OpPortState
  } op_e;

endpackage
