// SPDX-License-Identifier: Apache-2.0
// The Lock Unit with an AXI4-Lite port for each core: see axi_lite_port.

module lock_unit_axi_lite #(
  parameter int unsigned NumCores = 2  // 1 to 4
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // An AXI4-Lite port for each core.
  input  logic [NumCores-1:0]       axi_awvalid_i,
  output logic [NumCores-1:0]       axi_awready_o,
  input  logic [NumCores-1:0][11:0] axi_awaddr_i,
  input  logic [NumCores-1:0]       axi_wvalid_i,
  output logic [NumCores-1:0]       axi_wready_o,
  input  logic [NumCores-1:0][31:0] axi_wdata_i,
  input  logic [NumCores-1:0][3:0]  axi_wstrb_i,
  output logic [NumCores-1:0]       axi_bvalid_o,
  input  logic [NumCores-1:0]       axi_bready_i,
  output logic [NumCores-1:0][1:0]  axi_bresp_o,
  input  logic [NumCores-1:0]       axi_arvalid_i,
  output logic [NumCores-1:0]       axi_arready_o,
  input  logic [NumCores-1:0][11:0] axi_araddr_i,
  output logic [NumCores-1:0]       axi_rvalid_o,
  input  logic [NumCores-1:0]       axi_rready_i,
  output logic [NumCores-1:0][31:0] axi_rdata_o,
  output logic [NumCores-1:0][1:0]  axi_rresp_o,
  // As lock_unit has them.
  output logic [NumCores-1:0]       pending_o,
  output logic [NumCores-1:0]       granted_o
);

  logic [NumCores-1:0]       req, gnt, we, rvalid, err;
  logic [NumCores-1:0][3:0]  be;
  logic [NumCores-1:0][11:0] addr;
  logic [NumCores-1:0][31:0] wdata, rdata;

  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_port
    axi_lite_port u_port (
      .clk_i,
      .rst_ni,
      .axi_awvalid_i(axi_awvalid_i[c]),
      .axi_awready_o(axi_awready_o[c]),
      .axi_awaddr_i (axi_awaddr_i[c]),
      .axi_wvalid_i (axi_wvalid_i[c]),
      .axi_wready_o (axi_wready_o[c]),
      .axi_wdata_i  (axi_wdata_i[c]),
      .axi_wstrb_i  (axi_wstrb_i[c]),
      .axi_bvalid_o (axi_bvalid_o[c]),
      .axi_bready_i (axi_bready_i[c]),
      .axi_bresp_o  (axi_bresp_o[c]),
      .axi_arvalid_i(axi_arvalid_i[c]),
      .axi_arready_o(axi_arready_o[c]),
      .axi_araddr_i (axi_araddr_i[c]),
      .axi_rvalid_o (axi_rvalid_o[c]),
      .axi_rready_i (axi_rready_i[c]),
      .axi_rdata_o  (axi_rdata_o[c]),
      .axi_rresp_o  (axi_rresp_o[c]),
      .req_o        (req[c]),
      .gnt_i        (gnt[c]),
      .we_o         (we[c]),
      .be_o         (be[c]),
      .addr_o       (addr[c]),
      .wdata_o      (wdata[c]),
      .rvalid_i     (rvalid[c]),
      .rdata_i      (rdata[c]),
      .err_i        (err[c])
    );
  end

  lock_unit #(
    .NumCores(NumCores)
  ) u_lock_unit (
    .clk_i,
    .rst_ni,
    .req_i    (req),
    .gnt_o    (gnt),
    .we_i     (we),
    .be_i     (be),
    .addr_i   (addr),
    .wdata_i  (wdata),
    .rvalid_o (rvalid),
    .rdata_o  (rdata),
    .err_o    (err),
    .pending_o,
    .granted_o
  );

endmodule
