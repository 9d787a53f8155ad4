// SPDX-License-Identifier: Apache-2.0
// A core with what it has for itself: Ibex, its caches, its TCM.

module core_tile #(
  parameter  int unsigned RamBytes    = 16 * 1024 * 1024,
  parameter  int unsigned TcmBytes    = 2048,
  parameter  int unsigned CacheBytes  = 4096,
  parameter  int unsigned LineWords   = 4,
  parameter  int unsigned BufferLines = 4,
  localparam int unsigned WordW       = $clog2(RamBytes) - 2,
  localparam int unsigned OffsetW     = $clog2(LineWords)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [31:0]                number_i,
  input  logic                       hold_i,       // keeps the core in reset
  output logic                       held_o,       // it is in reset
  // Modes.
  input  logic                       snooping_i,
  input  logic                       strict_i,
  input  logic                       dcache_on_i,
  input  logic [31:0]                uncached_first_i,  // addresses that are not cached
  input  logic [31:0]                uncached_last_i,
  // Interrupts.
  input  logic                       irq_software_i,
  input  logic                       irq_timer_i,
  input  logic [1:0]                 irq_fast_i,
  // The devices. All get the same request.
  output logic                       rtos_req_o,
  input  logic                       rtos_gnt_i,
  input  logic                       rtos_rvalid_i,
  input  logic [31:0]                rtos_rdata_i,
  input  logic                       rtos_err_i,
  output logic                       lock_req_o,
  input  logic                       lock_gnt_i,
  input  logic                       lock_rvalid_i,
  input  logic [31:0]                lock_rdata_i,
  input  logic                       lock_err_i,
  output logic                       device_req_o,
  input  logic                       device_gnt_i,
  input  logic                       device_rvalid_i,
  input  logic [31:0]                device_rdata_i,
  input  logic                       device_err_i,
  output logic                       we_o,
  output logic [31:0]                addr_o,
  output logic [31:0]                wdata_o,
  // The bus: bit 0 is data, bit 1 instructions.
  output logic [1:0]                 bus_req_o,
  output logic                       bus_we_o,
  output logic [1:0][WordW-1:0]      bus_word_o,
  output logic [1:0][OffsetW-1:0]    bus_more_o,
  output logic [LineWords-1:0][31:0] bus_wdata_o,
  output logic [LineWords-1:0][3:0]  bus_be_o,
  input  logic                       bus_may_gnt_i,
  input  logic [1:0]                 bus_gnt_i,
  input  logic [1:0]                 bus_beat_i,
  input  logic [1:0]                 bus_done_i,
  input  logic [31:0]                bus_rdata_i,
  input  logic                       snoop_i,      // a write is done
  input  logic                       snoop_own_i,  // by this core
  input  logic [WordW-OffsetW-1:0]   snoop_line_i,
  output soc_pkg::events_t           events_o
);

  // ---- Reset ---------------------------------------------------------------------------------

  logic held_q, core_rst_nq, dcache_idle, fetch_idle;

  // What the core has begun is finished before it starts again.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                         held_q <= 1'b0;
    else if (hold_i)                     held_q <= 1'b1;
    else if (dcache_idle && fetch_idle)  held_q <= 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) core_rst_nq <= 1'b0;
    else         core_rst_nq <= !held_q;
  end

  assign held_o = held_q;

  // ---- The core ------------------------------------------------------------------------------

  logic        instr_req, instr_gnt, instr_rvalid, instr_err;
  logic [31:0] instr_addr, instr_rdata;
  logic        req, gnt, rvalid, we, err;
  logic [3:0]  be;
  logic [31:0] addr, wdata, rdata;
  logic        asleep;

  // PMP: a region for the guard of the stack that is in use.
  ibex_top #(
    .PMPEnable      (1'b1),
    .PMPNumRegions  (1),
    .RV32M          (ibex_pkg::RV32MSingleCycle),
    .BranchTargetALU(1'b1),
    .WritebackStage (1'b1)
  ) u_ibex (
    .clk_i,
    .rst_ni                (core_rst_nq),
    .test_en_i             (1'b0),
    .ram_cfg_i             (prim_ram_1p_pkg::RAM_1P_CFG_DEFAULT),
    .hart_id_i             (number_i),
    .boot_addr_i           (soc_pkg::RamBase),
    .instr_req_o           (instr_req),
    .instr_gnt_i           (instr_gnt),
    .instr_rvalid_i        (instr_rvalid),
    .instr_addr_o          (instr_addr),
    .instr_rdata_i         (instr_rdata),
    .instr_rdata_intg_i    ('0),
    .instr_err_i           (instr_err),
    .data_req_o            (req),
    .data_gnt_i            (gnt),
    .data_rvalid_i         (rvalid),
    .data_we_o             (we),
    .data_be_o             (be),
    .data_addr_o           (addr),
    .data_wdata_o          (wdata),
    .data_wdata_intg_o     (),
    .data_rdata_i          (rdata),
    .data_rdata_intg_i     ('0),
    .data_err_i            (err),
    .irq_software_i,
    .irq_timer_i,
    .irq_external_i        (1'b0),
    .irq_fast_i            (15'(irq_fast_i)),
    .irq_nm_i              (1'b0),
    .scramble_key_valid_i  (1'b0),
    .scramble_key_i        ('0),
    .scramble_nonce_i      ('0),
    .scramble_req_o        (),
    .debug_req_i           (1'b0),
    .crash_dump_o          (),
    .double_fault_seen_o   (),
    .fetch_enable_i        (ibex_pkg::IbexMuBiOn),
    .alert_minor_o         (),
    .alert_major_internal_o(),
    .alert_major_bus_o     (),
    .core_sleep_o          (asleep),
    .scan_rst_ni           (1'b1)
  );

  // ---- Instructions --------------------------------------------------------------------------

  // A store to instructions that this core is about to fetch goes first.
  logic                     drained, fetch_stored;
  logic [WordW-OffsetW-1:0] fetch_line;

  icache #(
    .Bytes    (CacheBytes),
    .LineWords(LineWords),
    .WordW    (WordW)
  ) u_icache (
    .clk_i,
    .rst_ni,
    .req_i       (instr_req),
    .gnt_o       (instr_gnt),
    .addr_i      (instr_addr),
    .rvalid_o    (instr_rvalid),
    .rdata_o     (instr_rdata),
    .err_o       (instr_err),
    .snoop_i,
    .snoop_line_i,
    .flush_i     (held_q),
    .line_o      (fetch_line),
    .stored_i    (fetch_stored),
    .bus_req_o   (bus_req_o[1]),
    .bus_word_o  (bus_word_o[1]),
    .bus_more_o  (bus_more_o[1]),
    .bus_gnt_i   (bus_gnt_i[1]),
    .bus_beat_i  (bus_beat_i[1]),
    .bus_done_i  (bus_done_i[1]),
    .bus_rdata_i,
    .idle_o      (fetch_idle)
  );

  // ---- Data ----------------------------------------------------------------------------------

  logic [soc_pkg::NumTargets-1:0]       target_req, target_gnt, target_rvalid, target_err;
  logic [soc_pkg::NumTargets-1:0][31:0] target_rdata;
  logic                                 ram_gnt, ram_rvalid, tcm_gnt, tcm_rvalid;
  logic [31:0]                          ram_rdata, tcm_rdata;

  data_demux #(
    .RamBytes(RamBytes),
    .TcmBytes(TcmBytes)
  ) u_demux (
    .clk_i,
    .rst_ni   (core_rst_nq),
    .req_i    (req),
    .gnt_o    (gnt),
    .be_i     (be),
    .addr_i   (addr),
    .rvalid_o (rvalid),
    .rdata_o  (rdata),
    .err_o    (err),
    .req_o    (target_req),
    .gnt_i    (target_gnt),
    .rvalid_i (target_rvalid),
    .rdata_i  (target_rdata),
    .err_i    (target_err),
    .drained_i(drained)
  );

  assign target_gnt    = {device_gnt_i, lock_gnt_i, rtos_gnt_i, tcm_gnt, ram_gnt};
  assign target_rvalid = {device_rvalid_i, lock_rvalid_i, rtos_rvalid_i, tcm_rvalid, ram_rvalid};
  assign target_rdata  = {device_rdata_i, lock_rdata_i, rtos_rdata_i, tcm_rdata, ram_rdata};
  assign target_err    = {device_err_i, lock_err_i, rtos_err_i, 2'b00};
  assign rtos_req_o    = target_req[soc_pkg::TargetRtos];
  assign lock_req_o    = target_req[soc_pkg::TargetLock];
  assign device_req_o  = target_req[soc_pkg::TargetDevices];
  assign we_o          = we;
  assign addr_o        = addr;
  assign wdata_o       = wdata;

  tcm #(
    .Bytes(TcmBytes)
  ) u_tcm (
    .clk_i,
    .rst_ni  (core_rst_nq),
    .number_i,
    .req_i   (target_req[soc_pkg::TargetTcm]),
    .gnt_o   (tcm_gnt),
    .we_i    (we),
    .be_i    (be),
    .word_i  (addr[$clog2(TcmBytes)-1:2]),
    .wdata_i (wdata),
    .rvalid_o(tcm_rvalid),
    .rdata_o (tcm_rdata)
  );

  logic hit, miss, stall;

  dcache #(
    .Bytes      (CacheBytes),
    .LineWords  (LineWords),
    .BufferLines(BufferLines),
    .WordW      (WordW)
  ) u_dcache (
    .clk_i,
    .rst_ni,
    .req_i       (target_req[soc_pkg::TargetRam]),
    .gnt_o       (ram_gnt),
    .we_i        (we),
    .be_i        (be),
    .word_i      (addr[2+:WordW]),
    .wdata_i     (wdata),
    .uncached_i  (!dcache_on_i || (addr >= uncached_first_i && addr <= uncached_last_i)),
    .rvalid_o    (ram_rvalid),
    .rdata_o     (ram_rdata),
    .strict_i,
    .flush_i     (held_q),
    .snoop_i     (snooping_i && snoop_i && !snoop_own_i),
    .snoop_line_i,
    .fetch_line_i(fetch_line),
    .fetch_stored_o(fetch_stored),
    .bus_req_o   (bus_req_o[0]),
    .bus_we_o,
    .bus_word_o  (bus_word_o[0]),
    .bus_more_o  (bus_more_o[0]),
    .bus_wdata_o,
    .bus_be_o,
    .bus_may_gnt_i,
    .bus_gnt_i   (bus_gnt_i[0]),
    .bus_beat_i  (bus_beat_i[0]),
    .bus_done_i  (bus_done_i[0]),
    .bus_rdata_i,
    .drained_o   (drained),
    .idle_o      (dcache_idle),
    .hit_o       (hit),
    .miss_o      (miss),
    .stall_o     (stall)
  );

  assign events_o = '{
    buffer_stall: stall,
    bus_wait:     (bus_req_o & ~bus_gnt_i) != '0,
    fetch_miss:   bus_gnt_i[1],
    data_miss:    miss,
    data_hit:     hit,
    asleep:       asleep && !held_q
  };

endmodule
