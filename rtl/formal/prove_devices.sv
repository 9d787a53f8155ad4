// SPDX-License-Identifier: Apache-2.0
// The devices with one port for all cores, behind their bus.

`include "formal.svh"

module prove_devices #(
  parameter int unsigned NumCores = 2
) (
  input logic                      clk_i,
  input logic [NumCores-1:0]       req_i,
  input logic [NumCores-1:0]       we_i,
  input logic [NumCores-1:0][31:0] addr_i,
  input logic [NumCores-1:0][31:0] wdata_i,
  input logic                      rx_valid_i,
  input logic [7:0]                rx_data_i,
  input logic [7:0]                wait_states_i,
  input logic [NumCores-1:0][5:0]  events_i,
  input logic [NumCores-1:0]       held_i,
  input logic [31:0]               host_answer_i
);

  `RESET_ONCE

  logic [NumCores-1:0] gnt, rvalid, software, late;
  logic [31:0]         rdata, wdata, timer_rdata, uart_rdata;
  logic [31:0]         system_rdata, exit_code, host_request;
  logic [15:0]         addr;
  logic                err, timer_sel, uart_sel, system_sel, we, timer_err, uart_err, system_err;
  logic                irq, tx_valid, rx_ready, ends, console, host;
  logic [7:0]          tx_data, console_byte;
  logic [NumCores-1:0] hold;

  device_bus #(.NumCores(NumCores)) dut (
    .clk_i, .rst_ni, .req_i, .gnt_o(gnt), .we_i, .addr_i, .wdata_i, .rvalid_o(rvalid),
    .rdata_o(rdata), .err_o(err), .timer_sel_o(timer_sel), .uart_sel_o(uart_sel),
    .system_sel_o(system_sel), .we_o(we), .addr_o(addr), .wdata_o(wdata),
    .timer_rdata_i(timer_rdata), .timer_err_i(timer_err), .uart_rdata_i(uart_rdata),
    .uart_err_i(uart_err), .system_rdata_i(system_rdata), .system_err_i(system_err)
  );

  timer #(.NumCores(NumCores)) u_timer (
    .clk_i, .rst_ni, .sel_i(timer_sel), .we_i(we), .addr_i(addr), .wdata_i(wdata),
    .rdata_o(timer_rdata), .err_o(timer_err), .irq_software_o(software), .irq_timer_o(late)
  );

  uart #(.CyclesPerByte(2), .Depth(2)) u_uart (
    .clk_i, .rst_ni, .sel_i(uart_sel), .we_i(we), .addr_i(addr[11:0]), .wdata_i(wdata),
    .rdata_o(uart_rdata), .err_o(uart_err), .irq_o(irq), .tx_valid_o(tx_valid),
    .tx_data_o(tx_data), .rx_ready_o(rx_ready), .rx_valid_i, .rx_data_i
  );

  system #(.NumCores(NumCores)) u_system (
    .clk_i, .rst_ni, .sel_i(system_sel), .we_i(we), .addr_i(addr[11:0]), .wdata_i(wdata),
    .rdata_o(system_rdata), .err_o(system_err), .wait_states_i, .events_i, .held_i, .hold_o(hold),
    .exit_o(ends), .exit_code_o(exit_code), .console_o(console), .console_byte_o(console_byte),
    .host_o(host), .host_request_o(host_request), .host_answer_i
  );

endmodule
