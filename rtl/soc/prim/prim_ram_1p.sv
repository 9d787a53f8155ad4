// SPDX-License-Identifier: Apache-2.0
// A RAM with one port, for Ibex's instruction cache.

module prim_ram_1p #(
  parameter  int Width           = 32,
  parameter  int Depth           = 128,
  parameter  int DataBitsPerMask = 1,
  parameter      MemInitFile     = "",  // not used
  localparam int Aw              = $clog2(Depth)
) (
  input  logic                         clk_i,
  input  logic                         req_i,
  input  logic                         write_i,
  input  logic [Aw-1:0]                addr_i,
  input  logic [Width-1:0]             wdata_i,
  input  logic [Width-1:0]             wmask_i,
  output logic [Width-1:0]             rdata_o,
  input  prim_ram_1p_pkg::ram_1p_cfg_t cfg_i
);

  logic [Width-1:0] words[Depth];

  // Ibex writes whole words.
  always_ff @(posedge clk_i) begin
    if (req_i && write_i) words[addr_i] <= wdata_i;
    else if (req_i) rdata_o <= words[addr_i];
  end

  localparam int UnusedFile = $bits(MemInitFile);

  logic unused_inputs;
  assign unused_inputs = (^wmask_i) ^ (^cfg_i) ^ DataBitsPerMask[0] ^ UnusedFile[0];

endmodule
