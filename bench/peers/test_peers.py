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
        rows: tuple[list[dict[str, Any]], int] = self.run_module.rows(
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
            found, code = self.run_module.rows(list(self.run_module.PEERS.values()), [])
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
