# SPDX-License-Identifier: Apache-2.0
"""Faults that a proof or a test must find: a line of a module, and what is there instead.

The first six are the hazards of the design, left unsolved.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    """`assertion`: the one of `proof` that must refute it."""

    name: str
    file: str
    line: str
    instead: str
    proof: str
    assertion: str


HAZARDS = (
    # A task goes on elsewhere while its context is still in the registers of the core that it left.
    Mutant(
        "picked_before_it_is_saved",
        "hw_rtos/hw_rtos_tasks.sv",
        "(!unsaved_any[t] || unsaved[c][t])",
        "1'b1",
        "tasks",
        "NotWithoutItsContext",
    ),
    # An idle core keeps the pick from the others.
    Mutant(
        "asks_with_nothing_to_run",
        "hw_rtos/hw_rtos_sched.sv",
        "state_q == StPick && any;",
        "state_q == StPick;",
        "sched",
        "AsksForSomething",
    ),
    # The current task changes at the end of its slice, before software knows.
    Mutant(
        "changes_without_software",
        "hw_rtos/hw_rtos_sched.sv",
        "(call_i || (next_wanted_i && due_q))",
        "(call_i || due_q)",
        "sched",
        "StaysUntilGivenUp",
    ),
    # A send overwrites the message before.
    Mutant(
        "overwrites",
        "hw_rtos/hw_rtos_ports.sv",
        "send_i && !gone && (free || mine) && room;",
        "send_i && !gone && room;",
        "ports",
        "NothingIsOverwritten",
    ),
    # Words of two senders mix in one message.
    Mutant(
        "mixes_messages",
        "hw_rtos/hw_rtos_ports.sv",
        "send_q[port_i] == rtos_pkg::SendOpen &&\n                  sender_q[port_i] == sender;",
        "send_q[port_i] == rtos_pkg::SendOpen;",
        "ports_of_2_words",
        "OneSender",
    ),
    # A task that was retired while it runs still sends, in the name of its slot.
    Mutant(
        "sends_after_its_end",
        "hw_rtos/hw_rtos_ports.sv",
        "by_task_i && retired_i;",
        "1'b0;",
        "ports_of_2_words",
        "OnlyWhoExists",
    ),
)

OTHERS = (
    Mutant(
        "forgets_who_waits",
        "common/fair_arbiter.sv",
        "batch_d = served & ~lowest;",
        "batch_d = '0;",
        "fair_arbiter",
        "OvertakenTwiceAtMost",
    ),
    Mutant(
        "grants_twice",
        "common/fair_arbiter.sv",
        "assign gnt_o   = lowest;",
        "assign gnt_o   = served;",
        "hw_rtos",
        "OneAccess",
    ),
    Mutant(
        "writes_two_words",
        "common/flops_1r1w.sv",
        "32'(waddr_i) == w)",
        "32'(waddr_i) <= w)",
        "buffer_of_flops",
        "ReadsWhatWasWritten",
    ),
    Mutant(
        "reads_where_it_writes",
        "common/ram_1r1w.sv",
        "if (re_i) rdata_o <= words[raddr_i];",
        "if (re_i) rdata_o <= words[waddr_i];",
        "buffer_in_ram",
        "ReadsWhatWasWritten",
    ),
    Mutant(
        "last_come_first_served",
        "lock_unit/lock_unit_order.sv",
        "ahead_d[i][j] = ask_i[j] || (ahead_q[i][j] && !ask_i[i]);",
        "ahead_d[i][j] = 1'b1;",
        "lock_unit_order",
        "OvertakenOnceAtMost",
    ),
    Mutant(
        "compares_no_addresses",
        "lock_unit/lock_unit_order.sv",
        "granted_o = pending_q;\n    for (int unsigned i = 0;",
        "granted_o = pending_q;\n    for (int unsigned i = 1;",
        "lock_unit_order",
        "MutualExclusion",
    ),
    Mutant(
        "releases_any_address",
        "lock_unit/lock_unit_port.sv",
        "granted_i && locked_i == wdata_i;",
        "granted_i;",
        "lock_unit",
        "KeepsWhatItHolds",
    ),
    Mutant(
        "lowest_task_first",
        "hw_rtos/hw_rtos_select.sv",
        "after != '0 ? after : best;",
        "best;",
        "select",
        "NobodyStarves",
    ),
    Mutant(
        "slice_of_no_length",
        "hw_rtos/hw_rtos_slice.sv",
        "start_i ? length_i != '0 : armed_q;",
        "start_i || armed_q;",
        "slice",
        "OverWhenItRanSoLong",
    ),
    Mutant(
        "writes_in_part",
        "hw_rtos/hw_rtos_decode.sv",
        "|| (we_i && be_i != 4'b1111)",
        "",
        "decode",
        "NotInPart",
    ),
    Mutant(
        "counts_round",
        "hw_rtos/hw_rtos_errors.sv",
        "kind[k] && count_q[k] != '1",
        "kind[k]",
        "errors",
        "NeverFalls",
    ),
    Mutant(
        "keeps_the_patience_before",
        "hw_rtos/hw_rtos_tasks.sv",
        "(tick || patience_q > patience_i)",
        "tick",
        "tasks",
        "WhoeverShouldMay",
    ),
    Mutant(
        "does_not_offer",
        "hw_rtos/hw_rtos_ports.sv",
        "rtos_pkg::SendDue && !frozen_d[p]",
        "rtos_pkg::SendDue && !frozen_q[p]",
        "ports",
        "DueIsThere",
    ),
    Mutant(
        "waits_for_ever",
        "hw_rtos/hw_rtos_sched.sv",
        "!pick_req_o && !(state_q == StRun && due_q);",
        "state_q == StOffer;",
        "hw_rtos",
        "NoneWaitsLong",
    ),
    # AXI4-Lite: a read is carried out again until its answer comes.
    Mutant(
        "reads_twice",
        "axi_lite/axi_lite_port.sv",
        "!(granted && !write)",
        "!(rvalid_i && !write_q)",
        "axi_lite_port",
        "NothingTwice",
    ),
    Mutant(
        "overtakes_what_waits",
        "axi_lite/axi_lite_port.sv",
        "stalled_q ? write_q : can_write;",
        "can_write;",
        "axi_lite_port",
        "RequestStays",
    ),
    Mutant(
        "writes_without_data",
        "axi_lite/axi_lite_port.sv",
        "w_full_q && !b_full_q;",
        "!b_full_q;",
        "axi_lite_port",
        "NoneUnasked",
    ),
    Mutant(
        "forgets_an_answer",
        "axi_lite/axi_lite_port.sv",
        "b_full_q ? !axi_bready_i : rvalid_i && write_q;",
        "b_full_q ? 1'b0 : rvalid_i && write_q;",
        "axi_lite_port",
        "WriteAnswerStays",
    ),
)

# An output depends on what a register or a memory held before the reset.
UNKNOWN = (
    Mutant(
        "begins_without_a_reset",
        "lock_unit/lock_unit_order.sv",
        "      pending_q <= '0;\n      ahead_q   <= '0;",
        "      ahead_q   <= '0;",
        "known_lock_unit",
        "PendingKnown",
    ),
    Mutant(
        "compares_what_is_not_asked_for",
        "lock_unit/lock_unit_order.sv",
        "if (pending_q[i] && pending_q[j] && address_q",
        "if (pending_q[i] && address_q",
        "known_lock_unit",
        "GrantKnown",
    ),
    Mutant(
        "tells_the_port_of_who_does_not_wait",
        "hw_rtos/hw_rtos_tasks.sv",
        "if (waiting_q[task_i]) state_o[8+:PortW]",
        "state_o[8+:PortW]",
        "known_tasks",
        "SlotKnown",
    ),
    Mutant(
        "reads_an_empty_queue",
        "soc/uart.sv",
        "rx_count == '0 ? '0 : 32'(rx_byte);",
        "32'(rx_byte);",
        "known_devices",
        "AnswerKnown",
    ),
    Mutant(
        "joins_an_entry_that_is_not_there",
        "soc/write_buffer.sv",
        "= count_q != '0 && lines_q[tail_q]",
        "= lines_q[tail_q]",
        "known_memory",
        "StateKnown",
    ),
    Mutant(
        "looks_up_what_nobody_asks_for",
        "soc/dcache.sv",
        "= valid_q && !filling_q;",
        "= !filling_q;",
        "known_memory",
        "StateKnown",
    ),
)

MUTANTS = HAZARDS + OTHERS + UNKNOWN


def copy(where: Path) -> None:
    shutil.rmtree(where, ignore_errors=True)
    for folder in ("common", "hw_rtos", "lock_unit", "axi_lite", "soc"):
        shutil.copytree(RTL / folder, where / folder)


def put(mutant: Mutant, instead: str, where: Path) -> None:
    file = where / mutant.file
    text = file.read_text()
    if text.count(mutant.line) != 1:
        raise ValueError(f"{mutant.name}: {mutant.file} has no such line, or several")
    file.write_text(text.replace(mutant.line, instead))


def apply(mutant: Mutant, where: Path) -> Path:
    """A copy of the modules with the fault in it."""
    copy(where)
    put(mutant, mutant.instead, where)
    return where


def apply_on_demand(mutants: tuple[Mutant, ...], where: Path) -> Path:
    """A copy of the modules with all the faults, each of which only `+NAME` brings about."""
    copy(where)
    for mutant in mutants:
        right, wrong = mutant.line.removesuffix(";"), mutant.instead.removesuffix(";")
        end = ";" if mutant.line.endswith(";") else ""
        choice = f'($test$plusargs("{mutant.name}") != 0 ? ({wrong}) : ({right})){end}'
        put(mutant, choice, where)
    return where
