// SPDX-License-Identifier: Apache-2.0
// What every proof begins with: a module resets once, and then runs for ever.
// `ASSUME(Name, expression): what its surroundings keep to.

`ifndef RTL_FORMAL_SVH
`define RTL_FORMAL_SVH

`include "assert.svh"

`define RESET_ONCE \
  logic rst_ni = 1'b0; \
  always @(posedge clk_i) rst_ni <= 1'b1;

`define ASSUME(Name, expression) \
  always @(posedge clk_i) if (rst_ni) Name: assume (expression);

`endif
