// SPDX-License-Identifier: Apache-2.0
// The bus to the devices that have one port for all cores: one access per cycle, answered in the
// next.

`include "assert.svh"

module device_bus #(
  parameter int unsigned NumCores = 2
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [NumCores-1:0]       req_i,
  output logic [NumCores-1:0]       gnt_o,
  input  logic [NumCores-1:0]       we_i,
  input  logic [NumCores-1:0][31:0] addr_i,
  input  logic [NumCores-1:0][31:0] wdata_i,
  output logic [NumCores-1:0]       rvalid_o,
  output logic [31:0]               rdata_o,
  output logic                      err_o,
  // The devices: an access, and what each answers in the same cycle.
  output logic                      timer_sel_o,
  output logic                      uart_sel_o,
  output logic                      system_sel_o,
  output logic                      we_o,
  output logic [15:0]               addr_o,
  output logic [31:0]               wdata_o,
  input  logic [31:0]               timer_rdata_i,
  input  logic                      timer_err_i,
  input  logic [31:0]               uart_rdata_i,
  input  logic                      uart_err_i,
  input  logic [31:0]               system_rdata_i,
  input  logic                      system_err_i
);

  logic [31:0]         addr;
  logic [NumCores-1:0] rvalid_q;
  logic [31:0]         rdata_d, rdata_q;
  logic                err_d, err_q;

  fair_arbiter #(
    .NumReqs(NumCores)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i,
    .gnt_o
  );

  always_comb begin
    we_o    = 1'b0;
    addr    = '0;
    wdata_o = '0;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (gnt_o[c]) begin
        we_o    = we_i[c];
        addr    = addr_i[c];
        wdata_o = wdata_i[c];
      end
    end
  end

  assign addr_o       = addr[15:0];
  assign timer_sel_o  = addr[31:16] == soc_pkg::TimerBase[31:16];
  assign uart_sel_o   = addr[31:12] == soc_pkg::UartBase[31:12];
  assign system_sel_o = addr[31:12] == soc_pkg::SystemBase[31:12];

  always_comb begin
    rdata_d = system_rdata_i;
    err_d   = system_err_i;
    if (timer_sel_o) begin
      rdata_d = timer_rdata_i;
      err_d   = timer_err_i;
    end
    if (uart_sel_o) begin
      rdata_d = uart_rdata_i;
      err_d   = uart_err_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= '0;
      rdata_q  <= '0;
      err_q    <= 1'b0;
    end else begin
      rvalid_q <= gnt_o;
      rdata_q  <= rdata_d;
      err_q    <= err_d;
    end
  end

  assign rvalid_o = rvalid_q;
  assign rdata_o  = rdata_q;
  assign err_o    = err_q;

  `ASSERT_KNOWN(GrantKnown, gnt_o)
  `ASSERT_KNOWN(AnswerKnown, {rvalid_o, rdata_o, err_o})
  `ASSERT_KNOWN(AccessKnown, {timer_sel_o, uart_sel_o, system_sel_o, we_o, addr_o, wdata_o})

endmodule
