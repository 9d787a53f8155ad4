// SPDX-License-Identifier: Apache-2.0
//! What a person is told of hardware that makes no sense, and where.

use crate::common::board::{BOARD, MESH, on_a_mesh, refused, with};
use whimbrel_hardware::{Migration, Scheduling, Waking};
use whimbrel_model::Platform;

#[test]
fn every_table_that_states_a_cost_names_its_source() {
    let tables = BOARD.matches("source = \"ours\"").count();
    assert_eq!(tables, 17);
    for n in 0..tables {
        let (place, _) = BOARD.match_indices("source = \"ours\"\n").nth(n).unwrap();
        let text = format!("{}{}", &BOARD[..place], &BOARD[place + 16..]);
        refused(&text, "has no `source`", "[");
        let text = format!("{}source = \"\"\n{}", &BOARD[..place], &BOARD[place + 16..]);
        refused(&text, "`source` of", "\"\"");
    }
}

#[test]
fn a_cost_is_not_negative() {
    let text = with(BOARD, &[("cycles = 100\n", "cycles = -100\n")]);
    refused(&text, "`cycles` of [costs.send] must be a number of cycles, from 0", "-100");
    let text = with(BOARD, &[("cycles_per_unit = 0.25", "cycles_per_unit = -0.25")]);
    refused(&text, "`cycles_per_unit` of [costs.send] must be", "-0.25");
    let text = with(BOARD, &[("time_us = 3\n", "time_us = -3\n")]);
    refused(&text, "`time_us` of [costs.decide] must be a time", "-3");
    let text = with(BOARD, &[("cycles = 200\n", "cycles = -1\n")]);
    refused(&text, "`cycles` of [doorbell.send] must be", "-1");
}

#[test]
fn a_cost_that_states_nothing_is_refused() {
    let text = with(BOARD, &[("time_us = 3\n", "")]);
    refused(&text, "[costs.decide] states no cost", "[costs.decide]");
}

#[test]
fn an_action_that_does_not_exist_is_shown_with_the_one_that_was_meant() {
    let text = with(BOARD, &[("[costs.send]", "[costs.sent]")]);
    refused(&text, "[costs] has no key `sent`", "sent");
    let problems = Platform::parse(&text).unwrap_err();
    assert_eq!(problems.first().unwrap().help.as_deref(), Some("write `send`"));
}

#[test]
fn a_core_is_scheduled_in_one_of_four_ways() {
    for wrong in ["\"preempt\"", "\"\"", "true", "1"] {
        let text = with(BOARD, &[("\"preemptive\"", wrong)]);
        let wanted = "`scheduling` of [[core]] must be \"cooperative\", \"preemptive\", \"edf\" or";
        refused(&text, wanted, wrong);
    }
}

#[test]
fn a_slice_is_a_time_that_ends() {
    for wrong in ["0", "-1", "0.5", "1e10", "\"1ms\""] {
        let text = with(BOARD, &[("slice_us = 1000", &format!("slice_us = {wrong}"))]);
        refused(&text, "`slice_us` of [[core]] must be a time in microseconds, from 1", wrong);
    }
}

#[test]
fn only_a_kernel_that_preempts_and_does_not_go_by_deadlines_has_slices() {
    for other in ["scheduling = \"cooperative\"\n", "", "scheduling = \"edf\"\n"] {
        let text = with(BOARD, &[("scheduling = \"preemptive\"\n", other)]);
        refused(&text, "`slice_us` of [[core]] needs `scheduling = \"preemptive\"`", "1000");
    }
}

#[test]
fn several_cores_that_go_by_urgency_may_share_a_scheduler() {
    let dsp = |more: &str| with(BOARD, &[("\"preemptive\"\nslice_us = 1000", more)]);
    for wrong in ["\"job\"", "\"\"", "true", "2"] {
        let text = dsp(&format!("\"edf\"\ncount = 2\nmigration = {wrong}"));
        refused(&text, "`migration` of [[core]] must be \"none\", \"restricted\" or", wrong);
    }
    for (more, wanted, place) in [
        ("\"edf\"\nmigration = \"full\"", "needs `count` of at least 2", "\"full\""),
        (
            "\"fair\"\ncount = 2\nmigration = \"restricted\"",
            "needs `scheduling = \"preemptive\"` or `\"edf\"`",
            "\"restricted\"",
        ),
        (
            "\"preemptive\"\ncount = 2\nmigration = \"full\"\nslice_us = 77",
            "`slice_us` of [[core]] needs `migration = \"none\"`",
            "77",
        ),
    ] {
        refused(&dsp(more), wanted, place);
    }
    let text = dsp("\"edf\"\ncount = 2\nmigration = \"full\"\n");
    let text = format!("{text}\n[[core]]\ncount = 2\nscheduling = \"edf\"\nmigration = \"none\"\n");
    let text = format!("{text}[[core.point]]\nmhz = 1\nactive_mw = 1\n");
    let board = Platform::parse(&text).unwrap().description().unwrap();
    assert_eq!(board.groups(), [0, 0, 1, 1, 0, 0]);
    assert_eq!(board.cores[3].migration, Migration::Full);
}

#[test]
fn a_tick_is_a_time_of_a_fair_kernel() {
    let fair = |more: &str| with(BOARD, &[("\"preemptive\"", &format!("\"fair\"\n{more}"))]);
    for wrong in ["0", "-4000", "1e10", "\"4ms\""] {
        let text = fair(&format!("tick_us = {wrong}"));
        refused(&text, "`tick_us` of [[core]] must be a time in microseconds, from 1", wrong);
    }
    let text = with(BOARD, &[("slice_us = 1000", "tick_us = 4000")]);
    refused(&text, "`tick_us` of [[core]] needs `scheduling = \"fair\"`", "4000");
    let board = Platform::parse(&fair("tick_us = 4000")).unwrap().description().unwrap();
    let dsp = &board.cores[2];
    assert_eq!((dsp.scheduling, dsp.tick_ps), (Scheduling::Fair, 4_000_000_000));
    assert_eq!((dsp.slice_ps, dsp.timer_slack_ps), (1_000_000_000, 0));
}

#[test]
fn the_slack_of_timers_is_a_time() {
    for wrong in ["-1", "1e10", "\"50us\""] {
        let text = with(BOARD, &[("slice_us = 1000", &format!("timer_slack_us = {wrong}"))]);
        refused(&text, "`timer_slack_us` of [[core]] must be a time in microseconds", wrong);
    }
}

#[test]
fn what_an_interrupt_takes_is_a_cost() {
    let text = with(BOARD, &[("cycles = 60\n", "cycles = -60\n")]);
    refused(&text, "`cycles` of [costs.interrupt] must be a number of cycles, from 0", "-60");
}

#[test]
fn a_voltage_does_not_fall_at_a_higher_frequency() {
    let text = with(BOARD, &[("volts = 1.2", "volts = 0.9")]);
    refused(&text, "the voltage of [[core]] falls", "[[core.point]]\nmhz = 300");
}

#[test]
fn static_power_is_a_part_of_the_whole() {
    let text = with(BOARD, &[("static_mw = 8", "static_mw = 21")]);
    refused(&text, "`static_mw` of [[core.point]] is a part", "21");
}

#[test]
fn idle_states_are_entered_one_after_another() {
    let late = "name = \"wfi\"\nafter_us = 499.5\n";
    let text = with(BOARD, &[("name = \"wfi\"\n", late)]);
    let deep = "[[core.idle_state]]\nname = \"off\"";
    refused(&text, "the idle states of [[core]] must follow each other in time", deep);
    let text = with(BOARD, &[("after_us = 500\n", "")]);
    refused(&text, "the idle states of [[core]] must follow each other in time", deep);
}

#[test]
fn an_idle_state_loses_the_cache_or_does_not() {
    let text = with(BOARD, &[("after_us = 500\n", "after_us = 500\nloses_cache = 1\n")]);
    refused(&text, "`loses_cache` of [[core.idle_state]] must be true or false", "1");
}

#[test]
fn measured_work_comes_back_to_a_size() {
    let work = "\n[[work]]\napp = \"a\"\ntask = \"b\"\ncycles = 5\nsource = \"ours\"\n";
    for (size, place) in [("-1", "-1"), ("\"big\"", "\"big\"")] {
        let text = format!("{BOARD}{work}working_set = {size}\n");
        refused(&text, "`working_set` of [[work]] must be a size", place);
    }
    let text = format!("{BOARD}{work}working_set = \"2KiB\"\n");
    let platform = Platform::parse(&text).unwrap().description().unwrap();
    assert_eq!(platform.work.last().unwrap().working_bytes, Some(2048));
}

#[test]
fn a_deeper_idle_state_takes_no_more_power() {
    let text = with(BOARD, &[("power_mw = 0\n", "power_mw = 11\n")]);
    let deep = "[[core.idle_state]]\nname = \"off\"";
    refused(&text, "the idle states of [[core]] must be of falling power", deep);
}

#[test]
fn what_waking_costs_is_a_time() {
    for key in ["ring_us", "switch_us", "refill_us"] {
        for value in ["-1", "\"long\"", "1e10", "true"] {
            let text =
                with(BOARD, &[("after_us = 500\n", &format!("after_us = 500\n{key} = {value}\n"))]);
            refused(&text, &format!("`{key}` of [[core.idle_state]] must be"), value);
        }
        let text = with(BOARD, &[("after_us = 500\n", &format!("after_us = 500\n{key} = 2.5\n"))]);
        let waking = Platform::parse(&text).unwrap().description().unwrap().cores[0]
            .idle_states
            .iter()
            .map(|state| state.waking)
            .find(|waking| *waking != Waking::default())
            .unwrap();
        let named = [
            ("ring_us", waking.ring_ps),
            ("switch_us", waking.switch_ps),
            ("refill_us", waking.refill_ps),
        ];
        for (name, ps) in named {
            assert_eq!(ps, if name == key { 2_500_000 } else { 0 }, "{key}: {name}");
        }
    }
}

#[test]
fn a_cache_has_room_for_a_line() {
    let text = with(BOARD, &[("\"16KiB\"\nline_bytes = 32", "31\nline_bytes = 32")]);
    refused(&text, "`size` of [core.cache] is less than a line", "31");
}

#[test]
fn a_cache_says_how_many_are_disturbed_and_how_long() {
    let with_more =
        |more: &str| with(BOARD, &[("miss_ns = 60\n", &format!("miss_ns = 60\n{more}\n"))]);
    let text = with_more("disturbed = 0.25");
    refused(&text, "[core.cache] is disturbed, and has no `disturbed_us`", "0.25");
    let text = with_more("disturbed_us = 31");
    refused(&text, "[core.cache] is disturbed, and has no `disturbed`", "31");
    let text = with_more("disturbed = 1.5\ndisturbed_us = 31");
    refused(&text, "`disturbed` of [core.cache] must be a part, from 1e-6 to 1", "1.5");
}

/// What [`with`] replaces.
type Changes<'a> = &'a [(&'a str, &'a str)];

#[test]
fn mistakes_of_a_core_that_have_nothing_to_do_with_each_other_are_told_together() {
    let descending = ("mhz = 300", "mhz = 50");
    let unordered = ("after_us = 500\n", "");
    let arm = "kind = \"arm\"\n";
    let cache = "\"16KiB\"\nline_bytes = 32\n";
    let cases: [(Changes<'_>, [&str; 2]); 8] = [
        (
            &[(arm, "kind = \"arm\"\nstart_mhz = 99\nslice_us = 1000\n")],
            ["`slice_us` of [[core]] needs", "`start_mhz` of [[core]] is the frequency of none"],
        ),
        (
            &[(arm, "kind = \"arm\"\nstart_mhz = 99\ntick_us = 1000\n")],
            ["`tick_us` of [[core]] needs", "`start_mhz` of [[core]] is the frequency of none"],
        ),
        (&[("\"arm\"", "\"a b\""), descending], ["`kind` of", "must be of rising frequency"]),
        (&[("= 8\n", "= 21\n"), descending], ["`static_mw` of", "must be of rising frequency"]),
        (&[descending, unordered], ["must be of rising frequency", "must follow each other"]),
        (&[("volts = 1.0", "volts = 0"), ("= 8\n", "= 21\n")], ["`volts` of", "`static_mw` of"]),
        (
            &[(cache, "31\nline_bytes = 32\nfar_ns = -1\n")],
            ["`far_ns` of [core.cache] must be", "`size` of [core.cache] is less than a line"],
        ),
        (
            &[(cache, "\"16KiB\"\nline_bytes = 32\nfar_ns = -1\ndisturbed = 0.5\n")],
            ["`far_ns` of [core.cache] must be", "has no `disturbed_us`"],
        ),
    ];
    for (changes, expected) in cases {
        let problems = Platform::parse(&with(BOARD, changes)).unwrap_err();
        let [first, second] = &problems[..] else { panic!("{problems:#?}") };
        assert!(first.message.contains(expected[0]), "{}", first.message);
        assert!(second.message.contains(expected[1]), "{}", second.message);
    }
}

#[test]
fn of_what_cannot_be_read_nothing_else_is_told() {
    let cases: [(Changes<'_>, &str, &str); 4] = [
        (&[("size = \"16KiB\"\nline", "line")], "[core.cache] has no `size`", "[core.cache]"),
        (&[("line_bytes = 32\n", "")], "[core.cache] has no `line_bytes`", "[core.cache]"),
        (&[("active_mw = 84\n", "")], "[[core.point]] has no `active_mw`", "[[core.point]]"),
        (
            &[("]\nmhz = 100\n", "]\nmhz = 0\n"), ("count = 2\n", "count = 2\nstart_mhz = 100\n")],
            "`mhz` of [[core.point]] must be a frequency",
            "0",
        ),
    ];
    for (changes, message, shown) in cases {
        refused(&with(BOARD, changes), message, shown);
    }
}

#[test]
fn a_memory_is_of_a_core_that_exists() {
    let text = with(BOARD, &[("core = 2\nsize", "core = 3\nsize")]);
    refused(&text, "the platform has 3 cores", "3");
}

#[test]
fn a_shared_memory_is_of_no_core_and_a_private_one_has_no_node_of_its_own() {
    let text = with(BOARD, &[("kind = \"scratchpad\"", "kind = \"shared\"")]);
    refused(&text, "a memory that is shared belongs to no core", "2");
    let text = with(&on_a_mesh(), &[("latency_ns = 5\n", "latency_ns = 5\nnode = [0, 0]\n")]);
    refused(&text, "a memory that is not shared is where its core is", "[0, 0]");
}

#[test]
fn a_memory_has_a_bandwidth_and_a_size() {
    refused(&with(BOARD, &[("mb_per_s = 200", "mb_per_s = 0")]), "`mb_per_s` of", "0");
    refused(&with(BOARD, &[("\"64MiB\"", "0")]), "`size` of [[memory]]", "0");
}

#[test]
fn a_platform_has_one_interconnect_that_leads_to_a_shared_memory() {
    let both = format!("{BOARD}{}", MESH.replace("[doorbell]\n", ""));
    refused(&both, "a platform has a [bus] or a [mesh], not both", "[mesh]");
    let text = with(BOARD, &[("kind = \"shared\"", "kind = \"private\"")]);
    refused(&text, "an interconnect needs a [[memory]] that is shared", "[bus]");
}

#[test]
fn a_node_is_in_the_mesh() {
    let text = with(&on_a_mesh(), &[("count = 2", "count = 2\nnode = [0, 2]")]);
    refused(&text, "the mesh has 3 columns and 2 rows", "[0, 2]");
    let text = with(&on_a_mesh(), &[("mb_per_s = 200", "mb_per_s = 200\nnode = [3, 0]")]);
    refused(&text, "the mesh has 3 columns and 2 rows", "[3, 0]");
    let text = with(BOARD, &[("count = 2", "count = 2\nnode = [0, 0]")]);
    refused(&text, "this platform has no [mesh]", "[0, 0]");
}

#[test]
fn a_mesh_has_a_node_for_every_core() {
    let text = with(&on_a_mesh(), &[("count = 2", "count = 7")]);
    refused(&text, "[[core]] has more cores than the mesh has nodes left", "[[core]]\ncount = 7");
}

#[test]
fn a_platform_has_as_many_cores_as_can_be_named() {
    let text = with(BOARD, &[("count = 2", "count = 4095")]);
    refused(&text, "a platform has at most 4095 cores", "[[core]]\nkind = \"dsp\"");
}

#[test]
fn only_a_doorbell_that_polls_has_an_interval_and_it_needs_one() {
    let text = with(BOARD, &[("interval_us = 1000\n", "")]);
    refused(&text, "[doorbell] polls, and has no `interval_us`", "[doorbell]");
    let text = with(BOARD, &[("kind = \"polling\"", "kind = \"interrupt\"")]);
    refused(&text, "`interval_us` of [doorbell] is for polling", "1000");
    let text = with(BOARD, &[("interval_us = 1000\n", "interval_us = 0\n")]);
    refused(&text, "`interval_us` of [doorbell] must be", "0");
}

#[test]
fn blocks_lie_beside_each_other() {
    let text = with(BOARD, &[("x_mm = 4\n", "x_mm = 3.9\n")]);
    refused(&text, "the blocks `dsp` and `arm_1` overlap", "[[block]]\nname = \"dsp\"");
}

#[test]
fn a_block_is_of_a_core_that_exists() {
    let text = with(BOARD, &[("core = 2\nx_mm", "core = 3\nx_mm")]);
    refused(&text, "the platform has 3 cores", "[[block]]\nname = \"dsp\"");
}

#[test]
fn a_floorplan_and_its_heat_come_together() {
    let (before, rest) = BOARD.split_once("[thermal]").unwrap();
    let (_, after) = rest.split_once("[[block]]").unwrap();
    let text = format!("{before}[[block]]{after}");
    refused(&text, "a floorplan needs [thermal]", "[[block]]\nname = \"arm\"");
    let (before, rest) = BOARD.split_once("[[block]]").unwrap();
    let (_, after) = rest.split_once("[[work]]").unwrap();
    let text = format!("{before}[[work]]{after}");
    refused(&text, "[thermal] needs a floorplan", "[thermal]");
}

#[test]
fn a_floorplan_that_would_take_for_ever_is_refused() {
    let text = with(
        BOARD,
        &[
            ("core = 0\nx_mm", "x_mm"),
            ("columns = 2\n", "columns = 64\nrows = 33\n"),
            ("x_mm = 4\n", "x_mm = -9\n"),
        ],
    );
    refused(&text, "a floorplan has at most 2048 blocks", "[[block]]\nname = \"arm\"");
}

#[test]
fn heat_needs_material() {
    let text = with(BOARD, &[("thickness_mm = 0.5", "thickness_mm = 0")]);
    refused(&text, "`thickness_mm` of [thermal] must be", "0");
}

#[test]
fn the_work_of_a_task_stands_once() {
    let work = "[[work]]\napp = \"radio\"\ntask = \"bpf\"\ncycles = 1\nsource = \"ours\"\n";
    refused(&format!("{BOARD}{work}"), "the work of `bpf` stands twice", "[[work]]");
    refused(&with(BOARD, &[("cycles = 12000", "cycles = 0")]), "`cycles` of [[work]]", "0");
    let second = work.replace("cycles", "index = 1\ncycles");
    assert!(Platform::parse(&format!("{BOARD}{second}")).unwrap().description().is_ok());
    refused(&format!("{BOARD}{second}{second}"), "the work of `bpf` stands twice", "[[work]]");
    let wrong = second.replace("bpf", "sum").replace("index = 1", "index = -7");
    refused(&format!("{BOARD}{wrong}"), "`index` of [[work]] must", "-7");
}
