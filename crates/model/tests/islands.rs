// SPDX-License-Identifier: Apache-2.0
//! Islands: which cores have something in common.

use crate::common::{RADIO, build};

/// A script for each core, and what is common to them.
fn scripts(common: &str, scripts: &[&str]) -> String {
    let task = |(core, script): (usize, &&str)| {
        format!("[[task]]\nname = \"t{core}\"\ncore = {core}\nscript = [{script}]\n")
    };
    let tasks: String = scripts.iter().enumerate().map(task).collect();
    format!("[app]\nname = \"s\"\n\n{common}\n{tasks}")
}

fn islands(text: &str, cores: usize) -> Option<Vec<u32>> {
    build(text, &[]).unwrap().islands(&vec![0; cores])
}

#[test]
fn cores_that_share_a_scheduler_are_one_island() {
    let text = scripts("", &["{ run = 1 }", "{ run = 1 }", "{ run = 1 }"]);
    let of = |groups: &[u32]| build(&text, &[]).unwrap().islands(groups);
    assert_eq!(of(&[1, 1, 0, 0]), Some(vec![1, 1, 2, 0]));
    // A task may come to a core on which none begins.
    assert_eq!(of(&[0, 2, 1, 1, 2, 3]), Some(vec![1, 2, 3, 3, 2, 0]));
}

#[test]
fn cores_without_anything_in_common_are_islands() {
    let text = scripts("", &["{ run = 1 }", "{ sleep = \"1us\" }", "{ run = 2 }"]);
    assert_eq!(islands(&text, 5), Some(vec![1, 2, 3, 0, 0]));
    let together = text.replace("core = 2", "core = 0");
    assert_eq!(islands(&together, 3), Some(vec![1, 2, 0]));
}

#[test]
fn what_scripts_have_in_common_joins_their_cores() {
    for (common, first, second) in [
        ("[[mutex]]\nname = \"o\"", "{ lock = \"o\" }, { unlock = \"o\" }", None),
        ("[[barrier]]\nname = \"o\"\ntasks = 2", "{ barrier = \"o\" }", None),
        ("[[semaphore]]\nname = \"o\"", "{ give = \"o\" }", Some("{ take = \"o\" }")),
        (
            "[[condition]]\nname = \"o\"\n[[mutex]]\nname = \"m\"",
            "{ signal = \"o\" }",
            Some("{ lock = \"m\" }, { wait = \"o\", mutex = \"m\" }, { unlock = \"m\" }"),
        ),
        ("", "{ resume = \"t2\" }", Some("{ suspend = true }")),
    ] {
        let text = scripts(common, &[first, "{ run = 1 }", second.unwrap_or(first)]);
        assert_eq!(islands(&text, 3), Some(vec![1, 2, 1]), "{text}");
    }
}

#[test]
fn channels_join_the_cores_of_their_tasks() {
    let actor = |name: &str, core: usize| {
        format!("[[task]]\nname = \"{name}\"\ncore = {core}\ncycles = 1\n")
    };
    let tasks: String = ["a", "b", "c", "d"].iter().zip(0..).map(|(n, c)| actor(n, c)).collect();
    let channel = "[[channel]]\nfrom = \"a.out\"\nto = \"d.in\"\nslots = 1\nslot_bytes = 8\n";
    let text = format!("[app]\nname = \"s\"\n{tasks}{channel}");
    assert_eq!(islands(&text, 4), Some(vec![1, 2, 3, 1]));
}

#[test]
fn an_application_with_code_or_moves_is_one() {
    assert_eq!(islands(RADIO, 2), None);
    let moves = scripts("", &["{ loop = 2, do = [{ run = 1 }, { migrate = 1 }] }", "{ run = 1 }"]);
    assert_eq!(islands(&moves, 2), None);
    let images = scripts("", &["{ run = 1 }", "{ run = 1 }"]);
    let images = images.replacen("core = 0", "core = 0\nrestart = true\ncheckpoint_every = 3", 1);
    assert_eq!(islands(&images, 2), None);
}
