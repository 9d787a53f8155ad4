// SPDX-License-Identifier: Apache-2.0
// `ASSERT(Name, expression): holds at every edge of clk_i out of reset. Checked in simulations that
// define RTL_ASSERTIONS, and proved by Yosys, which knows no concurrent assertions.

`ifndef RTL_ASSERT_SVH
`define RTL_ASSERT_SVH

`ifdef FORMAL
`define RTL_ASSERTIONS
`define ASSERT(Name, expression) \
  always @(posedge clk_i) if (rst_ni) Name: assert (expression);
`elsif RTL_ASSERTIONS
`define ASSERT(Name, expression) \
  Name: assert property (@(posedge clk_i) disable iff (!rst_ni) (expression));
`else
`define ASSERT(Name, expression)
`endif

`endif
