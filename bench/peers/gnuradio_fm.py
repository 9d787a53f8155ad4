#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The FM receiver of fm_graph.py on GNU Radio 3.10, on one core: input samples per second.

Prints one JSON object. The settings that are not GNU Radio's defaults are those that made it faster
(README.md has the figures): longer buffers, band weights folded into the band-pass taps, and VOLK's
own profile of this machine when `make build` has made one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

# GNU Radio and VOLK read these when they are imported. Log lines would spoil the JSON on stdout;
# without a profile in that folder VOLK takes the user's own, or its guesses.
os.environ["GR_CONF_LOG_LOG_LEVEL"] = "warn"
os.environ["VOLK_CONFIGPATH"] = str(Path(__file__).resolve().parent / "build")

import numpy as np
from gnuradio import analog, blocks, filter, gr

import fm_graph

BUFFER_ITEMS = 131_072
WARM_UP_SAMPLES = 8_000_000


def receiver(graph: dict[str, Any], source: list[Any], sink: Any) -> gr.top_block:
    """Connects source (bytes) to sink (floats) through the receiver."""
    decode = blocks.add_const_bb(128)  # u - 128 as a signed byte, which the next block takes
    to_complex = blocks.interleaved_char_to_complex(False, 127.5)
    channel = filter.freq_xlating_fir_filter_ccf(
        graph["decimation"], graph["channel_taps"], graph["offset_hz"], graph["sample_rate_hz"]
    )
    demod = analog.quadrature_demod_cf(graph["demod_gain"])
    bands = [
        filter.fir_filter_fff(1, [weight * tap for tap in taps])
        for taps, weight in zip(graph["band_taps"], graph["band_weights"], strict=True)
    ]
    total = blocks.add_ff()

    top = gr.top_block()
    top.connect(*source, decode, to_complex, channel, demod)
    for port, band in enumerate(bands):
        top.connect(demod, band, (total, port))
    top.connect(total, sink)
    for block in (*source, decode, to_complex, channel, demod, *bands, total):
        block.set_min_output_buffer(BUFFER_ITEMS)
    return top


def check(graph: dict[str, Any], folder: Path) -> float:
    """One pass over the input, compared with numpy's output."""
    sink = blocks.vector_sink_f()
    receiver(graph, [blocks.file_source(1, str(folder / "input.cu8"), False)], sink).run()
    expected = np.fromfile(folder / "reference.f32", dtype="<f4")
    return fm_graph.correlation(np.asarray(sink.data()), expected)


def timed_run(graph: dict[str, Any], folder: Path, samples: int) -> tuple[float, float]:
    """Wall and processor seconds to take `samples` from memory (the page cache) to the sink."""
    # The head stands before the receiver: at the end, what is still in the buffers when it has
    # seen enough would be work done and not counted.
    source = [
        blocks.file_source(1, str(folder / "input.cu8"), True),
        blocks.head(1, 2 * samples),
    ]
    top = receiver(graph, source, blocks.null_sink(4))
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    top.run()
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


def measure(graph: dict[str, Any], folder: Path, seconds: float, repeats: int) -> dict[str, Any]:
    warm_s, _ = timed_run(graph, folder, WARM_UP_SAMPLES)
    samples = int(WARM_UP_SAMPLES * seconds / warm_s)
    runs = [timed_run(graph, folder, samples) for _ in range(repeats)]
    rates = [samples / wall_s for wall_s, _ in runs]
    return {
        "samples_per_s": round(statistics.median(rates)),
        "min": round(min(rates)),
        "max": round(max(rates)),
        "repeats": repeats,
        "cpu_share": round(sum(cpu_s for _, cpu_s in runs) / sum(wall_s for wall_s, _ in runs), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="FM receiver on GNU Radio, on one core")
    parser.add_argument("--graph", type=Path, required=True, help="folder fm_graph.py has written")
    parser.add_argument("--cpu", type=int, required=True, help="core that this process runs on")
    parser.add_argument("--seconds", type=float, default=0.4, help="length of one repeat")
    parser.add_argument("--repeats", type=int, default=5, help="the median of them is reported")
    parser.add_argument("--check", action="store_true", help="compare the output with numpy's")
    args = parser.parse_args()

    try:
        os.sched_setaffinity(0, {args.cpu})
        graph = json.loads((args.graph / "graph.json").read_text())
    except (OSError, OverflowError, ValueError) as error:
        print(f"gnuradio_fm.py: cpu {args.cpu}, graph {args.graph}: {error}", file=sys.stderr)
        return 2
    row: dict[str, Any] = {"peer": f"gnuradio {gr.version()}"}
    if args.check:
        row["correlation"] = round(check(graph, args.graph), 6)
        if row["correlation"] < graph["correlation_at_least"]:
            print(json.dumps(row))
            return 1
    row |= measure(graph, args.graph, args.seconds, args.repeats)
    print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
