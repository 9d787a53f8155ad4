// SPDX-License-Identifier: Apache-2.0
// Each transaction is one access of the unit, of its kind, address and data; each answer is that of
// its access; a master that takes its answers waits for no more than one access of the other kind.

`include "formal.svh"

module prove_axi_lite_port (
  input logic        clk_i,
  input logic        awvalid_i,
  input logic [11:0] awaddr_i,
  input logic        wvalid_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i,
  input logic        bready_i,
  input logic        arvalid_i,
  input logic [11:0] araddr_i,
  input logic        rready_i,
  input logic        gnt_i,
  input logic [31:0] rdata_i,
  input logic        err_i
);

  `RESET_ONCE

  logic        awready, wready, bvalid, arready, rvalid, req, we;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata, wdata;
  logic [3:0]  be;
  logic [11:0] addr;
  logic        answers_q = 1'b0;  // the unit, one cycle after a grant

  axi_lite_port dut (
    .clk_i, .rst_ni,
    .axi_awvalid_i(awvalid_i), .axi_awready_o(awready), .axi_awaddr_i(awaddr_i),
    .axi_wvalid_i(wvalid_i), .axi_wready_o(wready), .axi_wdata_i(wdata_i), .axi_wstrb_i(wstrb_i),
    .axi_bvalid_o(bvalid), .axi_bready_i(bready_i), .axi_bresp_o(bresp),
    .axi_arvalid_i(arvalid_i), .axi_arready_o(arready), .axi_araddr_i(araddr_i),
    .axi_rvalid_o(rvalid), .axi_rready_i(rready_i), .axi_rdata_o(rdata), .axi_rresp_o(rresp),
    .req_o(req), .gnt_i, .we_o(we), .be_o(be), .addr_o(addr), .wdata_o(wdata),
    .rvalid_i(answers_q), .rdata_i, .err_i
  );

  // ---- What is offered, carried out and answered ------------------------------------------------

  // How many there are of each: offered and not carried out, carried out and not answered.
  logic [1:0]  aw_q = '0, w_q = '0, ar_q = '0, writes_q = '0, reads_q = '0;
  logic        writing, reading, wrote_q = 1'b0, b_err_q, r_err_q;
  logic [11:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [3:0]  wstrb_q;

  assign writing = req && gnt_i && we;
  assign reading = req && gnt_i && !we;

  always @(posedge clk_i) begin
    if (rst_ni) begin
      answers_q <= req && gnt_i;
      wrote_q   <= we;
      aw_q      <= aw_q + 2'(awvalid_i && awready) - 2'(writing);
      w_q       <= w_q + 2'(wvalid_i && wready) - 2'(writing);
      ar_q      <= ar_q + 2'(arvalid_i && arready) - 2'(reading);
      writes_q  <= writes_q + 2'(writing) - 2'(bvalid && bready_i);
      reads_q   <= reads_q + 2'(reading) - 2'(rvalid && rready_i);
      if (awvalid_i && awready) awaddr_q <= awaddr_i;
      if (arvalid_i && arready) araddr_q <= araddr_i;
      if (wvalid_i && wready) begin
        wdata_q <= wdata_i;
        wstrb_q <= wstrb_i;
      end
      if (answers_q && wrote_q) b_err_q <= err_i;
      if (answers_q && !wrote_q) begin
        r_err_q <= err_i;
        rdata_q <= rdata_i;
      end
    end
  end

  // One too few would be 3.
  `ASSERT(NothingTwice, aw_q < 2 && w_q < 2 && ar_q < 2 && writes_q < 2 && reads_q < 2)
  `ASSERT(NoneUnasked, !req || (we ? aw_q == 1 && w_q == 1 : ar_q == 1))
  `ASSERT(NoAnswerUnasked, (!bvalid || writes_q == 1) && (!rvalid || reads_q == 1))
  `ASSERT(IsWhatWasWritten,
          !req || !we || {be, addr, wdata} == {wstrb_q, awaddr_q, wdata_q})
  `ASSERT(IsWhatIsRead, !req || we || {be, addr} == {4'b1111, araddr_q})
  `ASSERT(IsTheAnswer, (!bvalid || bresp == {b_err_q, 1'b0})
                       && (!rvalid || {rdata, rresp} == {rdata_q, r_err_q, 1'b0}))

  // ---- Nothing waits for ever -------------------------------------------------------------------

  // Accesses of the other kind since a transaction could be carried out.
  logic [1:0] passed_w_q = '0, passed_r_q = '0;
  logic       ready_w, ready_r;

  assign ready_w = aw_q == 1 && w_q == 1 && writes_q == 0;
  assign ready_r = ar_q == 1 && reads_q == 0;

  always @(posedge clk_i) begin
    if (rst_ni) begin
      passed_w_q <= !ready_w || writing ? '0 : passed_w_q + 2'(reading);
      passed_r_q <= !ready_r || reading ? '0 : passed_r_q + 2'(writing);
    end
  end

  `ASSERT(AsksImmediately, req == (ready_w || ready_r))
  `ASSERT(TakesTurns, passed_w_q < 2 && passed_r_q < 2)
  `ASSERT(AnswersAreThere, (writes_q == 0 || bvalid || (answers_q && wrote_q))
                           && (reads_q == 0 || rvalid || (answers_q && !wrote_q)))

endmodule
