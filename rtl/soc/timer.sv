// SPDX-License-Identifier: Apache-2.0
// The timer and the inter-processor interrupts, laid out as the usual core-local interruptor: one
// clock for all cores, and for each a time to compare it with and a bit that interrupts it.

`include "assert.svh"

module timer #(
  parameter int unsigned NumCores = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // An access: the answer is there in the same cycle.
  input  logic                sel_i,
  input  logic                we_i,
  input  logic [15:0]         addr_i,
  input  logic [31:0]         wdata_i,
  output logic [31:0]         rdata_o,
  output logic                err_o,
  output logic [NumCores-1:0] irq_software_o,
  output logic [NumCores-1:0] irq_timer_o
);

  localparam logic [15:0] RegSoftware = 16'h0000;  // rw  bit 0, for each core
  localparam logic [15:0] RegCompare  = 16'h4000;  // rw  64 bits, for each core
  localparam logic [15:0] RegTime     = 16'hBFF8;  // r   64 bits: cycles since reset

  logic [63:0]               time_q;
  logic [NumCores-1:0]       software_q, late_q;
  logic [NumCores-1:0][63:0] compare_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q     <= '0;
      software_q <= '0;
      compare_q  <= '1;
      late_q     <= '0;
    end else begin
      time_q <= time_q + 64'd1;
      for (int unsigned c = 0; c < NumCores; c++) begin
        late_q[c] <= time_q >= compare_q[c];
        if (sel_i && we_i && addr_i == RegSoftware + 16'(4 * c)) software_q[c] <= wdata_i[0];
        if (sel_i && we_i && addr_i == RegCompare + 16'(8 * c)) begin
          compare_q[c][31:0] <= wdata_i;
          late_q[c]          <= 1'b0;
        end
        if (sel_i && we_i && addr_i == RegCompare + 16'(8 * c + 4)) begin
          compare_q[c][63:32] <= wdata_i;
          late_q[c]           <= 1'b0;
        end
      end
    end
  end

  always_comb begin
    rdata_o = '0;
    err_o   = 1'b1;
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (addr_i == RegSoftware + 16'(4 * c)) begin
        rdata_o = 32'(software_q[c]);
        err_o   = 1'b0;
      end
      if (addr_i == RegCompare + 16'(8 * c)) begin
        rdata_o = compare_q[c][31:0];
        err_o   = 1'b0;
      end
      if (addr_i == RegCompare + 16'(8 * c + 4)) begin
        rdata_o = compare_q[c][63:32];
        err_o   = 1'b0;
      end
    end
    if (addr_i == RegTime || addr_i == RegTime + 16'd4) begin
      rdata_o = addr_i[2] ? time_q[63:32] : time_q[31:0];
      err_o   = we_i;
    end
  end

  assign irq_software_o = software_q;
  assign irq_timer_o    = late_q;

  `ASSERT_KNOWN(AnswerKnown, {rdata_o, err_o})
  `ASSERT_KNOWN(IrqKnown, {irq_software_o, irq_timer_o})

endmodule
