// SPDX-License-Identifier: Apache-2.0
// No gate: a core that sleeps keeps its clock. It changes nothing but the power it takes.

module prim_clock_gating (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,
  output logic clk_o
);

  assign clk_o = clk_i;

  logic unused_enables;
  assign unused_enables = en_i ^ test_en_i;

endmodule
