// SPDX-License-Identifier: Apache-2.0
// The whole unit, whatever its cores do: its own assertions (no task runs on two cores, none runs
// while another core has its context), every access is answered, and none waits long.

`include "formal.svh"

module prove_hw_rtos #(
  parameter int unsigned NumCores = 2,
  parameter int unsigned Longest  = 3  // cycles that an access waits for its grant
) (
  input logic                      clk_i,
  input logic [NumCores-1:0]       req_i,
  input logic [NumCores-1:0]       we_i,
  input logic [NumCores-1:0][3:0]  be_i,
  input logic [NumCores-1:0][11:0] addr_i,
  input logic [NumCores-1:0][31:0] wdata_i
);

  `RESET_ONCE

  (* anyconst *) logic [1:0] one;
  logic [NumCores-1:0]       gnt, rvalid, err, irq, running, gnt_q = '0, stalled_q = '0, changed;
  logic [NumCores-1:0]       we_q;
  logic [NumCores-1:0][11:0] addr_q;
  logic [NumCores-1:0][31:0] rdata;
  logic [NumCores-1:0][2:0]  runs;
  logic [4:0]                waited_q = '0;

  hw_rtos #(
    .NumCores(NumCores), .NumTasks(8), .NumPorts(8), .BuffersInRam(1'b1), .PrioWidth(1),
    .SliceWidth(3), .PatienceWidth(2)
  ) dut (
    .clk_i, .rst_ni, .req_i, .gnt_o(gnt), .we_i, .be_i, .addr_i, .wdata_i, .rvalid_o(rvalid),
    .rdata_o(rdata), .err_o(err), .irq_o(irq), .running_o(running), .task_o(runs)
  );

  always @(posedge clk_i) begin
    gnt_q     <= rst_ni ? gnt : '0;
    stalled_q <= rst_ni ? req_i & ~gnt : '0;
    we_q      <= we_i;
    addr_q    <= addr_i;
    waited_q  <= rst_ni && req_i[one] && !gnt[one] ? waited_q + 5'd1 : '0;
  end

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      changed[c] = !req_i[c] || we_i[c] != we_q[c] || addr_i[c] != addr_q[c];
    end
  end

  `ASSUME(HoldsTheAccess, (stalled_q & changed) == '0)
  `ASSUME(ItExists, 32'(one) < NumCores)

  `ASSERT(OnlyWhoAsks, (gnt & ~req_i) == '0)
  `ASSERT(AnsweredInTheNextCycle, rvalid == gnt_q)
  `ASSERT(NoneWaitsLong, 32'(waited_q) <= Longest)

endmodule
