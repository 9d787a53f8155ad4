// SPDX-License-Identifier: Apache-2.0
// The SoC: cores with their caches, one bus to the shared RAM, the HW-RTOS and the Lock Unit with a
// port for each core, and a timer, a serial line and a system block for all.

module soc #(
  parameter  int unsigned NumCores      = 2,  // 1 to 4
  parameter  int unsigned NumTasks      = 16,
  parameter  int unsigned NumPorts      = 16,
  parameter  int unsigned WordsPerPort  = 1,
  parameter  int unsigned PrioWidth     = 3,
  parameter  bit          BuffersInRam  = 1'b1,  // the same in cycles, and simulated faster
  parameter  int unsigned RamBytes      = 16 * 1024 * 1024,  // a power of two, as all sizes
  parameter  int unsigned TcmBytes      = 8192,
  parameter  int unsigned CacheBytes    = 4096,
  parameter  int unsigned LineWords     = 4,
  parameter  int unsigned BufferLines   = 4,
  parameter  int unsigned CyclesPerByte = 8,
  localparam int unsigned TaskW         = $clog2(NumTasks)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // Modes, which stay the same while the cores run.
  input  logic [7:0]                     wait_states_i,     // of the RAM
  input  logic                           dcache_on_i,
  input  logic                           snooping_i,
  input  logic                           strict_i,          // loads wait for earlier stores
  input  logic [31:0]                    uncached_first_i,  // addresses that are not cached
  input  logic [31:0]                    uncached_last_i,
  // The serial line.
  output logic                           tx_valid_o,
  output logic [7:0]                     tx_data_o,
  output logic                           rx_ready_o,
  input  logic                           rx_valid_i,
  input  logic [7:0]                     rx_data_i,
  // What a program says beside the serial line.
  output logic                           console_o,
  output logic [7:0]                     console_byte_o,
  // What it asks of the machine that simulates it.
  output logic                           host_o,
  output logic [31:0]                    host_request_o,
  input  logic [31:0]                    host_answer_i,
  // The end.
  output logic                           exit_o,
  output logic [31:0]                    exit_code_o,
  // What each core does, for traces.
  output logic [2:0]                     num_cores_o,
  output logic [NumCores-1:0]            asleep_o,
  output logic [NumCores-1:0]            chose_o,    // its scheduling module takes a task
  output logic [NumCores-1:0]            running_o,  // a task of the HW-RTOS
  output logic [NumCores-1:0][7:0]       task_o,
  output logic [NumCores-1:0][5:0]       events_o    // as in soc_pkg::events_t
);

  localparam int unsigned WordW   = $clog2(RamBytes) - 2;
  localparam int unsigned OffsetW = $clog2(LineWords);

  // ---- Inputs, as they were at the last edge of the clock: no logic hangs on a pin -------------

  logic [7:0]  wait_states_q, rx_data_q;
  logic        dcache_on_q, snooping_q, strict_q, rx_valid_q;
  logic [31:0] uncached_first_q, uncached_last_q, host_answer_q;

  always_ff @(posedge clk_i) begin
    wait_states_q    <= wait_states_i;
    dcache_on_q      <= dcache_on_i;
    snooping_q       <= snooping_i;
    strict_q         <= strict_i;
    uncached_first_q <= uncached_first_i;
    uncached_last_q  <= uncached_last_i;
    rx_data_q        <= rx_data_i;
    host_answer_q    <= host_answer_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rx_valid_q <= 1'b0;
    else         rx_valid_q <= rx_valid_i;
  end

  // ---- Cores ---------------------------------------------------------------------------------

  logic [NumCores-1:0]             hold, held, we;
  logic [NumCores-1:0][31:0]       addr, wdata;
  logic [NumCores-1:0][11:0]       offset;
  soc_pkg::events_t [NumCores-1:0] events;
  logic [NumCores-1:0]             irq_software, irq_timer, irq_rtos;
  logic                            irq_uart;

  logic [NumCores-1:0]       rtos_req, rtos_gnt, rtos_rvalid, rtos_err;
  logic [NumCores-1:0][31:0] rtos_rdata;
  logic [NumCores-1:0]       lock_req, lock_gnt, lock_rvalid, lock_err;
  logic [NumCores-1:0][31:0] lock_rdata;
  logic [NumCores-1:0]       device_req, device_gnt, device_rvalid;
  logic [31:0]               device_rdata;
  logic                      device_err;

  // Of the bus: first the data of all cores, then their instructions.
  logic [2*NumCores-1:0]                    bus_req, bus_gnt, bus_beat, bus_done;
  logic [NumCores-1:0]                      bus_we, snoop;
  logic                                     bus_may_gnt;
  logic [2*NumCores-1:0][WordW-1:0]         bus_word;
  logic [2*NumCores-1:0][OffsetW-1:0]       bus_more;
  logic [NumCores-1:0][LineWords-1:0][31:0] bus_wdata;
  logic [NumCores-1:0][LineWords-1:0][3:0]  bus_be;
  logic [31:0]                              bus_rdata;
  logic [WordW-OffsetW-1:0]                 snoop_line;

  for (genvar c = 0; c < int'(NumCores); c++) begin : gen_core
    localparam int unsigned I = c + NumCores;  // of its instructions on the bus

    core_tile #(
      .RamBytes   (RamBytes),
      .TcmBytes   (TcmBytes),
      .CacheBytes (CacheBytes),
      .LineWords  (LineWords),
      .BufferLines(BufferLines)
    ) u_tile (
      .clk_i,
      .rst_ni,
      .number_i        (32'(c)),
      .hold_i          (hold[c]),
      .held_o          (held[c]),
      .snooping_i      (snooping_q),
      .strict_i        (strict_q),
      .dcache_on_i     (dcache_on_q),
      .uncached_first_i(uncached_first_q),
      .uncached_last_i (uncached_last_q),
      .irq_software_i  (irq_software[c]),
      .irq_timer_i     (irq_timer[c]),
      .irq_fast_i      ({irq_uart && c == 0, irq_rtos[c]}),
      .rtos_req_o      (rtos_req[c]),
      .rtos_gnt_i      (rtos_gnt[c]),
      .rtos_rvalid_i   (rtos_rvalid[c]),
      .rtos_rdata_i    (rtos_rdata[c]),
      .rtos_err_i      (rtos_err[c]),
      .lock_req_o      (lock_req[c]),
      .lock_gnt_i      (lock_gnt[c]),
      .lock_rvalid_i   (lock_rvalid[c]),
      .lock_rdata_i    (lock_rdata[c]),
      .lock_err_i      (lock_err[c]),
      .device_req_o    (device_req[c]),
      .device_gnt_i    (device_gnt[c]),
      .device_rvalid_i (device_rvalid[c]),
      .device_rdata_i  (device_rdata),
      .device_err_i    (device_err),
      .we_o            (we[c]),
      .addr_o          (addr[c]),
      .wdata_o         (wdata[c]),
      .bus_req_o       ({bus_req[I], bus_req[c]}),
      .bus_we_o        (bus_we[c]),
      .bus_word_o      ({bus_word[I], bus_word[c]}),
      .bus_more_o      ({bus_more[I], bus_more[c]}),
      .bus_wdata_o     (bus_wdata[c]),
      .bus_be_o        (bus_be[c]),
      .bus_may_gnt_i   (bus_may_gnt),
      .bus_gnt_i       ({bus_gnt[I], bus_gnt[c]}),
      .bus_beat_i      ({bus_beat[I], bus_beat[c]}),
      .bus_done_i      ({bus_done[I], bus_done[c]}),
      .bus_rdata_i     (bus_rdata),
      .snoop_i         (snoop != '0),
      .snoop_own_i     (snoop[c]),
      .snoop_line_i    (snoop_line),
      .events_o        (events[c])
    );

    assign offset[c]   = addr[c][11:0];
    assign asleep_o[c] = events[c].asleep;
    assign events_o[c] = events[c];
  end

  // ---- The shared RAM ------------------------------------------------------------------------

  logic             ram_we;
  logic [3:0]       ram_be;
  logic [WordW-1:0] ram_word;
  logic [31:0]      ram_wdata, ram_rdata;

  ram_bus #(
    .NumCores (NumCores),
    .LineWords(LineWords),
    .WordW    (WordW)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .wait_states_i(wait_states_q),
    .req_i        (bus_req),
    .word_i       (bus_word),
    .more_i       (bus_more),
    .we_i         (bus_we),
    .wdata_i      (bus_wdata),
    .be_i         (bus_be),
    .may_gnt_o    (bus_may_gnt),
    .gnt_o        (bus_gnt),
    .beat_o       (bus_beat),
    .done_o       (bus_done),
    .rdata_o      (bus_rdata),
    .snoop_o      (snoop),
    .snoop_line_o (snoop_line),
    .ram_we_o     (ram_we),
    .ram_be_o     (ram_be),
    .ram_word_o   (ram_word),
    .ram_wdata_o  (ram_wdata),
    .ram_rdata_i  (ram_rdata)
  );

  ram #(
    .NumWords(RamBytes / 4)
  ) u_ram (
    .clk_i,
    .we_i   (ram_we),
    .be_i   (ram_be),
    .word_i (ram_word),
    .wdata_i(ram_wdata),
    .rdata_o(ram_rdata)
  );

  // ---- Units with a port for each core -------------------------------------------------------

  logic [NumCores-1:0][TaskW-1:0] running_task;

  hw_rtos #(
    .NumCores    (NumCores),
    .NumTasks    (NumTasks),
    .NumPorts    (NumPorts),
    .WordsPerPort(WordsPerPort),
    .PrioWidth   (PrioWidth),
    .BuffersInRam(BuffersInRam)
  ) u_rtos (
    .clk_i,
    .rst_ni,
    .req_i   (rtos_req),
    .gnt_o   (rtos_gnt),
    .we_i    (we),
    .be_i    ({NumCores{4'b1111}}),
    .addr_i  (offset),
    .wdata_i (wdata),
    .rvalid_o(rtos_rvalid),
    .rdata_o (rtos_rdata),
    .err_o   (rtos_err),
    .irq_o   (irq_rtos),
    .chose_o,
    .running_o,
    .task_o  (running_task)
  );

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) task_o[c] = 8'(running_task[c]);
  end

  assign num_cores_o = 3'(NumCores);

  // A core in reset gives its lock, or its request for one, back.
  logic [NumCores-1:0]       lock_pending, gives_back, unused_lock_granted;
  logic [NumCores-1:0][11:0] lock_offset;

  assign gives_back = held & lock_pending;

  always_comb begin
    for (int unsigned c = 0; c < NumCores; c++) begin
      lock_offset[c] = gives_back[c] ? lock_pkg::RegCancel : offset[c];
    end
  end

  lock_unit #(
    .NumCores(NumCores)
  ) u_lock (
    .clk_i,
    .rst_ni,
    .req_i    (lock_req | gives_back),
    .gnt_o    (lock_gnt),
    .we_i     (we | gives_back),
    .be_i     ({NumCores{4'b1111}}),
    .addr_i   (lock_offset),
    .wdata_i  (wdata),
    .rvalid_o (lock_rvalid),
    .rdata_o  (lock_rdata),
    .err_o    (lock_err),
    .pending_o(lock_pending),
    .granted_o(unused_lock_granted)
  );

  // ---- Devices for all -----------------------------------------------------------------------

  logic        timer_sel, uart_sel, system_sel, timer_err, uart_err, system_err, device_we;
  logic [15:0] device_addr;
  logic [31:0] device_wdata, timer_rdata, uart_rdata, system_rdata;

  device_bus #(
    .NumCores(NumCores)
  ) u_devices (
    .clk_i,
    .rst_ni,
    .req_i         (device_req),
    .gnt_o         (device_gnt),
    .we_i          (we),
    .addr_i        (addr),
    .wdata_i       (wdata),
    .rvalid_o      (device_rvalid),
    .rdata_o       (device_rdata),
    .err_o         (device_err),
    .timer_sel_o   (timer_sel),
    .uart_sel_o    (uart_sel),
    .system_sel_o  (system_sel),
    .we_o          (device_we),
    .addr_o        (device_addr),
    .wdata_o       (device_wdata),
    .timer_rdata_i (timer_rdata),
    .timer_err_i   (timer_err),
    .uart_rdata_i  (uart_rdata),
    .uart_err_i    (uart_err),
    .system_rdata_i(system_rdata),
    .system_err_i  (system_err)
  );

  timer #(
    .NumCores(NumCores)
  ) u_timer (
    .clk_i,
    .rst_ni,
    .sel_i         (timer_sel),
    .we_i          (device_we),
    .addr_i        (device_addr),
    .wdata_i       (device_wdata),
    .rdata_o       (timer_rdata),
    .err_o         (timer_err),
    .irq_software_o(irq_software),
    .irq_timer_o   (irq_timer)
  );

  uart #(
    .CyclesPerByte(CyclesPerByte)
  ) u_uart (
    .clk_i,
    .rst_ni,
    .sel_i     (uart_sel),
    .we_i      (device_we),
    .addr_i    (device_addr[11:0]),
    .wdata_i   (device_wdata),
    .rdata_o   (uart_rdata),
    .err_o     (uart_err),
    .irq_o     (irq_uart),
    .tx_valid_o,
    .tx_data_o,
    .rx_ready_o,
    .rx_valid_i(rx_valid_q),
    .rx_data_i (rx_data_q)
  );

  system #(
    .NumCores(NumCores),
    .NumTasks(NumTasks),
    .NumPorts(NumPorts),
    .RamBytes(RamBytes),
    .TcmBytes(TcmBytes)
  ) u_system (
    .clk_i,
    .rst_ni,
    .sel_i        (system_sel),
    .we_i         (device_we),
    .addr_i       (device_addr[11:0]),
    .wdata_i      (device_wdata),
    .rdata_o      (system_rdata),
    .err_o        (system_err),
    .wait_states_i(wait_states_q),
    .events_i     (events),
    .held_i       (held),
    .hold_o       (hold),
    .exit_o,
    .exit_code_o,
    .console_o,
    .console_byte_o,
    .host_o,
    .host_request_o,
    .host_answer_i(host_answer_q)
  );

endmodule
