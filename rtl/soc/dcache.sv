// SPDX-License-Identifier: Apache-2.0
// The data cache of a core: direct mapped, write-through without allocation, with a write buffer
// behind it. It snoops: a line that another core writes is dropped.
//
// Order. A load sees the newest store of its own core: a hit has it, since stores go into the cache
// and the buffer in one cycle, and a miss waits until the buffer has no store to its line. A line
// is dropped in the cycle in which another core's write to it is done, so a load that begins later
// misses. A load may overtake earlier stores to other lines, unless strict_i.
//
// Whoever hands something over writes to a device (the Lock Unit, the HW-RTOS, an inter-processor
// interrupt), and data_demux lets no access to a device begin before the buffer is empty: what was
// stored before a release is in the RAM, and dropped elsewhere, before anybody is granted the lock.
// A read of a device is a full fence.

`include "assert.svh"

module dcache #(
  parameter  int unsigned Bytes       = 4096,
  parameter  int unsigned LineWords   = 4,
  parameter  int unsigned BufferLines = 4,
  parameter  int unsigned WordW       = 22,
  localparam int unsigned OffsetW     = $clog2(LineWords),
  localparam int unsigned LineW       = WordW - OffsetW
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // The core.
  input  logic                       req_i,
  output logic                       gnt_o,
  input  logic                       we_i,
  input  logic [3:0]                 be_i,
  input  logic [WordW-1:0]           word_i,
  input  logic [31:0]                wdata_i,
  input  logic                       uncached_i,  // this word never enters the cache
  output logic                       rvalid_o,
  output logic [31:0]                rdata_o,
  // Modes.
  input  logic                       strict_i,    // loads wait for all earlier stores
  input  logic                       flush_i,     // drops all lines, for as long as it is high
  // Another core has written to this line.
  input  logic                       snoop_i,
  input  logic [LineW-1:0]           snoop_line_i,
  // The line that this core fetches instructions from: is a store to it still in the buffer?
  input  logic [LineW-1:0]           fetch_line_i,
  output logic                       fetch_stored_o,
  // The bus.
  output logic                       bus_req_o,
  output logic                       bus_we_o,
  output logic [WordW-1:0]           bus_word_o,
  output logic [OffsetW-1:0]         bus_more_o,
  output logic [LineWords-1:0][31:0] bus_wdata_o,
  output logic [LineWords-1:0][3:0]  bus_be_o,
  input  logic                       bus_may_gnt_i,  // it grants somebody in this cycle
  input  logic                       bus_gnt_i,
  input  logic                       bus_beat_i,
  input  logic                       bus_done_i,
  input  logic [31:0]                bus_rdata_i,
  // What goes on.
  output logic                       drained_o,   // the write buffer is empty
  output logic                       idle_o,      // and nothing else is under way
  output logic                       hit_o,
  output logic                       miss_o,
  output logic                       stall_o      // a store waits for room in the buffer
);

  localparam int unsigned NumLines = Bytes / 4 / LineWords;
  localparam int unsigned IndexW   = $clog2(NumLines);
  localparam int unsigned TagW     = LineW - IndexW;

  // ---- The request that is looked up ---------------------------------------------------------

  logic               valid_q, we_q, uncached_q;
  logic [3:0]         be_q;
  logic [WordW-1:0]   word_q;
  logic [31:0]        wdata_q;
  logic [LineW-1:0]   line;
  logic [IndexW-1:0]  index;
  logic [OffsetW-1:0] offset;

  assign line   = word_q[WordW-1:OffsetW];
  assign index  = line[IndexW-1:0];
  assign offset = word_q[OffsetW-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                valid_q <= 1'b0;
    else if (req_i && gnt_o)    valid_q <= 1'b1;
    else if (rvalid_o)          valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (req_i && gnt_o) begin
      we_q       <= we_i;
      be_q       <= be_i;
      word_q     <= word_i;
      wdata_q    <= wdata_i;
      uncached_q <= uncached_i;
    end
  end

  // ---- Lines ---------------------------------------------------------------------------------

  logic [NumLines-1:0] present_q;
  logic [TagW-1:0]     tags[NumLines];
  logic [31:0]         data[NumLines*LineWords];
  logic                found, filling_q, keep_q, dropped;
  logic                lookup, hit, store_done, fill_req, fill_gnt;
  logic [OffsetW-1:0]  beat_q;
  logic                stored, buffer_ready, buffer_empty, buffer_req, sending_q;
  logic [IndexW-1:0]   snoop_index;

  assign snoop_index = snoop_line_i[IndexW-1:0];
  assign dropped     = snoop_i && present_q[snoop_index] &&
                       tags[snoop_index] == snoop_line_i[LineW-1:IndexW];

  assign found      = present_q[index] && tags[index] == line[LineW-1:IndexW];
  assign lookup     = valid_q && !filling_q;
  assign hit        = lookup && !we_q && found && (!strict_i || buffer_empty);
  assign store_done = lookup && we_q && buffer_ready;
  assign fill_req   = lookup && !we_q && !found && !(strict_i ? !buffer_empty : stored);
  assign fill_gnt   = fill_req && bus_gnt_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filling_q <= 1'b0;
      keep_q    <= 1'b0;
    end else begin
      if (fill_gnt)                     filling_q <= 1'b1;
      else if (filling_q && bus_done_i) filling_q <= 1'b0;
      // A line that is written, or dropped, while it comes is not kept.
      if (fill_gnt) keep_q <= !uncached_q && !flush_i;
      else if (flush_i || (snoop_i && snoop_line_i == line)) keep_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      present_q <= '0;
    else if (flush_i) present_q <= '0;
    else begin
      if (dropped) present_q[snoop_index] <= 1'b0;
      if (fill_gnt && !uncached_q) present_q[index] <= 1'b0;
      if (filling_q && bus_done_i && keep_q) begin
        present_q[index] <= !(snoop_i && snoop_line_i == line);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (fill_gnt) beat_q <= offset;
    else if (bus_beat_i) beat_q <= beat_q + OffsetW'(1);
    if (fill_gnt && !uncached_q) tags[index] <= line[LineW-1:IndexW];
    if (filling_q && bus_beat_i && !uncached_q) data[{index, beat_q}] <= bus_rdata_i;
    for (int unsigned b = 0; b < 4; b++) begin
      if (store_done && found && be_q[b]) data[{index, offset}][8*b+:8] <= wdata_q[8*b+:8];
    end
  end

  // The word that is missing comes first; the core goes on while the others follow.
  logic first;

  assign first    = filling_q && bus_beat_i && valid_q;
  assign rvalid_o = hit || store_done || first;
  assign rdata_o  = filling_q ? bus_rdata_i : data[{index, offset}];
  assign gnt_o    = !filling_q && (!valid_q || rvalid_o);

  // ---- The write buffer, and the bus ---------------------------------------------------------

  logic [WordW-1:0]   buffer_word;
  logic [OffsetW-1:0] buffer_more;
  logic               buffer_gnt, fetch_held;

  write_buffer #(
    .Depth    (BufferLines),
    .LineWords(LineWords),
    .WordW    (WordW)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .push_i (lookup && we_q),
    .ready_o(buffer_ready),
    .word_i (word_q),
    .be_i   (be_q),
    .wdata_i(wdata_q),
    .line_i ({fetch_line_i, line}),
    .match_o({fetch_held, stored}),
    .empty_o(buffer_empty),
    .req_o  (buffer_req),
    .may_gnt_i(bus_may_gnt_i),
    .gnt_i  (buffer_gnt),
    .done_i (bus_done_i && sending_q),
    .word_o (buffer_word),
    .more_o (buffer_more),
    .wdata_o(bus_wdata_o),
    .be_o   (bus_be_o)
  );

  // A core waits for a load, and for no store.
  assign buffer_gnt = buffer_req && bus_gnt_i && !fill_req;
  assign bus_req_o  = fill_req || buffer_req;
  assign bus_we_o   = !fill_req;
  assign bus_word_o = fill_req ? word_q : buffer_word;
  assign bus_more_o = !fill_req ? buffer_more : uncached_q ? '0 : OffsetW'(LineWords - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)         sending_q <= 1'b0;
    else if (buffer_gnt) sending_q <= 1'b1;
    else if (bus_done_i) sending_q <= 1'b0;
  end

  // Also of one that is looked up now.
  assign fetch_stored_o = fetch_held || (valid_q && we_q && line == fetch_line_i);

  assign drained_o = buffer_empty && !(valid_q && we_q);
  assign idle_o    = buffer_empty && !valid_q && !filling_q;
  assign hit_o     = hit;
  assign miss_o    = fill_gnt;
  assign stall_o   = lookup && we_q && !buffer_ready;

  `ASSERT(NoLineIsStoredToWhileItComes, !(filling_q && store_done))

  `ASSERT_KNOWN(AnswerKnown, {gnt_o, rvalid_o})
  `ASSERT_KNOWN(BusKnown, {bus_req_o, bus_we_o})
  `ASSERT_KNOWN_IF(TransferKnown, {bus_word_o, bus_more_o}, bus_req_o)
  `ASSERT_KNOWN_IF(StoreKnown, bus_be_o, bus_req_o && bus_we_o)
  `ASSERT_KNOWN(StateKnown, {drained_o, idle_o, hit_o, miss_o, stall_o})

endmodule
