// SPDX-License-Identifier: Apache-2.0
// `ASSERT(Name, expression): holds at every edge of clk_i out of reset. Checked in simulations that
// define RTL_ASSERTIONS, and proved by Yosys, which knows no concurrent assertions.
// `ASSERT_KNOWN(Name, signal): the same whatever registers and memories held before the reset: what
// a simulation of four states would call known. `ASSERT_KNOWN_IF(Name, signal, condition): so while
// the condition holds, which is known as well. Only the prover defines KNOWN: see decision 0057.
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

`ifdef KNOWN
`define ASSERT_KNOWN(Name, signal) \
  wire [$bits({signal})-1:0] known_``Name = signal;
`define ASSERT_KNOWN_IF(Name, signal, condition) \
  wire [$bits({signal}):0] known_``Name = {condition, {$bits({signal}){condition}} & {signal}};
`else
`define ASSERT_KNOWN(Name, signal)
`define ASSERT_KNOWN_IF(Name, signal, condition)
`endif

`define REQUIRE_RANGE(Name, low, high) \
  if (Name < low || Name > high) begin : gen_bad_``Name \
    $fatal(1, `"Name must be low to high`"); \
  end

`endif
