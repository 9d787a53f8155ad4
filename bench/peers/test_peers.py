# SPDX-License-Identifier: Apache-2.0
"""What must hold of the peers' runner and of the reference, on a machine with or without peers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import fm_graph

HERE = Path(__file__).resolve().parent


def load_run() -> Any:
    loader = SourceFileLoader("peers_run", str(HERE / "run"))
    spec = spec_from_loader("peers_run", loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules["peers_run"] = module
    loader.exec_module(module)
    return module


class TheRunner(unittest.TestCase):
    def setUp(self) -> None:
        self.run_module = load_run()

    def rows_of(self, **peer: Any) -> tuple[list[dict[str, Any]], int]:
        fields: dict[str, Any] = {"name": "a peer", "command": ("/bin/false",)} | peer
        rows: tuple[list[dict[str, Any]], int] = self.run_module.radio_rows(
            [self.run_module.Peer(**fields)], []
        )
        return rows

    def test_a_missing_package_is_a_row_that_says_how_to_get_it(self) -> None:
        found = self.rows_of(modules=("no_such_module",), install="apt-get install it")
        self.assertEqual(found, ([{"peer": "a peer", "missing": "apt-get install it"}], 0))

    def test_a_missing_program_is_a_row_that_says_how_to_build_it(self) -> None:
        found = self.rows_of(program=Path("/no/such/program"))
        self.assertEqual(found, ([{"peer": "a peer", "missing": "make -C bench/peers build"}], 0))

    def test_without_the_system_python_every_peer_is_missing(self) -> None:
        with mock.patch.object(self.run_module, "SYSTEM_PYTHON", "/no/such/python3"):
            found, code = self.run_module.radio_rows(list(self.run_module.PEERS.values()), [])
        self.assertEqual(code, 0)
        self.assertEqual([sorted(row) for row in found], [["missing", "peer"]] * 2)

    def test_a_peer_that_fails_is_an_error_with_its_last_line(self) -> None:
        script = "import sys; print('first\\nthe reason', file=sys.stderr); sys.exit(2)"
        found = self.rows_of(command=(sys.executable, "-c", script))
        self.assertEqual(found, ([{"peer": "a peer", "error": "the reason"}], 2))

    def test_a_peer_whose_output_differs_makes_the_answer_no(self) -> None:
        script = 'import sys; print(\'{"peer": "a", "correlation": 0.5}\'); sys.exit(1)'
        found = self.rows_of(command=(sys.executable, "-c", script))
        self.assertEqual(found, ([{"peer": "a", "correlation": 0.5}], 1))

    def test_a_peer_that_hangs_is_ended_and_reported(self) -> None:
        with mock.patch.object(self.run_module, "PEER_TIMEOUT_S", 0.2):
            found = self.rows_of(command=("/bin/sh", "-c", "exec sleep 20"))
        self.assertEqual(found, ([{"peer": "a peer", "error": "no result in 0.2 s"}], 2))

    def pipeline_rows_of(self, *scripts: str) -> tuple[list[dict[str, Any]], int]:
        peers = [
            self.run_module.Peer(f"peer {n}", (sys.executable, "-c", script), modules=(), frames=7)
            for n, script in enumerate(scripts)
        ]
        cpu = min(os.sched_getaffinity(0))
        found: tuple[list[dict[str, Any]], int] = self.run_module.pipeline_rows(peers, cpu, 3)
        return found

    def test_simulators_take_turns_and_their_medians_are_reported(self) -> None:
        with tempfile.NamedTemporaryFile() as log:
            script = (
                "import json, sys; log = open({log!r}, 'a+'); log.seek(0); n = len(log.read());"
                "log.write({name!r}); seconds = [4, 1, 2][n // 2];"
                "print(json.dumps(dict(events=int(sys.argv[1]) * 4, seconds=seconds,"
                " latency_last=94.0)))"
            )
            scripts = (script.format(log=log.name, name=name) for name in "ab")
            found, code = self.pipeline_rows_of(*scripts)
            self.assertEqual(Path(log.name).read_text(), "ababab")
        rates = {"events_per_s": 14, "min": 7, "max": 28, "repeats": 3}
        self.assertEqual(
            (found, code), ([{"peer": "peer 0"} | rates, {"peer": "peer 1"} | rates], 0)
        )

    def test_a_simulator_whose_frame_is_late_makes_the_answer_no(self) -> None:
        line = {"events": 7, "seconds": 1, "latency_last": 95.0}
        script = f"import sys; print({json.dumps(line)!r}); sys.exit(1)"
        found, code = self.pipeline_rows_of(script)
        error = "the last frame took 95.0, not 94.0"
        self.assertEqual((found, code), ([{"peer": "peer 0", "error": error}], 1))

    def test_a_simulator_that_fails_is_an_error_with_its_last_line(self) -> None:
        found, code = self.pipeline_rows_of("import sys; sys.exit('the reason')")
        self.assertEqual((found, code), ([{"peer": "peer 0", "error": "the reason"}], 2))

    def test_every_simulator_is_missing_or_simulates_the_pipeline(self) -> None:
        peers = list(self.run_module.SIMULATORS.values())
        few = [self.run_module.replace(peer, frames=100) for peer in peers]
        found, code = self.run_module.pipeline_rows(few, min(os.sched_getaffinity(0)), 1)
        self.assertEqual(code, 0, found)
        for row in found:
            self.assertTrue("missing" in row or row["events_per_s"] > 0, row)

    def test_simulators_are_named_with_the_versions_that_are_built(self) -> None:
        lock = (HERE / "des_pipeline/Cargo.lock").read_text()
        for peer, crate in (("nexosim", "nexosim"), ("odem", "odem-rs")):
            version = self.run_module.SIMULATORS[peer].name.removeprefix(f"{crate} ")
            self.assertIn(f'name = "{crate}"\nversion = "{version}"', lock)
        wanted = (HERE / "simpy.txt").read_text().strip()
        self.assertEqual(self.run_module.SIMULATORS["simpy"].name, wanted.replace("==", " "))

    def test_switches_are_reported_in_nanoseconds_by_the_version_that_the_peer_names(self) -> None:
        lines = [{"switch_ns": ns, "peer": "go 1.19"} for ns in (3.0, 1.0, 2.0)]
        times = {"min": 1.0, "max": 3.0, "repeats": 3}
        self.assertEqual(
            self.run_module.switch_row("go", lines), {"peer": "go 1.19", "switch_ns": 2.0} | times
        )

    def test_every_peer_of_switches_is_missing_or_switches(self) -> None:
        peers = list(self.run_module.SWITCHES.values())
        few = [self.run_module.replace(peer, frames=4) for peer in peers]
        cpu = min(os.sched_getaffinity(0))
        found, code = self.run_module.rows_in_turns(few, cpu, 1, self.run_module.switch_row)
        self.assertEqual(code, 0, found)
        for row in found:
            self.assertTrue("missing" in row or row["switch_ns"] > 0, row)

    def test_tokio_is_named_with_the_version_that_is_built(self) -> None:
        version = self.run_module.SWITCHES["tokio"].name.removeprefix("tokio ")
        lock = (HERE / "switches/Cargo.lock").read_text()
        self.assertIn(f'name = "tokio"\nversion = "{version}"', lock)

    def test_a_peer_of_another_group_is_refused(self) -> None:
        command = [sys.executable, str(HERE / "run"), "--cpu", "0", "--peer", "simpy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--peer simpy: there are gnuradio, futuresdr", done.stderr)

    def test_a_core_that_does_not_exist_is_refused(self) -> None:
        command = [sys.executable, str(HERE / "run"), "--cpu", "100000", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--cpu 100000", done.stderr)

    def test_the_runner_keeps_its_own_affinity(self) -> None:
        before = os.sched_getaffinity(0)
        self.run_module.refuse_unknown_core(min(before))
        self.assertEqual(os.sched_getaffinity(0), before)

    def test_futuresdr_is_named_with_the_version_that_is_built(self) -> None:
        crate = HERE / "futuresdr_fm"
        name = self.run_module.PEERS["futuresdr"].name
        version = name.removeprefix("futuresdr ")
        self.assertIn(f'PEER: &str = "{name}"', (crate / "src/main.rs").read_text())
        self.assertIn(f'futuresdr = {{ version = "={version}"', (crate / "Cargo.toml").read_text())
        lock = re.search(
            r'name = "futuresdr"\nversion = "(.*)"', (crate / "Cargo.lock").read_text()
        )
        self.assertEqual(lock and lock[1], version)


class TheReference(unittest.TestCase):
    def setUp(self) -> None:
        self.cu8 = fm_graph.station(seconds=0.1)
        self.expected = fm_graph.reference(self.cu8)

    def correlation_with(self, **changed: Any) -> float:
        with mock.patch.multiple(fm_graph, **changed):
            return fm_graph.correlation(fm_graph.reference(self.cu8), self.expected)

    def test_it_holds_the_three_tones_with_their_weights(self) -> None:
        settled = self.expected[fm_graph.SETTLE_OUTPUTS :]
        t = (fm_graph.SETTLE_OUTPUTS + np.arange(settled.size)) / fm_graph.AUDIO_RATE_HZ
        tones = ((0.4, 5e3), (0.2, 23e3), (0.4, 42e3))
        for (tone, hz), weight in zip(tones, fm_graph.WEIGHTS, strict=True):
            turning = np.exp(-2j * np.pi * hz * t)
            amplitude = 2 * abs(np.mean(settled * turning))
            self.assertAlmostEqual(amplitude / (tone * weight), 1.0, delta=0.2)

    def test_it_tells_a_receiver_with_a_wrong_band_weight(self) -> None:
        for weights in ((0.0, 0.5, 0.25), (1.0, 0.0, 0.25), (1.0, 0.5, 0.0), (1.0, 0.25, 0.5)):
            self.assertLess(self.correlation_with(WEIGHTS=weights), fm_graph.CORRELATION_AT_LEAST)

    def test_it_tells_a_receiver_at_the_wrong_offset_or_with_fewer_taps(self) -> None:
        wrong_sign = self.correlation_with(OFFSET_HZ=-fm_graph.OFFSET_HZ)
        self.assertLess(wrong_sign, fm_graph.CORRELATION_AT_LEAST)
        self.assertLess(self.correlation_with(TAPS=32), fm_graph.CORRELATION_AT_LEAST)

    def test_a_cut_or_broken_output_correlates_with_nothing(self) -> None:
        half = self.expected[: self.expected.size // 2]
        self.assertEqual(fm_graph.correlation(half, self.expected), 0)
        self.assertEqual(fm_graph.correlation(self.expected * np.nan, self.expected), 0)

    def test_the_graph_file_holds_taps_of_the_length_that_is_claimed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            fm_graph.write(Path(folder))
            graph = json.loads((Path(folder) / "graph.json").read_text())
        self.assertEqual([len(taps) for taps in graph["band_taps"]], [64, 64, 64])
        self.assertEqual((len(graph["channel_taps"]), graph["decimation"]), (64, 4))


if __name__ == "__main__":
    unittest.main()
