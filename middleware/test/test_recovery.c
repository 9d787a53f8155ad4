// SPDX-License-Identifier: Apache-2.0
// Unit tests of what happens to the tasks of a kernel that was killed, by the state they were in.
// test_killed_*.c kill at every instruction.
// with: check.c build.c kernel_stub.c
#include "../src/move/move.h"
#include "check.h"
#include "kernel_stub.h"

// Core 0 dies, core 1 is its successor, core 2 is the core after that.
static struct wb_task *task, *peer;
static struct wb_channel *channel;
static struct wb_port *out, *in;

static void setup(bool mailbox)
{
    stub_system(3);
    task = stub_task("task", 0);
    task->restart = true;
    peer = stub_task("peer", 1);
    channel = stub_channel("c", 2, sizeof(uint32_t), mailbox);
    out = build_port(task, channel, WB_OUT);
    in = build_port(peer, channel, WB_IN);
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(task);
    stub.attaches = stub.unblocks = 0;
}

static enum wb_task_state state(void)
{
    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST));
}

static uint32_t die(uint32_t core)
{
    stub_leave();
    return wb_core_died(stub.system, core);
}

static bool arrives_at(uint32_t core)
{
    const bool was_offered = state() == WB_TASK_OFFERED || state() == WB_TASK_RETURNED;

    stub_serve(core);
    return was_offered && state() == WB_TASK_READY && wb_task_core(task) == core;
}

static bool is_over_for_peer(void)
{
    uint32_t message;

    stub_become(1, peer);
    return wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE;
}

// ---- By state -----------------------------------------------------------------------------------

TEST(tasks_that_did_not_run_move_to_the_heir_as_they_are)
{
    static const enum wb_task_state states[] = { WB_TASK_NEW, WB_TASK_READY, WB_TASK_BLOCKED };

    for (int i = 0; i < 3; i++) {
        setup(false);
        wb_word_store(&task->owner_state, wb_owner_state(states[i], 0), WB_SEQ_CST);
        CHECK(die(0) == 0 && task->restarts == 0);
        CHECK(wb_word_load(&stub.system->cores[0]->state, WB_SEQ_CST) == WB_CORE_DEAD);
        CHECK(arrives_at(1));
        CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 2);
    }
}

TEST(a_pinned_task_moves_as_well)
{
    setup(false);
    task->migratable = false;
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    CHECK(die(0) == 0 && arrives_at(1));
}

TEST(the_running_task_starts_again_where_it_may)
{
    setup(false);
    CHECK(die(0) == 0 && task->restarts == 1 && arrives_at(1));
    stub_run(task);
    CHECK(wb_port_send(out, &(uint32_t){ 1 }, 0) == WB_OK);
}

TEST(the_running_task_is_lost_where_it_may_not_start_again)
{
    setup(false);
    task->restart = false;
    CHECK(die(0) == 1);
    CHECK(state() == WB_TASK_LOST && wb_word_load(&stub.system->live, WB_SEQ_CST) == 1);
    CHECK(is_over_for_peer());
}

TEST(a_task_whose_context_cannot_be_laid_out_again_is_lost)
{
    setup(false);
    stub.init = WB_ERR_INVAL;
    CHECK(die(0) == 0 && state() == WB_TASK_OFFERED);
    stub_serve(1);
    CHECK(state() == WB_TASK_LOST && wb_word_load(&stub.system->live, WB_SEQ_CST) == 1);
    CHECK(is_over_for_peer());
}

TEST(a_task_that_had_ended_stays_ended)
{
    setup(false);
    stub_pause(WB_TASK_ENDED);
    CHECK(die(0) == 0 && state() == WB_TASK_ENDED);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 1);
}

TEST(without_a_successor_everything_is_lost)
{
    setup(false);
    die(1);
    die(2);
    CHECK(die(0) == 2 && wb_word_load(&stub.system->live, WB_SEQ_CST) == 0);
}

TEST(tasks_of_other_cores_only_look_again)
{
    setup(false);
    const uint32_t owner_state = wb_word_load(&peer->owner_state, WB_SEQ_CST);
    CHECK(die(0) == 0 && wb_word_load(&peer->owner_state, WB_SEQ_CST) == owner_state);
    stub.unblocks = 0;
    stub_serve(1);
    CHECK(stub.unblocks == 1 && stub.unblocked == peer);
}

// ---- Hand-offs ----------------------------------------------------------------------------------

static void offer_to(uint32_t core)
{
    CHECK(wb_migration_request(task, core, 5000, NULL) == WB_OK);
    const uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);
    wb_word_store(&task->request, wb_request(WB_REQUEST_ACCEPTED, core, wb_request_number(request)),
                  WB_SEQ_CST);
    stub.self = NULL;
    wb_task_departed(task, stub.now_ns, stub.now_ns);
    CHECK(state() == WB_TASK_OFFERED);
}

static bool settles_with(enum wb_status status)
{
    if (state() == WB_TASK_READY)
        stub_run(task);
    return !wb_migration_pending(task) &&
           wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == status;
}

TEST(an_offered_task_is_taken_by_its_target_though_its_source_died)
{
    setup(false);
    offer_to(2);
    CHECK(die(0) == 0 && state() == WB_TASK_OFFERED);
    CHECK(arrives_at(2) && settles_with(WB_OK));
}

TEST(a_task_offered_to_a_core_that_dies_goes_back)
{
    setup(false);
    offer_to(2);
    CHECK(die(2) == 0);
    CHECK(arrives_at(0) && settles_with(WB_ERR_GONE));
}

TEST(a_task_whose_source_and_then_target_die_goes_to_an_heir)
{
    setup(false);
    offer_to(2);
    CHECK(die(0) == 0 && die(2) == 0);
    CHECK(arrives_at(1) && settles_with(WB_ERR_GONE));
}

TEST(a_task_whose_target_and_then_source_die_goes_to_an_heir)
{
    setup(false);
    offer_to(2);
    CHECK(die(2) == 0 && state() == WB_TASK_RETURNED);
    CHECK(die(0) == 0);
    CHECK(arrives_at(1) && settles_with(WB_ERR_GONE));
}

TEST(a_task_whose_heir_dies_before_it_arrives_goes_to_the_next)
{
    setup(false);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    CHECK(die(0) == 0 && die(1) == 0);
    CHECK(arrives_at(2));
}

TEST(a_task_that_arrived_at_a_core_that_dies_before_it_runs_is_not_lost)
{
    setup(false);
    offer_to(2);
    CHECK(arrives_at(2));
    CHECK(die(2) == 0 && arrives_at(0) && settles_with(WB_ERR_GONE));
}

TEST(a_request_for_a_task_of_the_dead_core_stands_and_moves_it_on)
{
    setup(false);
    CHECK(wb_migration_request(task, 2, 5000, NULL) == WB_OK);
    CHECK(die(0) == 0 && arrives_at(1));
    CHECK(wb_checkpoint_wanted(task));
}

// On a preemptive kernel: after it has accepted a request, before it has left.
static void is_preempted_and_resumes_elsewhere(void)
{
    stub_pause(WB_TASK_READY);
    CHECK(die(0) == 0 && arrives_at(1));
    stub_run(task);
}

TEST(a_task_that_resumes_elsewhere_does_not_carry_out_a_request_that_is_over)
{
    setup(false);
    CHECK(wb_migration_request(task, 2, 5000, peer) == WB_OK);
    stub.on_depart = is_preempted_and_resumes_elsewhere;
    wb_checkpoint_enter();
    CHECK(state() == WB_TASK_RUNNING && wb_task_core(task) == 1);
    CHECK(!wb_migration_pending(task));
    CHECK(wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
    stub.on_depart = NULL;
    CHECK(wb_migration_request(task, 2, 5000, peer) == WB_OK);
}

TEST(a_request_that_the_dead_core_was_filling_ends)
{
    setup(false);
    wb_word_store(&peer->request, wb_request(WB_REQUEST_FILLING, 0, 5), WB_SEQ_CST);
    CHECK(die(0) == 0 && !wb_migration_pending(peer));
    CHECK(wb_outcome_status(wb_word_load(&peer->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
}

TEST(a_request_to_move_a_lost_task_ends)
{
    setup(false);
    task->restart = false;
    CHECK(wb_migration_request(task, 2, 5000, peer) == WB_OK);
    CHECK(die(0) == 1 && settles_with(WB_ERR_GONE));
}

TEST(a_record_that_others_fill_is_not_touched_by_an_heir)
{
    setup(false);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    CHECK(die(0) == 0);
    CHECK(wb_migration_request(task, 2, 5000, NULL) == WB_OK);
    CHECK(arrives_at(1) && task->migration.attached_ns == 0);
}

// ---- A core that returns ------------------------------------------------------------------------

static uint32_t die_to_return(uint32_t core)
{
    const uint32_t lost = die(core);

    wb_word_store(&stub.system->cores[core]->state, WB_CORE_DOWN, WB_SEQ_CST);
    return lost;
}

static void come_up(uint32_t core)
{
    wb_word_store(&stub.system->cores[core]->state, WB_CORE_UP, WB_SEQ_CST);
}

static void setup_returning(bool others_can)
{
    setup(false);
    stub.system->cores[0]->returns = true;
    stub.system->cores[0]->kind = 1;
    task->work.not_on = others_can ? 0 : 1;
}

TEST(what_another_core_can_take_does_not_wait_for_one_that_returns)
{
    setup_returning(true);
    CHECK(die_to_return(0) == 0 && arrives_at(1));
    come_up(0);
    stub_serve(0);
    CHECK(wb_task_core(task) == 1);
}

TEST(what_no_other_core_can_take_waits_for_one_that_returns)
{
    static const enum wb_task_state states[] = { WB_TASK_NEW, WB_TASK_READY, WB_TASK_BLOCKED,
                                                 WB_TASK_RUNNING };

    for (int i = 0; i < 4; i++) {
        setup_returning(false);
        wb_word_store(&task->owner_state, wb_owner_state(states[i], 0), WB_SEQ_CST);
        CHECK(die_to_return(0) == 0 && task->restarts == (states[i] == WB_TASK_RUNNING));
        come_up(0);
        // Another dies meanwhile.
        CHECK(die(2) == 0 && arrives_at(0));
        CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 2);
    }
}

TEST(what_may_not_start_again_does_not_wait)
{
    setup_returning(false);
    task->restart = false;
    CHECK(die(0) == 1 && state() == WB_TASK_LOST && is_over_for_peer());
}

TEST(what_waits_is_lost_if_its_core_does_not_come)
{
    setup_returning(false);
    CHECK(die_to_return(0) == 0 && state() == WB_TASK_OFFERED);
    stub.system->cores[0]->returns = false;
    CHECK(die(0) == 1 && state() == WB_TASK_LOST && is_over_for_peer());
}

TEST(an_offer_that_had_been_withdrawn_waits_as_well)
{
    setup_returning(false);
    wb_word_store(&task->owner_state, wb_owner_state_returned(0, WB_ERR_TIMEOUT), WB_SEQ_CST);
    CHECK(die_to_return(0) == 0 && state() == WB_TASK_RETURNED);
    come_up(0);
    CHECK(arrives_at(0));
}

TEST(an_offer_to_a_core_that_returns_goes_back)
{
    setup_returning(true);
    stub.system->cores[2]->returns = true;
    offer_to(2);
    CHECK(die_to_return(2) == 0);
    come_up(2);
    CHECK(arrives_at(0) && settles_with(WB_ERR_GONE));
}

TEST(offers_to_a_core_that_is_to_return_stand_until_they_are_overdue)
{
    setup(false);
    stub.system->cores[2]->returns = true;
    CHECK(die_to_return(2) == 0);
    stub_become(0, task);
    offer_to(2);
    come_up(2);
    CHECK(arrives_at(2) && settles_with(WB_OK));
}

// The core that had it has returned, and has nothing of it any more.
TEST(what_an_heir_has_not_taken_in_goes_on_to_the_next)
{
    setup(false);
    stub.system->cores[0]->returns = true;
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    CHECK(die_to_return(0) == 0 && state() == WB_TASK_OFFERED);
    come_up(0);
    CHECK(die(1) == 0 && arrives_at(2));
}

// A withdrawal that saw the core dead may give its task to another while the core looks at it.
TEST(a_task_that_was_given_to_another_is_not_taken_back)
{
    setup(false);
    const uint32_t seen = wb_owner_state_returned(0, WB_ERR_TIMEOUT);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_RUNNING, 1), WB_SEQ_CST);
    wb_migration_returned(stub.system->cores[0], task, seen);
    CHECK(state() == WB_TASK_RUNNING && wb_task_core(task) == 1 && stub.attaches == 0);
}

// ---- Half-done ends -----------------------------------------------------------------------------

TEST(a_kernel_killed_while_it_ended_a_task_leaves_no_port_open)
{
    setup(false);
    stub.self = NULL;
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_ENDED, 0), WB_SEQ_CST);  // and no more
    CHECK(die(0) == 0);
    CHECK(is_over_for_peer());
}

TEST(a_run_ends_though_a_kernel_was_killed_before_it_counted_its_last_task)
{
    setup(false);
    stub_run(peer);
    stub_pause(WB_TASK_ENDED);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_ENDED, 0), WB_SEQ_CST);
    CHECK(die(0) == 0);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 1);
    stub.rings[1] = 0;
    wb_system_sweep(stub.system, stub.now_ns);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 0 && stub.rings[1] == 1);
}

TEST(a_kernel_killed_while_it_closed_a_port_leaves_it_closed)
{
    setup(false);
    task->restart = false;
    wb_word_store(&out->closed, 1, WB_SEQ_CST);  // and no more
    CHECK(die(0) == 1 && is_over_for_peer());
}

// ---- Channels of a task that starts again -------------------------------------------------------

static uint32_t next_message(void)
{
    uint32_t message = UINT32_MAX;

    stub_become(1, peer);
    const enum wb_status status = wb_port_receive(in, &message, 0);
    CHECK(status == WB_OK || status == WB_ERR_EMPTY);
    return message;
}

TEST(claims_of_a_killed_sender_are_given_up_and_its_messages_stay)
{
    for (int mailbox = 0; mailbox < 2; mailbox++) {
        void *slot;

        setup(mailbox != 0);
        CHECK(wb_port_send(out, &(uint32_t){ 1 }, 0) == WB_OK);
        CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
        CHECK(die(0) == 0 && arrives_at(1));
        stub_run(task);
        CHECK(next_message() == 1 && next_message() == UINT32_MAX);
        stub_become(1, task);
        CHECK(wb_port_commit(out) == WB_ERR_INVAL);
        CHECK(wb_port_send(out, &(uint32_t){ 2 }, 0) == WB_OK);
        CHECK(wb_port_send(out, &(uint32_t){ 3 }, 0) == WB_OK);
        CHECK(wb_port_send(out, &(uint32_t){ 4 }, 0) == WB_ERR_FULL);
        CHECK(next_message() == 2 && next_message() == 3);
    }
}

static void swap_ends(bool mailbox)
{
    setup(mailbox);
    struct wb_channel *back = stub_channel("back", 3, sizeof(uint32_t), mailbox);

    out = build_port(peer, back, WB_OUT);
    in = build_port(task, back, WB_IN);
    stub_become(1, peer);
    for (uint32_t i = 1; i <= 3; i++)
        CHECK(wb_port_send(out, &i, 0) == WB_OK);
    stub_become(0, task);
}

TEST(messages_that_a_killed_receiver_held_come_again)
{
    for (int mailbox = 0; mailbox < 2; mailbox++) {
        const uint32_t *slot;

        swap_ends(mailbox != 0);
        for (uint32_t i = 1; i <= 2; i++)
            CHECK(wb_port_hold(in, (const void **)&slot, 0) == WB_OK && *slot == i);
        CHECK(wb_port_release(in) == WB_OK);
        CHECK(die(0) == 0 && arrives_at(1));
        stub_run(task);
        for (uint32_t i = 2; i <= 3; i++) {
            CHECK(wb_port_hold(in, (const void **)&slot, 0) == WB_OK && *slot == i);
            CHECK(wb_port_release(in) == WB_OK);
        }
        CHECK(wb_port_hold(in, (const void **)&slot, 0) == WB_ERR_EMPTY);
    }
}

TEST(a_message_that_passed_just_before_the_death_is_counted)
{
    uint32_t message;

    for (int counted = 0; counted < 2; counted++) {
        setup(false);
        CHECK(wb_port_send(out, &(uint32_t){ 1 }, 0) == WB_OK);
        wb_counter_set(&out->messages, (uint64_t)counted);  // as if killed before it was counted
        CHECK(die(0) == 0 && wb_port_messages(out) == 1);
        swap_ends(false);
        CHECK(wb_port_receive(in, &message, 0) == WB_OK);
        wb_counter_set(&in->messages, (uint64_t)counted);
        CHECK(die(0) == 0 && wb_port_messages(in) == 1);
    }
}

TEST(a_mailbox_slot_that_was_freed_but_not_passed_does_not_stop_the_receiver)
{
    uint32_t message;

    swap_ends(true);
    const uint32_t head = wb_word_load(&in->channel->head, WB_SEQ_CST);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK);
    wb_word_store(&in->channel->head, head,
                  WB_SEQ_CST);  // as if it had been killed between the two stores
    CHECK(die(0) == 0 && arrives_at(1));
    stub_run(task);
    for (uint32_t i = 2; i <= 3; i++)
        CHECK(wb_port_receive(in, &message, 0) == WB_OK && message == i);
}

TEST(a_mailbox_slot_claimed_but_not_passed_by_the_tail_does_not_stop_the_senders)
{
    void *slot;

    setup(true);
    struct wb_port *other = build_port(peer, channel, WB_OUT);
    const uint32_t tail = wb_word_load(&channel->tail, WB_SEQ_CST);
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    wb_word_store(&channel->tail, tail,
                  WB_SEQ_CST);  // as if it had been killed between the two stores
    CHECK(die(0) == 0 && arrives_at(1));
    CHECK(next_message() == UINT32_MAX);
    CHECK(wb_port_send(other, &(uint32_t){ 5 }, 0) == WB_OK && next_message() == 5);
}
