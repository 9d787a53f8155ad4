// SPDX-License-Identifier: Apache-2.0
// The registers of the Lock Unit for one core: turns accesses into requests and releases.

`include "assert.svh"

module lock_unit_port (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_i,
  output logic        gnt_o,
  input  logic        we_i,
  input  logic [3:0]  be_i,
  input  logic [11:0] addr_i,
  input  logic [31:0] wdata_i,
  output logic        rvalid_o,
  output logic [31:0] rdata_o,
  output logic        err_o,
  // The lock.
  input  logic        pending_i,  // this core has asked
  input  logic        granted_i,  // and been granted
  input  logic [31:0] locked_i,   // the address
  output logic        ask_o,      // for the address in wdata_i
  output logic        drop_o,     // the lock or the request
  // What is counted for all cores.
  input  logic [7:0]  errors_i,
  output logic        refused_o,
  output logic        clear_o
);

  logic        known, commands, stall;
  logic        acquiring_q, acquiring_d;  // an acquire has asked, and waits
  lock_pkg::status_e     status, status_q, status_d;
  logic [7:0]  answer_d, answer_q;
  logic        rvalid_q, err_q;

  always_comb begin
    known     = 1'b1;
    commands  = 1'b0;
    stall     = 1'b0;
    status    = lock_pkg::StatusOk;
    ask_o     = 1'b0;
    drop_o    = 1'b0;
    clear_o   = 1'b0;
    answer_d  = '0;
    unique case ({we_i, addr_i})
      {1'b1, lock_pkg::RegAcquire}: begin
        commands = 1'b1;
        stall    = !pending_i || (acquiring_q && !granted_i);
        ask_o    = !pending_i;
        if (!acquiring_q) status = lock_pkg::StatusHeld;
      end
      {1'b1, lock_pkg::RegRequest}: begin
        commands = 1'b1;
        ask_o    = !pending_i;
        if (pending_i) status = lock_pkg::StatusHeld;
      end
      {1'b0, lock_pkg::RegGrant}: answer_d = 8'(granted_i);
      {1'b0, lock_pkg::RegWait}: begin
        commands = 1'b1;
        stall    = pending_i && !granted_i;
        answer_d = 8'(granted_i);
        if (!pending_i) status = lock_pkg::StatusNotHeld;
      end
      {1'b1, lock_pkg::RegRelease}: begin
        commands = 1'b1;
        drop_o   = granted_i && locked_i == wdata_i;
        if (!drop_o) status = lock_pkg::StatusNotHeld;
      end
      {1'b1, lock_pkg::RegCancel}: begin
        commands = 1'b1;
        drop_o   = pending_i;
        if (!pending_i) status = lock_pkg::StatusNotHeld;
      end
      {1'b0, lock_pkg::RegStatus}: answer_d = 8'(status_q);
      {1'b0, lock_pkg::RegErrors}: answer_d = errors_i;
      {1'b1, lock_pkg::RegErrors}: clear_o = 1'b1;
      default:           known = 1'b0;
    endcase
    if (!req_i || (we_i && be_i != 4'b1111)) begin
      known    = 1'b0;
      commands = 1'b0;
      stall    = 1'b0;
      ask_o    = 1'b0;
      drop_o   = 1'b0;
      clear_o  = 1'b0;
    end
  end

  assign gnt_o       = req_i && !stall;
  assign acquiring_d = stall && we_i;
  assign refused_o   = gnt_o && commands && status != lock_pkg::StatusOk;
  assign status_d    = gnt_o && commands ? status : status_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acquiring_q <= 1'b0;
      status_q    <= lock_pkg::StatusOk;
      answer_q    <= '0;
      rvalid_q    <= 1'b0;
      err_q       <= 1'b0;
    end else begin
      acquiring_q <= acquiring_d;
      status_q    <= status_d;
      answer_q    <= answer_d;
      rvalid_q    <= gnt_o;
      err_q       <= gnt_o && !known;
    end
  end

  assign rvalid_o = rvalid_q;
  assign rdata_o  = 32'(answer_q);
  assign err_o    = err_q;

  `ASSERT_KNOWN(GrantKnown, gnt_o)
  `ASSERT_KNOWN(AnswerKnown, {rvalid_o, rdata_o, err_o})
  `ASSERT_KNOWN(CommandKnown, {ask_o, drop_o, refused_o, clear_o})

endmodule
