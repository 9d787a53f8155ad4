// SPDX-License-Identifier: Apache-2.0
// The serial line, one byte at a time on its outer side: a byte each CyclesPerByte cycles and way.

`include "assert.svh"

module uart #(
  parameter int unsigned CyclesPerByte = 8,
  parameter int unsigned Depth         = 64  // bytes of each queue, up to 128
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // An access: the answer is there in the same cycle.
  input  logic        sel_i,
  input  logic        we_i,
  input  logic [11:0] addr_i,
  input  logic [31:0] wdata_i,
  output logic [31:0] rdata_o,
  output logic        err_o,
  output logic        irq_o,
  // The line.
  output logic        tx_valid_o,  // for a cycle
  output logic [7:0]  tx_data_o,
  output logic        rx_ready_o,  // there is room: a byte may come in the next cycle
  input  logic        rx_valid_i,
  input  logic [7:0]  rx_data_i
);

  localparam logic [11:0] RegData    = 12'h000;  // r   next byte, or 0    w   sends a byte
  localparam logic [11:0] RegStatus  = 12'h004;  // r   see below
  localparam logic [11:0] RegLost    = 12'h008;  // r   [15:0] received, [31:16] sent without room
  localparam logic [11:0] RegControl = 12'h00C;  // rw  bit 0: interrupts while a byte is there

  // RegStatus: bit 0 a byte is there, bit 1 room to send; [15:8] bytes there, [23:16] room.

  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned PaceW  = $clog2(CyclesPerByte + 1);

  logic [PaceW-1:0]  pace_q;
  logic              tick, read_data, write_data;
  logic              control_q;
  logic [15:0]       rx_lost_q, tx_lost_q;
  logic [CountW-1:0] rx_count, tx_count;
  logic [7:0]        rx_byte, tx_byte;

  assign tick       = pace_q == '0;
  assign read_data  = sel_i && !we_i && addr_i == RegData;
  assign write_data = sel_i && we_i && addr_i == RegData;

  byte_fifo #(
    .Depth(Depth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .push_i (rx_valid_i),
    .data_i (rx_data_i),
    .pop_i  (read_data),
    .data_o (rx_byte),
    .count_o(rx_count)
  );

  byte_fifo #(
    .Depth(Depth)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .push_i (write_data),
    .data_i (wdata_i[7:0]),
    .pop_i  (tick),
    .data_o (tx_byte),
    .count_o(tx_count)
  );

  logic rx_loses, tx_loses;

  assign rx_loses = rx_valid_i && 32'(rx_count) == Depth;
  assign tx_loses = write_data && 32'(tx_count) == Depth;

  // A counter that is full stays so.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pace_q    <= '0;
      control_q <= 1'b0;
      rx_lost_q <= '0;
      tx_lost_q <= '0;
    end else begin
      pace_q <= tick ? PaceW'(CyclesPerByte - 1) : pace_q - PaceW'(1);
      if (rx_loses && rx_lost_q != '1) rx_lost_q <= rx_lost_q + 16'd1;
      if (tx_loses && tx_lost_q != '1) tx_lost_q <= tx_lost_q + 16'd1;
      if (sel_i && we_i && addr_i == RegControl) control_q <= wdata_i[0];
    end
  end

  always_comb begin
    rdata_o = '0;
    err_o   = 1'b0;
    unique case (addr_i)
      RegData:    rdata_o = rx_count == '0 ? '0 : 32'(rx_byte);
      RegStatus: begin
        rdata_o[0]     = rx_count != '0;
        rdata_o[1]     = 32'(tx_count) < Depth;
        rdata_o[15:8]  = 8'(rx_count);
        rdata_o[23:16] = 8'(Depth - 32'(tx_count));
        err_o          = we_i;
      end
      RegLost: begin
        rdata_o = {tx_lost_q, rx_lost_q};
        err_o   = we_i;
      end
      RegControl: rdata_o = 32'(control_q);
      default:    err_o = 1'b1;
    endcase
  end

  assign irq_o      = control_q && rx_count != '0;
  assign tx_valid_o = tick && tx_count != '0;
  assign tx_data_o  = tx_byte;
  assign rx_ready_o = tick && 32'(rx_count) < Depth;

  logic unused_wdata;
  assign unused_wdata = ^wdata_i[31:8];

  `ASSERT_KNOWN(AnswerKnown, {rdata_o, err_o})
  `ASSERT_KNOWN(IrqKnown, irq_o)
  `ASSERT_KNOWN(LineKnown, {tx_valid_o, rx_ready_o})
  `ASSERT_KNOWN_IF(DataKnown, tx_data_o, tx_valid_o)

endmodule
