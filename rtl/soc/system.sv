// SPDX-License-Identifier: Apache-2.0
// What the SoC is, the end of a simulation, which cores are held in reset, and counters.

`include "assert.svh"

module system #(
  parameter int unsigned NumCores = 2,
  parameter int unsigned NumTasks = 16,
  parameter int unsigned NumPorts = 16,
  parameter int unsigned RamBytes = 16 * 1024 * 1024,
  parameter int unsigned TcmBytes = 2048
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // An access: the answer is there in the same cycle.
  input  logic                            sel_i,
  input  logic                            we_i,
  input  logic [11:0]                     addr_i,
  input  logic [31:0]                     wdata_i,
  output logic [31:0]                     rdata_o,
  output logic                            err_o,
  input  logic [7:0]                      wait_states_i,
  input  soc_pkg::events_t [NumCores-1:0] events_i,
  input  logic [NumCores-1:0]             held_i,
  output logic [NumCores-1:0]             hold_o,
  output logic                            exit_o,  // for a cycle
  output logic [31:0]                     exit_code_o,
  output logic                            console_o,  // for a cycle
  output logic [7:0]                      console_byte_o,
  output logic                            host_o,  // for a cycle
  output logic [31:0]                     host_request_o,
  input  logic [31:0]                     host_answer_i
);

  localparam logic [11:0] RegExit       = 12'h000;  // w   ends the simulation with this code
  localparam logic [11:0] RegInfo       = 12'h004;  // r   [7:0] cores, [15:8] tasks, [23:16] ports
  localparam logic [11:0] RegClockHz    = 12'h008;  // r   cycles of a second
  localparam logic [11:0] RegRamBytes   = 12'h00C;  // r
  localparam logic [11:0] RegTcmBytes   = 12'h010;  // r
  localparam logic [11:0] RegHold       = 12'h014;  // rw  a bit for each core: in reset
  localparam logic [11:0] RegWaitStates = 12'h018;  // r   of the RAM
  localparam logic [11:0] RegConsole    = 12'h01C;  // w   a byte for who looks at the simulation
  localparam logic [11:0] RegHost       = 12'h020;  // rw  where a request to the host is; answer
  localparam logic [11:0] RegCounters   = 12'h100;  // r   32 bytes for each core, as in events_t

  logic [NumCores-1:0] hold_q;
  logic [31:0]         counter;
  logic                no_counter;

  // Core 0 is what the others depend on.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hold_q <= '0;
    else if (sel_i && we_i && addr_i == RegHold) begin
      hold_q    <= wdata_i[NumCores-1:0];
      hold_q[0] <= 1'b0;
    end
  end

  counters #(
    .NumCores(NumCores)
  ) u_counters (
    .clk_i,
    .rst_ni,
    .events_i,
    .index_i(addr_i[7:2]),
    .count_o(counter),
    .bad_o  (no_counter)
  );

  always_comb begin
    rdata_o = '0;
    err_o   = we_i;
    unique case (addr_i)
      RegExit, RegConsole: err_o = !we_i;
      RegInfo:       rdata_o = {8'd0, 8'(NumPorts), 8'(NumTasks), 8'(NumCores)};
      RegClockHz:    rdata_o = soc_pkg::ClockHz;
      RegRamBytes:   rdata_o = RamBytes;
      RegTcmBytes:   rdata_o = TcmBytes;
      RegHold: begin
        rdata_o = 32'(hold_q | held_i);
        err_o   = 1'b0;
      end
      RegWaitStates: rdata_o = 32'(wait_states_i);
      RegHost: begin
        rdata_o = host_answer_i;
        err_o   = 1'b0;
      end
      default: begin
        rdata_o = counter;
        err_o   = we_i || addr_i[11:8] != RegCounters[11:8] || no_counter;
      end
    endcase
  end

  assign hold_o      = hold_q;
  assign exit_o      = sel_i && we_i && addr_i == RegExit;
  assign exit_code_o = wdata_i;

  assign console_o      = sel_i && we_i && addr_i == RegConsole;
  assign console_byte_o = wdata_i[7:0];

  assign host_o         = sel_i && we_i && addr_i == RegHost;
  assign host_request_o = wdata_i;

  `ASSERT_KNOWN(AnswerKnown, {rdata_o, err_o})
  `ASSERT_KNOWN(HoldKnown, hold_o)
  `ASSERT_KNOWN(HostKnown, {exit_o, exit_code_o, console_o, console_byte_o, host_o, host_request_o})

endmodule
