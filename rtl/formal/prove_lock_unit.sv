// SPDX-License-Identifier: Apache-2.0
// Seen from the bus: while a core holds an address, nobody else's acquire of it ends; only the
// holder gives it back; every access that is granted is answered in the next cycle.

`include "formal.svh"

module prove_lock_unit #(
  parameter int unsigned NumCores = 2
) (
  input logic                      clk_i,
  input logic [NumCores-1:0]       req_i,
  input logic [NumCores-1:0]       we_i,
  input logic [NumCores-1:0][3:0]  be_i,
  input logic [NumCores-1:0][11:0] addr_i,
  input logic [NumCores-1:0][2:0]  data_i
);

  `RESET_ONCE

  logic [NumCores-1:0]       gnt, rvalid, err, granted;
  logic [NumCores-1:0][31:0] rdata, wdata;

  // Addresses are only compared: a few different ones are as good as all.
  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) wdata[c] = 32'(data_i[c]);
  end

  lock_unit #(.NumCores(NumCores)) dut (
    .clk_i, .rst_ni, .req_i, .gnt_o(gnt), .we_i, .be_i, .addr_i, .wdata_i(wdata),
    .rvalid_o(rvalid), .rdata_o(rdata), .err_o(err), .granted_o(granted)
  );

  // ---- The bus: an access that is not granted stays as it is ------------------------------------

  logic [NumCores-1:0]       stalled_q = '0, gnt_q = '0, known_q, we_q, changed;
  logic [NumCores-1:0][3:0]  be_q;
  logic [NumCores-1:0][11:0] addr_q;
  logic [NumCores-1:0][31:0] wdata_q;

  always @(posedge clk_i) begin
    stalled_q <= rst_ni ? req_i & ~gnt : '0;
    gnt_q     <= rst_ni ? gnt : '0;
    we_q      <= we_i;
    be_q      <= be_i;
    addr_q    <= addr_i;
    wdata_q   <= wdata;
  end

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      changed[c] = !req_i[c] || we_i[c] != we_q[c] || be_i[c] != be_q[c]
                   || addr_i[c] != addr_q[c] || wdata[c] != wdata_q[c];
      known_q[c] = addr_q[c] <= lock_pkg::RegErrors && addr_q[c][1:0] == 2'b00;
    end
  end

  // ---- What software may conclude from its own accesses -----------------------------------------

  logic [NumCores-1:0]       holds_q = '0, asks_q = '0, holds_d, asks_d;
  logic [NumCores-1:0][31:0] locked_q, locked_d;

  always_comb begin
    locked_d = locked_q;
    asks_d   = asks_q;
    holds_d  = holds_q | (asks_q & granted);
    for (int unsigned c = 0; c < NumCores; c++) begin
      if (gnt[c] && we_i[c] && be_i[c] == 4'b1111) begin
        if (addr_i[c] == lock_pkg::RegCancel
            || (addr_i[c] == lock_pkg::RegRelease && granted[c] && locked_q[c] == wdata[c])) begin
          asks_d[c]  = 1'b0;
          holds_d[c] = 1'b0;
        end
        if (!asks_q[c] && (addr_i[c] == lock_pkg::RegAcquire
                           || addr_i[c] == lock_pkg::RegRequest)) begin
          asks_d[c]   = 1'b1;
          holds_d[c]  = addr_i[c] == lock_pkg::RegAcquire;
          locked_d[c] = wdata[c];
        end
      end
    end
  end

  always @(posedge clk_i) begin
    if (rst_ni) begin
      holds_q  <= holds_d;
      asks_q   <= asks_d;
      locked_q <= locked_d;
    end
  end

  `ASSUME(HoldsTheAccess, (stalled_q & changed) == '0)

  `ASSERT(KeepsWhatItHolds, (holds_q & ~granted) == '0)
  `ASSERT(OneHolder, !(holds_q == '1 && locked_q[0] == locked_q[1]))
  `ASSERT(AnsweredInTheNextCycle, rvalid == gnt_q)
  `ASSERT(ErrorsAreAnswers, (err & ~rvalid) == '0)
  `ASSERT(NoSuchRegister, (rvalid & ~known_q & ~err) == '0)

endmodule
