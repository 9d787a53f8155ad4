// SPDX-License-Identifier: Apache-2.0
// What the Lock Unit and the HW-RTOS answer to a program that asks for what there is not.

#include "board.h"
#include "hw_rtos_regs.h"
#include "lock_unit_regs.h"
#include "soc_regs.h"
#include "suite.h"

enum { MOST = 64 };  // tasks and ports that a unit may have

static uint32_t read(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

static void write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static uint32_t word_of(uint32_t base, uint32_t index)
{
    return SOC_RTOS_BASE + base + 4 * index;
}

static uint32_t status(void)
{
    return read(SOC_RTOS_BASE + HW_RTOS_STATUS);
}

static uint32_t ports(void)
{
    return read(SOC_SYSTEM_BASE + SYSTEM_INFO) >> 16 & 0xff;
}

static uint32_t tasks(void)
{
    return read(SOC_SYSTEM_BASE + SYSTEM_INFO) >> 8 & 0xff;
}

static int nothing(struct wb_task *self)
{
    (void)self;
    return 0;
}

TEST(a_lock_that_is_not_held_cannot_be_given_back)
{
    uint32_t here;
    const uint32_t irq_state = board_irq_save();

    write(SOC_LOCK_BASE + LOCK_UNIT_ERRORS, 0);
    write(SOC_LOCK_BASE + LOCK_UNIT_RELEASE, (uint32_t)&here);
    const uint32_t answer = read(SOC_LOCK_BASE + LOCK_UNIT_STATUS);
    const uint32_t errors = read(SOC_LOCK_BASE + LOCK_UNIT_ERRORS);
    board_irq_restore(irq_state);
    CHECK(answer == LOCK_UNIT_STATUS_NOT_HELD);
    CHECK(errors == 1);
}

TEST(a_second_lock_of_a_core_is_refused_and_the_first_stays)
{
    uint32_t one, other;
    const uint32_t irq_state = board_irq_save();

    write(SOC_LOCK_BASE + LOCK_UNIT_ACQUIRE, (uint32_t)&one);
    write(SOC_LOCK_BASE + LOCK_UNIT_REQUEST, (uint32_t)&other);
    const uint32_t second = read(SOC_LOCK_BASE + LOCK_UNIT_STATUS);
    write(SOC_LOCK_BASE + LOCK_UNIT_RELEASE, (uint32_t)&one);
    const uint32_t back = read(SOC_LOCK_BASE + LOCK_UNIT_STATUS);
    board_irq_restore(irq_state);
    CHECK(second == LOCK_UNIT_STATUS_HELD);
    CHECK(back == LOCK_UNIT_STATUS_OK);
}

TEST(a_port_that_is_not_there_takes_nothing)
{
    CHECK(ports() < MOST);
    write(SOC_RTOS_BASE + HW_RTOS_ERRORS, 0);
    write(word_of(HW_RTOS_SEND_NOW, ports()), 1);
    CHECK(status() == HW_RTOS_STATUS_BAD_PORT);
    write(SOC_RTOS_BASE + HW_RTOS_WAIT_PORT, ports());
    CHECK(status() == HW_RTOS_STATUS_BAD_PORT);
    CHECK((read(SOC_RTOS_BASE + HW_RTOS_ERRORS) >> 8 & 0xff) == 2);
}

TEST(a_task_that_is_not_there_is_not_configured)
{
    CHECK(tasks() < MOST);
    write(word_of(HW_RTOS_TASK_CONFIG, tasks()), HW_RTOS_TASK_CONFIG_VALID);
    CHECK(status() == HW_RTOS_STATUS_BAD_TASK);
}

TEST(a_task_that_the_hw_rtos_has_no_slot_for_is_refused)
{
    struct harness *h = suite_open(1, 4);
    struct wb_task *task =
        suite_task(h, &(struct wb_task_config){ .name = "one", .entry = nothing });
    const uint32_t number = task->id;

    CHECK(wb_kernel_task_init(task) == WB_OK);
    task->id = tasks();
    const enum wb_status status = wb_kernel_task_init(task);
    task->id = number;
    if (status == WB_OK)
        wb_test_skip("the software's lists take any task");
    else
        CHECK(status == WB_ERR_UNABLE);
    suite_run(h);
    harness_close(h);
}

static int look(struct wb_task *self)
{
    uint32_t *current = suite_shared(self);

    *current = read(SOC_RTOS_BASE + HW_RTOS_CURRENT);
    return 0;
}

TEST(the_hw_rtos_knows_which_task_runs)
{
    struct harness *h = suite_open(1, sizeof(uint32_t));
    suite_task(h, &(struct wb_task_config){ .name = "one", .entry = nothing });
    const struct wb_task *two =
        suite_task(h, &(struct wb_task_config){ .name = "two", .entry = look });

    suite_run(h);
    const uint32_t current = *(uint32_t *)suite_state(h);
    if (current == HW_RTOS_CURRENT_NONE)
        wb_test_skip("software schedules");
    else
        CHECK(current == two->id);
    harness_close(h);
}

// A wake that came when its task was over, which nobody takes out any more.
static void leave_a_message(void)
{
    write(word_of(HW_RTOS_SEND_NOW, 0), 4);
}

static void empty_the_port(void)
{
    while (read(word_of(HW_RTOS_RECEIVE, 0)) != 0) {}
}

TEST(a_message_to_a_full_port_is_refused_and_those_before_it_stay)
{
    leave_a_message();
    empty_the_port();
    write(SOC_RTOS_BASE + HW_RTOS_ERRORS, 0);
    write(word_of(HW_RTOS_SEND_NOW, 0), 1);
    CHECK(status() == HW_RTOS_STATUS_OK);
    write(word_of(HW_RTOS_SEND_NOW, 0), 2);
    CHECK(status() == HW_RTOS_STATUS_OK);
    write(word_of(HW_RTOS_SEND_NOW, 0), 3);
    CHECK(status() == HW_RTOS_STATUS_FULL);
    CHECK((read(SOC_RTOS_BASE + HW_RTOS_ERRORS) & 0xff) == 1);
    CHECK(read(word_of(HW_RTOS_RECEIVE, 0)) == 1);
    CHECK(read(word_of(HW_RTOS_RECEIVE, 0)) == 2);
}
