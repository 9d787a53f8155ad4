// SPDX-License-Identifier: Apache-2.0
// Sends each load and store of a core to what its address means, one after the other.
//
// An access to a device begins when the core's stores are all in the RAM: see dcache.

module data_demux #(
  parameter int unsigned RamBytes = 16 * 1024 * 1024,
  parameter int unsigned TcmBytes = 2048
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  // The core.
  input  logic                                 req_i,
  output logic                                 gnt_o,
  input  logic [3:0]                           be_i,
  input  logic [31:0]                          addr_i,
  output logic                                 rvalid_o,
  output logic [31:0]                          rdata_o,
  output logic                                 err_o,
  // The targets; the rest of the request goes to all.
  output logic [soc_pkg::NumTargets-1:0]       req_o,
  input  logic [soc_pkg::NumTargets-1:0]       gnt_i,
  input  logic [soc_pkg::NumTargets-1:0]       rvalid_i,
  input  logic [soc_pkg::NumTargets-1:0][31:0] rdata_i,
  input  logic [soc_pkg::NumTargets-1:0]       err_i,
  // The write buffer is empty.
  input  logic                                 drained_i
);

  localparam int unsigned RamW = $clog2(RamBytes);
  localparam int unsigned TcmW = $clog2(TcmBytes);

  soc_pkg::target_e target, target_q;
  logic             whole, pending_q, ready;

  // A register is read and written whole.
  assign whole = be_i == 4'b1111 && addr_i[1:0] == 2'b00;

  always_comb begin
    target = soc_pkg::TargetNone;
    if (addr_i[31:RamW] == soc_pkg::RamBase[31:RamW]) target = soc_pkg::TargetRam;
    else if (addr_i[31:TcmW] == soc_pkg::TcmBase[31:TcmW]) target = soc_pkg::TargetTcm;
    else if (whole) begin
      if (addr_i[31:16] == soc_pkg::TimerBase[31:16]) target = soc_pkg::TargetDevices;
      unique case (addr_i[31:12])
        soc_pkg::RtosBase[31:12]:   target = soc_pkg::TargetRtos;
        soc_pkg::LockBase[31:12]:   target = soc_pkg::TargetLock;
        soc_pkg::UartBase[31:12]:   target = soc_pkg::TargetDevices;
        soc_pkg::SystemBase[31:12]: target = soc_pkg::TargetDevices;
        default: ;
      endcase
    end
  end

  logic unused_addr;
  assign unused_addr = ^addr_i;

  // The answer before is there, or comes now.
  assign ready = !pending_q || rvalid_o;

  always_comb begin
    req_o = '0;
    gnt_o = req_i && ready && target == soc_pkg::TargetNone;
    for (int unsigned t = 0; t < soc_pkg::NumTargets; t++) begin
      if (32'(target) == t) begin
        req_o[t] = req_i && ready &&
                   (drained_i || t < 32'(soc_pkg::TargetRtos));
        gnt_o    = req_o[t] && gnt_i[t];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      target_q  <= soc_pkg::TargetNone;
    end else begin
      pending_q <= gnt_o || (pending_q && !rvalid_o);
      if (gnt_o) target_q <= target;
    end
  end

  always_comb begin
    rvalid_o = pending_q;
    rdata_o  = '0;
    err_o    = pending_q;
    for (int unsigned t = 0; t < soc_pkg::NumTargets; t++) begin
      if (32'(target_q) == t) begin
        rvalid_o = pending_q && rvalid_i[t];
        rdata_o  = rdata_i[t];
        err_o    = pending_q && rvalid_i[t] && err_i[t];
      end
    end
  end

endmodule
