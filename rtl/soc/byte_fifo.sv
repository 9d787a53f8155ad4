// SPDX-License-Identifier: Apache-2.0
// A queue of bytes.

`include "assert.svh"

module byte_fifo #(
  parameter  int unsigned Depth  = 64,  // a power of two
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              push_i,  // without room the byte is dropped
  input  logic [7:0]        data_i,
  input  logic              pop_i,
  output logic [7:0]        data_o,  // the oldest one
  output logic [CountW-1:0] count_o
);

  localparam int unsigned SlotW = $clog2(Depth);

  logic [7:0]        bytes[Depth];
  logic [SlotW-1:0]  read_q, write_q;
  logic [CountW-1:0] count_q;
  logic              push, pop;

  assign push = push_i && 32'(count_q) < Depth;
  assign pop  = pop_i && count_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= '0;
      write_q <= '0;
      count_q <= '0;
    end else begin
      if (pop) read_q <= read_q + SlotW'(1);
      if (push) write_q <= write_q + SlotW'(1);
      count_q <= count_q + CountW'(push) - CountW'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) bytes[write_q] <= data_i;
  end

  assign data_o  = bytes[read_q];
  assign count_o = count_q;

  `ASSERT_KNOWN(CountKnown, count_o)
  `ASSERT_KNOWN_IF(DataKnown, data_o, count_o != '0)

endmodule
