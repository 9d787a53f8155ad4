// SPDX-License-Identifier: Apache-2.0
// `ASSERT(Name, expression): holds at every edge of clk_i out of reset. Checked in simulations that
// define RTL_ASSERTIONS, and proved by Yosys, which knows no concurrent assertions.
// `REQUIRE_RANGE(Name, low, high): otherwise nothing is elaborated, and it is said why.

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

`define REQUIRE_RANGE(Name, low, high) \
  if (Name < low || Name > high) begin : gen_bad_``Name \
    $fatal(1, `"Name must be low to high`"); \
  end

`endif
