// SPDX-License-Identifier: Apache-2.0
// An AXI4-Lite port for one core's port of the HW-RTOS or the Lock Unit.
//
// A read may have effects: Receive takes a word away, NextTask begins a task. So a transaction is
// exactly one access of the unit. A handshake fills an empty register; only the grant of the access
// empties it, and an access is asked for only while the register of its answer is empty. There the
// answer stays until the master takes it: a slow master reads nothing again, and nothing is read
// ahead.
//
// One write and one read can be under way, and the write is first where both could be carried out:
// a master that needs an order waits for the answer. No output of the AXI port depends on an input
// in the same cycle.

`include "assert.svh"

module axi_lite_port (
  input  logic        clk_i,
  input  logic        rst_ni,
  // AXI4-Lite.
  input  logic        axi_awvalid_i,
  output logic        axi_awready_o,
  input  logic [11:0] axi_awaddr_i,
  input  logic        axi_wvalid_i,
  output logic        axi_wready_o,
  input  logic [31:0] axi_wdata_i,
  input  logic [3:0]  axi_wstrb_i,
  output logic        axi_bvalid_o,
  input  logic        axi_bready_i,
  output logic [1:0]  axi_bresp_o,
  input  logic        axi_arvalid_i,
  output logic        axi_arready_o,
  input  logic [11:0] axi_araddr_i,
  output logic        axi_rvalid_o,
  input  logic        axi_rready_i,
  output logic [31:0] axi_rdata_o,
  output logic [1:0]  axi_rresp_o,
  // The unit's port of this core.
  output logic        req_o,
  input  logic        gnt_i,
  output logic        we_o,
  output logic [3:0]  be_o,
  output logic [11:0] addr_o,
  output logic [31:0] wdata_o,
  input  logic        rvalid_i,       // one cycle after gnt_i
  input  logic [31:0] rdata_i,
  input  logic        err_i
);

  logic        aw_full_q, aw_full_d, w_full_q, w_full_d, ar_full_q, ar_full_d;
  logic        b_full_q, b_full_d, r_full_q, r_full_d;
  logic [11:0] aw_addr_q, ar_addr_q;
  logic [31:0] w_data_q, r_data_q;
  logic [3:0]  w_strb_q;
  logic        b_err_q, r_err_q;
  logic        can_write, can_read, write, granted;
  logic        write_q, write_d;      // the last access was a write
  logic        stalled_q, stalled_d;  // and was not granted

  // Neither kind waits long: the next one of a kind is not there before the answer is taken.
  assign can_write = aw_full_q && w_full_q && !b_full_q;
  assign can_read  = ar_full_q && !r_full_q;
  assign write     = stalled_q ? write_q : can_write;
  assign granted   = req_o && gnt_i;

  assign req_o   = can_write || can_read;
  assign we_o    = write;
  assign be_o    = write ? w_strb_q : 4'b1111;
  assign addr_o  = write ? aw_addr_q : ar_addr_q;
  assign wdata_o = w_data_q;

  assign write_d   = req_o ? write : write_q;
  assign stalled_d = req_o && !gnt_i;
  assign aw_full_d = aw_full_q ? !(granted && write) : axi_awvalid_i;
  assign w_full_d  = w_full_q ? !(granted && write) : axi_wvalid_i;
  assign ar_full_d = ar_full_q ? !(granted && !write) : axi_arvalid_i;
  assign b_full_d  = b_full_q ? !axi_bready_i : rvalid_i && write_q;
  assign r_full_d  = r_full_q ? !axi_rready_i : rvalid_i && !write_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q <= 1'b0;
      w_full_q  <= 1'b0;
      ar_full_q <= 1'b0;
      b_full_q  <= 1'b0;
      r_full_q  <= 1'b0;
      write_q   <= 1'b0;
      stalled_q <= 1'b0;
    end else begin
      aw_full_q <= aw_full_d;
      w_full_q  <= w_full_d;
      ar_full_q <= ar_full_d;
      b_full_q  <= b_full_d;
      r_full_q  <= r_full_d;
      write_q   <= write_d;
      stalled_q <= stalled_d;
    end
  end

  // Without a reset: only what is full is looked at.
  always_ff @(posedge clk_i) begin
    if (!aw_full_q) aw_addr_q <= axi_awaddr_i;
    if (!ar_full_q) ar_addr_q <= axi_araddr_i;
    if (!w_full_q) begin
      w_data_q <= axi_wdata_i;
      w_strb_q <= axi_wstrb_i;
    end
    if (rvalid_i && write_q) b_err_q <= err_i;
    if (rvalid_i && !write_q) begin
      r_data_q <= rdata_i;
      r_err_q  <= err_i;
    end
  end

  assign axi_awready_o = !aw_full_q;
  assign axi_wready_o  = !w_full_q;
  assign axi_arready_o = !ar_full_q;
  assign axi_bvalid_o  = b_full_q;
  assign axi_bresp_o   = {b_err_q, 1'b0};  // SLVERR or OKAY
  assign axi_rvalid_o  = r_full_q;
  assign axi_rdata_o   = r_data_q;
  assign axi_rresp_o   = {r_err_q, 1'b0};

`ifdef RTL_ASSERTIONS
  logic        b_waits_q, r_waits_q;
  logic [1:0]  bresp_q;
  logic [33:0] answer_q;
  logic [16:0] access_q;
  logic [31:0] wdata_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_waits_q <= 1'b0;
      r_waits_q <= 1'b0;
    end else begin
      b_waits_q <= axi_bvalid_o && !axi_bready_i;
      r_waits_q <= axi_rvalid_o && !axi_rready_i;
    end
  end

  always_ff @(posedge clk_i) begin
    bresp_q  <= axi_bresp_o;
    answer_q <= {axi_rdata_o, axi_rresp_o};
    access_q <= {we_o, be_o, addr_o};
    wdata_q  <= wdata_o;
  end

  // A VALID stays until READY, with what it says, and a request until it is granted.
  `ASSERT(WriteAnswerStays, !b_waits_q || (axi_bvalid_o && axi_bresp_o == bresp_q))
  `ASSERT(ReadAnswerStays, !r_waits_q || (axi_rvalid_o && {axi_rdata_o, axi_rresp_o} == answer_q))
  `ASSERT(RequestStays, !stalled_q || (req_o && {we_o, be_o, addr_o} == access_q))
  `ASSERT(DataStays, !stalled_q || !we_o || wdata_o == wdata_q)
  `ASSERT(RoomForTheAnswer, !rvalid_i || !(write_q ? b_full_q : r_full_q))
`endif

  `ASSERT_KNOWN(ReadyKnown, {axi_awready_o, axi_wready_o, axi_arready_o})
  `ASSERT_KNOWN(ValidKnown, {axi_bvalid_o, axi_rvalid_o})
  `ASSERT_KNOWN_IF(WriteAnswerKnown, axi_bresp_o, axi_bvalid_o)
  `ASSERT_KNOWN_IF(ReadAnswerKnown, {axi_rdata_o, axi_rresp_o}, axi_rvalid_o)
  `ASSERT_KNOWN(RequestKnown, req_o)
  `ASSERT_KNOWN_IF(AccessKnown, {we_o, be_o, addr_o}, req_o)
  `ASSERT_KNOWN_IF(DataKnown, wdata_o, req_o && we_o)

endmodule
