// SPDX-License-Identifier: Apache-2.0
// Two data caches on one bus, for tests: what the cores see of each other's stores.

module dcache_pair #(
  parameter  int unsigned Bytes       = 256,
  parameter  int unsigned LineWords   = 4,
  parameter  int unsigned BufferLines = 4,
  localparam int unsigned NumCores    = 2,
  localparam int unsigned WordW       = 10,
  localparam int unsigned OffsetW     = $clog2(LineWords),
  localparam int unsigned LineW       = WordW - OffsetW
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [7:0]                     wait_states_i,
  input  logic                           snooping_i,
  input  logic                           strict_i,
  input  logic [NumCores-1:0]            req_i,
  output logic [NumCores-1:0]            gnt_o,
  input  logic [NumCores-1:0]            we_i,
  input  logic [NumCores-1:0]            uncached_i,
  input  logic [NumCores-1:0][3:0]       be_i,
  input  logic [NumCores-1:0][WordW-1:0] word_i,
  input  logic [NumCores-1:0][31:0]      wdata_i,
  output logic [NumCores-1:0]            rvalid_o,
  output logic [NumCores-1:0][31:0]      rdata_o,
  input  logic [NumCores-1:0]            flush_i,
  output logic [NumCores-1:0]            drained_o,
  output logic [NumCores-1:0]            hit_o,
  output logic [NumCores-1:0]            miss_o,
  output logic [NumCores-1:0]            stall_o,
  // What is written to the RAM, and that a transfer of it is done.
  output logic                           ram_done_o,
  output logic                           ram_we_o,
  output logic [3:0]                     ram_be_o,
  output logic [WordW-1:0]               ram_word_o,
  output logic [31:0]                    ram_wdata_o
);

  logic [2*NumCores-1:0]                    bus_req, bus_gnt, bus_beat, bus_done;
  logic [NumCores-1:0]                      bus_we, snoop, unused_idle, unused_stored;
  logic                                     bus_may_gnt;
  logic [2*NumCores-1:0][WordW-1:0]         bus_word;
  logic [2*NumCores-1:0][OffsetW-1:0]       bus_more;
  logic [NumCores-1:0][LineWords-1:0][31:0] bus_wdata;
  logic [NumCores-1:0][LineWords-1:0][3:0]  bus_be;
  logic [31:0]                              bus_rdata, ram_rdata;
  logic [LineW-1:0]                         snoop_line;

  for (genvar c = 0; c < NumCores; c++) begin : gen_cache
    dcache #(
      .Bytes      (Bytes),
      .LineWords  (LineWords),
      .BufferLines(BufferLines),
      .WordW      (WordW)
    ) u_dcache (
      .clk_i,
      .rst_ni,
      .req_i         (req_i[c]),
      .gnt_o         (gnt_o[c]),
      .we_i          (we_i[c]),
      .be_i          (be_i[c]),
      .word_i        (word_i[c]),
      .wdata_i       (wdata_i[c]),
      .uncached_i    (uncached_i[c]),
      .rvalid_o      (rvalid_o[c]),
      .rdata_o       (rdata_o[c]),
      .strict_i,
      .flush_i       (flush_i[c]),
      .snoop_i       (snooping_i && snoop != '0 && !snoop[c]),
      .snoop_line_i  (snoop_line),
      .fetch_line_i  ('0),
      .fetch_stored_o(unused_stored[c]),
      .bus_req_o     (bus_req[c]),
      .bus_we_o      (bus_we[c]),
      .bus_word_o    (bus_word[c]),
      .bus_more_o    (bus_more[c]),
      .bus_wdata_o   (bus_wdata[c]),
      .bus_be_o      (bus_be[c]),
      .bus_may_gnt_i (bus_may_gnt),
      .bus_gnt_i     (bus_gnt[c]),
      .bus_beat_i    (bus_beat[c]),
      .bus_done_i    (bus_done[c]),
      .bus_rdata_i   (bus_rdata),
      .drained_o     (drained_o[c]),
      .idle_o        (unused_idle[c]),
      .hit_o         (hit_o[c]),
      .miss_o        (miss_o[c]),
      .stall_o       (stall_o[c])
    );
  end

  assign ram_done_o = snoop != '0;

  // Nobody fetches instructions.
  assign bus_req[2*NumCores-1:NumCores]  = '0;
  assign bus_word[2*NumCores-1:NumCores] = '0;
  assign bus_more[2*NumCores-1:NumCores] = '0;

  ram_bus #(
    .NumCores (NumCores),
    .LineWords(LineWords),
    .WordW    (WordW)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .wait_states_i,
    .req_i       (bus_req),
    .word_i      (bus_word),
    .more_i      (bus_more),
    .we_i        (bus_we),
    .wdata_i     (bus_wdata),
    .be_i        (bus_be),
    .may_gnt_o   (bus_may_gnt),
    .gnt_o       (bus_gnt),
    .beat_o      (bus_beat),
    .done_o      (bus_done),
    .rdata_o     (bus_rdata),
    .snoop_o     (snoop),
    .snoop_line_o(snoop_line),
    .ram_we_o,
    .ram_be_o,
    .ram_word_o,
    .ram_wdata_o,
    .ram_rdata_i (ram_rdata)
  );

  ram #(
    .NumWords(1 << WordW)
  ) u_ram (
    .clk_i,
    .we_i   (ram_we_o),
    .be_i   (ram_be_o),
    .word_i (ram_word_o),
    .wdata_i(ram_wdata_o),
    .rdata_o(ram_rdata)
  );

  logic unused_fetches;
  assign unused_fetches = (^bus_gnt[2*NumCores-1:NumCores]) ^ (^bus_beat[2*NumCores-1:NumCores]) ^
                          (^bus_done[2*NumCores-1:NumCores]);

endmodule
