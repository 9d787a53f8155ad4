// SPDX-License-Identifier: Apache-2.0
//! What a platform's file says of its hardware.

use std::fs;

use whimbrel_hardware::Scheduling;
use whimbrel_hardware::{
    Arbitration, Bus, Charge, DoorbellKind, Hardware, Interconnect, MemoryKind,
};
use whimbrel_model::Platform;

use crate::common::board::{BOARD, on_a_mesh, with};
use crate::common::root;

#[test]
fn every_table_of_a_file_becomes_what_the_simulator_takes() {
    let board = Platform::parse(BOARD).unwrap().description().unwrap();
    assert_eq!((board.name.as_str(), board.cores.len()), ("board", 3));
    let arm = &board.cores[1];
    assert_eq!((arm.kind.as_str(), arm.start), ("arm", 1));
    assert_eq!((arm.points[1].microvolts, arm.points[1].static_uw), (1_200_000, 12_000));
    assert_eq!((arm.transition.time_ps, arm.transition.energy_pj), (50_000_000, 2_500_000));
    assert_eq!((arm.idle_states[0].after_ps, arm.idle_states[1].exit_ps), (0, 100_000_000));
    assert_eq!(arm.leakage.unwrap().reference_mc, 25_000);
    assert_eq!(arm.cache.unwrap().miss_ps, 60_000);
    assert_eq!((board.cores[2].kind.as_str(), board.cores[2].points[0].idle_uw), ("dsp", 0));
    assert_eq!((board.costs.actions.len(), board.costs.actions[0].cycles_per_unit), (15, 0.25));
    assert_eq!(board.costs.actions[13].ps, 3_000_000);
    assert_eq!((board.costs.load.cycles_per_unit, board.costs.copy.cycles), (2.0, 0.0));
    assert_eq!(board.costs.interrupt.cycles, 60.0);
    assert_eq!((arm.scheduling, arm.slice_ps), (Scheduling::Cooperative, 0));
    let dsp = &board.cores[2];
    assert_eq!((dsp.scheduling, dsp.slice_ps), (Scheduling::Preemptive, 1_000_000_000));
    let owners: Vec<_> = board.memories.iter().map(|m| (m.kind, m.core)).collect();
    assert_eq!(owners[..3], [0, 1, 2].map(|core| (MemoryKind::Private, Some(core))));
    assert_eq!(owners[3..], [(MemoryKind::Scratchpad, Some(2)), (MemoryKind::Shared, None)]);
    assert_eq!(board.memories[4].bytes_per_s, 200_000_000);
    let Some(Interconnect::Bus(Bus { arbitration, burst_bytes: 32, slots: 3, .. })) =
        board.interconnect
    else {
        panic!("{:?}", board.interconnect);
    };
    assert_eq!(arbitration, Arbitration::Tdma);
    assert_eq!(board.doorbell.kind, DoorbellKind::Polling);
    assert_eq!((board.doorbell.send.cycles, board.doorbell.receive.cycles), (200.0, 0.0));
    let thermal = board.thermal.unwrap();
    let blocks: Vec<_> =
        thermal.blocks.iter().map(|b| (b.name.as_str(), b.core.unwrap(), b.x_mm)).collect();
    assert_eq!(blocks, [("arm_0", 0, 0.0), ("arm_1", 1, 2.0), ("dsp", 2, 4.0)]);
    assert_eq!((thermal.step_ps, board.work[0].cycles), (10_000_000_000, 12_000));
}

#[test]
fn cores_follow_along_the_rows_of_a_mesh_from_the_node_of_the_first() {
    let text = with(&on_a_mesh(), &[("count = 2", "count = 2\nnode = [2, 0]")]);
    let board = Platform::parse(&text).unwrap().description().unwrap();
    let nodes: Vec<_> = board.cores.iter().map(|core| core.node).collect();
    assert_eq!(nodes, [(2, 0), (0, 1), (1, 1)]);
    assert_eq!(board.memories[1].node, (0, 1), "a private memory is where its core is");
}

#[test]
fn an_act_costs_on_a_core_what_its_own_table_says() {
    let own = "\n[core.costs.send]\ncycles = 7\nsource = \"ours\"\n\
               [core.costs.ring]\ntime_us = 2\nsource = \"ours\"\n";
    let two = format!(
        "[platform]\nname = \"two\"\n\
         [[core]]\npoint = [{{ mhz = 1000, active_mw = 1 }}]\n\
         [[core]]\npoint = [{{ mhz = 1000, active_mw = 1 }}]{own}\
         [costs.send]\ncycles = 5\nsource = \"ours\"\n\
         [costs.receive]\ncycles = 3\nsource = \"ours\"\n\
         [doorbell]\nkind = \"interrupt\"\nsource = \"ours\"\n\
         [doorbell.send]\ncycles = 9\nsource = \"ours\"\n\
         [doorbell.receive]\ncycles = 4\nsource = \"ours\"\n"
    );
    let board = Hardware::new(&Platform::parse(&two).unwrap().description().unwrap());
    let ns = |core, charge| board.cost_ps(core, charge, 1) / 1000;
    let acts = [0, 1].map(|number| Charge::action(number).unwrap());
    let charges = [acts[0], acts[1], Charge::RING, Charge::RUNG];
    assert_eq!(charges.map(|charge| ns(0, charge)), [5, 3, 9, 4]);
    assert_eq!(charges.map(|charge| ns(1, charge)), [7, 3, 2000, 4]);
    let refused = |old: &str, new: &str| {
        let problems = Platform::parse(&two.replace(old, new)).unwrap_err();
        problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>()
    };
    let unknown = refused("[core.costs.ring]", "[core.costs.bell]");
    assert_eq!(unknown, ["[core.costs] has no key `bell`"]);
    let empty = refused("time_us = 2\n", "");
    assert_eq!(empty, ["[core.costs.ring] states no cost"]);
}

#[test]
fn what_a_file_does_not_name_costs_nothing() {
    let text = "[platform]\nname = \"bare\"\n[[core]]\npoint = [{ mhz = 100, active_mw = 1 }]\n";
    let bare = Platform::parse(text).unwrap().description().unwrap();
    assert_eq!(bare.cores[0].kind, "core");
    assert_eq!((bare.costs.actions.len(), bare.memories.len()), (0, 0));
    assert_eq!((bare.interconnect, bare.thermal, bare.doorbell.latency_ps), (None, None, 0));
    assert_eq!(Hardware::new(&Platform::parse(text).unwrap().description().unwrap()).cores(), 1);
}

#[test]
fn a_platform_without_cores_cannot_be_simulated() {
    let host = Platform::parse("[platform]\nname = \"host\"\n").unwrap();
    let problem = host.description().unwrap_err();
    assert!(problem.message.contains("host has no [[core]]"), "{problem}");
    assert!(problem.help.unwrap().contains("whimbrel calibrate"));
}

#[test]
fn every_platform_of_the_project_can_be_simulated_and_says_where_its_power_is_from() {
    let mut simulated = 0;
    for file in fs::read_dir(root().join("platforms")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let platform = Platform::parse(&text).unwrap();
        if platform.name == "host" {
            assert!(platform.cores.is_empty(), "host is the machine as it is");
            continue;
        }
        let hardware = Hardware::new(&platform.description().unwrap());
        assert_eq!(hardware.cores(), platform.cores.len());
        let tables = text.lines().filter(|line| line.trim() == "[[core]]").count();
        let below = text.split("[[core]]").skip(1);
        let named =
            below.filter(|part| part.split("[[core.point]]").next().unwrap().contains("source"));
        assert_eq!(named.count(), tables, "{}", platform.name);
        simulated += 1;
    }
    assert!(simulated >= 5, "{simulated}");
}
