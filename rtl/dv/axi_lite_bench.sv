// SPDX-License-Identifier: Apache-2.0
// Both units behind AXI4-Lite, for tests: cocotbext-axi wants names of AXI, and one signal for a
// port. Those of the HW-RTOS's cores come first.

module axi_lite_bench #(
  parameter  int unsigned NumCores = 2,
  parameter  int unsigned NumTasks = 8,
  parameter  int unsigned NumPorts = 8,
  localparam int unsigned NumAxi   = 2 * NumCores,
  localparam int unsigned TaskW    = $clog2(NumTasks)
) (
  // cocotb sees what is public.
  /*verilator public_flat_rw_on*/
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           s_axi_awvalid[NumAxi],
  output logic                           s_axi_awready[NumAxi],
  input  logic [11:0]                    s_axi_awaddr [NumAxi],
  input  logic                           s_axi_wvalid [NumAxi],
  output logic                           s_axi_wready [NumAxi],
  input  logic [31:0]                    s_axi_wdata  [NumAxi],
  input  logic [3:0]                     s_axi_wstrb  [NumAxi],
  output logic                           s_axi_bvalid [NumAxi],
  input  logic                           s_axi_bready [NumAxi],
  output logic [1:0]                     s_axi_bresp  [NumAxi],
  input  logic                           s_axi_arvalid[NumAxi],
  output logic                           s_axi_arready[NumAxi],
  input  logic [11:0]                    s_axi_araddr [NumAxi],
  output logic                           s_axi_rvalid [NumAxi],
  input  logic                           s_axi_rready [NumAxi],
  output logic [31:0]                    s_axi_rdata  [NumAxi],
  output logic [1:0]                     s_axi_rresp  [NumAxi],
  // The units' own buses: what the wrapper makes of it.
  output logic [NumAxi-1:0]              req_o,
  output logic [NumAxi-1:0]              gnt_o,
  output logic [NumAxi-1:0]              we_o,
  output logic [NumAxi-1:0][3:0]         be_o,
  output logic [NumAxi-1:0][11:0]        addr_o,
  output logic [NumAxi-1:0][31:0]        wdata_o,
  output logic [NumCores-1:0]            irq_o,
  output logic [NumCores-1:0]            chose_o,
  output logic [NumCores-1:0]            running_o,
  output logic [NumCores-1:0][TaskW-1:0] task_o,
  output logic [NumCores-1:0]            pending_o,
  output logic [NumCores-1:0]            granted_o
  /*verilator public_off*/
);

  logic [NumAxi-1:0]       awvalid, awready, wvalid, wready, bvalid, bready;
  logic [NumAxi-1:0]       arvalid, arready, rvalid, rready;
  logic [NumAxi-1:0][11:0] awaddr, araddr;
  logic [NumAxi-1:0][31:0] wdata, rdata;
  logic [NumAxi-1:0][3:0]  wstrb;
  logic [NumAxi-1:0][1:0]  bresp, rresp;

  for (genvar p = 0; p < int'(NumAxi); p++) begin : gen_axi
    assign awvalid[p]       = s_axi_awvalid[p];
    assign s_axi_awready[p] = awready[p];
    assign awaddr[p]        = s_axi_awaddr[p];
    assign wvalid[p]        = s_axi_wvalid[p];
    assign s_axi_wready[p]  = wready[p];
    assign wdata[p]         = s_axi_wdata[p];
    assign wstrb[p]         = s_axi_wstrb[p];
    assign s_axi_bvalid[p]  = bvalid[p];
    assign bready[p]        = s_axi_bready[p];
    assign s_axi_bresp[p]   = bresp[p];
    assign arvalid[p]       = s_axi_arvalid[p];
    assign s_axi_arready[p] = arready[p];
    assign araddr[p]        = s_axi_araddr[p];
    assign s_axi_rvalid[p]  = rvalid[p];
    assign rready[p]        = s_axi_rready[p];
    assign s_axi_rdata[p]   = rdata[p];
    assign s_axi_rresp[p]   = rresp[p];
  end

  hw_rtos_axi_lite #(
    .NumCores(NumCores),
    .NumTasks(NumTasks),
    .NumPorts(NumPorts)
  ) u_rtos (
    .clk_i,
    .rst_ni,
    .axi_awvalid_i(awvalid[NumCores-1:0]),
    .axi_awready_o(awready[NumCores-1:0]),
    .axi_awaddr_i (awaddr[NumCores-1:0]),
    .axi_wvalid_i (wvalid[NumCores-1:0]),
    .axi_wready_o (wready[NumCores-1:0]),
    .axi_wdata_i  (wdata[NumCores-1:0]),
    .axi_wstrb_i  (wstrb[NumCores-1:0]),
    .axi_bvalid_o (bvalid[NumCores-1:0]),
    .axi_bready_i (bready[NumCores-1:0]),
    .axi_bresp_o  (bresp[NumCores-1:0]),
    .axi_arvalid_i(arvalid[NumCores-1:0]),
    .axi_arready_o(arready[NumCores-1:0]),
    .axi_araddr_i (araddr[NumCores-1:0]),
    .axi_rvalid_o (rvalid[NumCores-1:0]),
    .axi_rready_i (rready[NumCores-1:0]),
    .axi_rdata_o  (rdata[NumCores-1:0]),
    .axi_rresp_o  (rresp[NumCores-1:0]),
    .irq_o,
    .chose_o,
    .running_o,
    .task_o
  );

  lock_unit_axi_lite #(
    .NumCores(NumCores)
  ) u_locks (
    .clk_i,
    .rst_ni,
    .axi_awvalid_i(awvalid[NumAxi-1:NumCores]),
    .axi_awready_o(awready[NumAxi-1:NumCores]),
    .axi_awaddr_i (awaddr[NumAxi-1:NumCores]),
    .axi_wvalid_i (wvalid[NumAxi-1:NumCores]),
    .axi_wready_o (wready[NumAxi-1:NumCores]),
    .axi_wdata_i  (wdata[NumAxi-1:NumCores]),
    .axi_wstrb_i  (wstrb[NumAxi-1:NumCores]),
    .axi_bvalid_o (bvalid[NumAxi-1:NumCores]),
    .axi_bready_i (bready[NumAxi-1:NumCores]),
    .axi_bresp_o  (bresp[NumAxi-1:NumCores]),
    .axi_arvalid_i(arvalid[NumAxi-1:NumCores]),
    .axi_arready_o(arready[NumAxi-1:NumCores]),
    .axi_araddr_i (araddr[NumAxi-1:NumCores]),
    .axi_rvalid_o (rvalid[NumAxi-1:NumCores]),
    .axi_rready_i (rready[NumAxi-1:NumCores]),
    .axi_rdata_o  (rdata[NumAxi-1:NumCores]),
    .axi_rresp_o  (rresp[NumAxi-1:NumCores]),
    .pending_o,
    .granted_o
  );

  assign req_o   = {u_locks.req, u_rtos.req};
  assign gnt_o   = {u_locks.gnt, u_rtos.gnt};
  assign we_o    = {u_locks.we, u_rtos.we};
  assign be_o    = {u_locks.be, u_rtos.be};
  assign addr_o  = {u_locks.addr, u_rtos.addr};
  assign wdata_o = {u_locks.wdata, u_rtos.wdata};

endmodule
