// SPDX-License-Identifier: Apache-2.0
// Counts what happens in each core, modulo 2^32.

`include "assert.svh"

module counters #(
  parameter int unsigned NumCores = 2
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  soc_pkg::events_t [NumCores-1:0] events_i,
  input  logic [5:0]                      index_i,  // eight for each core, as in events_t
  output logic [31:0]                     count_o,
  output logic                            bad_o     // no such counter
);

  localparam int unsigned NumEvents = $bits(events_i) / NumCores;

  logic [NumCores-1:0][NumEvents-1:0][31:0] counts_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) counts_q <= '0;
    else begin
      for (int unsigned c = 0; c < NumCores; c++) begin
        for (int unsigned e = 0; e < NumEvents; e++) begin
          if (events_i[c][e]) counts_q[c][e] <= counts_q[c][e] + 32'd1;
        end
      end
    end
  end

  always_comb begin
    count_o = '0;
    bad_o   = 1'b1;
    for (int unsigned c = 0; c < NumCores; c++) begin
      for (int unsigned e = 0; e < NumEvents; e++) begin
        if (32'(index_i) == 8 * c + e) begin
          count_o = counts_q[c][e];
          bad_o   = 1'b0;
        end
      end
    end
  end

  `ASSERT_KNOWN(CountKnown, {count_o, bad_o})

endmodule
