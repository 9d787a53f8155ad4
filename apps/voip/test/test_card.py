# SPDX-License-Identifier: Apache-2.0
"""A sound card, of which ALSA has the microphone and the loudspeaker in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from driven import refusal
from phones import RATE, SPEECH, lost_ms, ours, share_heard
from scipy.io import wavfile
from test_refusals import run

CONFIGURATION = """
pcm.none {{ type null }}
pcm.phone {{
    type file
    slave.pcm none
    file "{folder}/played.raw"
    infile "{folder}/said.raw"
    format raw
}}
"""
SAID_MS = 3000


def test_a_card_is_spoken_into_and_heard_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = tmp_path / "asound.conf"
    configuration.write_text(CONFIGURATION.format(folder=tmp_path))
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(configuration))
    (tmp_path / "said.raw").write_bytes(SPEECH.read_bytes()[44:])
    with ours(peer="loop", card="phone", hang_up_ms=SAID_MS) as phone:
        pass
    assert phone.process.returncode == 0, phone.said
    played = np.frombuffer((tmp_path / "played.raw").read_bytes(), np.int16)
    wavfile.write(tmp_path / "played.wav", RATE, played)
    share = share_heard(SPEECH, tmp_path / "played.wav", SAID_MS - 300)
    assert share > 0.75 - lost_ms(phone) / SAID_MS


def test_a_card_that_is_not_there_ends_the_run_with_the_reason() -> None:
    reason = refusal(run(peer="loop", card="nowhere", hang_up_ms=1000))
    assert 'card "nowhere" cannot be used: No such' in reason
