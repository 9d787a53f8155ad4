# SPDX-License-Identifier: Apache-2.0
"""Runs every model as it is, which must verify, and with each step left out, which must not.

usage: check.py OUT     OUT: where the generated verifiers go

A model verifies if Spin has visited all of its states and found no error in them. A mutation is
found if Spin has found one within the same bounds.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parent
JOBS = int(os.environ.get("PROCESSORS") or os.cpu_count() or 1)
SECONDS = 300  # of a processor; a run takes 20 at most
# Functions of 10,000 lines: compiling them takes gcc seconds, even without optimisation, and longer
# than most verifiers run. What tcc makes is as fast as that.
COMPILER = shutil.which("tcc") or "gcc"
DEPTH = 100_000  # steps on one path; reaching it counts as a failure


@dataclass(frozen=True)
class Run:
    """One model with its bounds, and with one step left out unless `mutation` is empty."""

    model: str
    bounds: str
    mutation: str = ""

    @property
    def name(self) -> str:
        if self.mutation:
            return f"{self.model}_finds_{self.mutation.lower()}"
        return f"{self.model}_holds_with_{self.bounds.replace(' ', '_').lower()}"


LIVING = "REQUESTS=2 WITHDRAWALS=2 KILLS=0"
ONE_DEATH = "REQUESTS=1 WITHDRAWALS=1 KILLS=1"
ONE_RETURN = "REQUESTS=1 WITHDRAWALS=0 KILLS=1 MORTALS=1 RETURNS=1"
LATE_RETURN = "REQUESTS=1 WITHDRAWALS=1 KILLS=1 MORTALS=1 RETURNS=1"
TWO_DEATHS = "REQUESTS=1 WITHDRAWALS=1 KILLS=2 MORTALS=2"
DEATH_OF_A_SENDER = "KILLS=1"
MUTEX = "MUTEX=1 KILLS=1"
SET = "GIVERS=2 ROUNDS=2"
TWO_MAKERS = "KILLS=0 MAKERS=2"
PATIENT = "KILLS=0 TIMEOUTS=1"
STRANGER = "TASKS=3 ROUNDS=1 KILLS=0"

HOLD = (
    Run("migration", ONE_DEATH),
    Run("migration", ONE_RETURN),
    Run("migration", LIVING),
    Run("migration", "REQUESTS=1 WITHDRAWALS=0 KILLS=0 RIVAL=1"),
    Run("migration", "REQUESTS=1 WITHDRAWALS=1 KILLS=0 WITHOUT_FORWARDING=1"),
    Run("mailbox", DEATH_OF_A_SENDER),
    Run("mailbox", "OTHERS=2 KILLS=0"),
    Run("copy", "WITHDRAWALS=3 KILLS=0"),
    Run("copy", "WITHDRAWALS=2 KILLS=2"),
    Run("joint_copy", "KILLS=2"),
    Run("joint_copy", "KILLS=2 NUMBERS=1"),
    Run("joint_copy", "KILLS=3 HELPERS=1 COPIES=3 CHUNKS=3"),
    Run("image", "SLOTS=3 EVERY=2 KILLS=2"),
    Run("image", "SLOTS=4 EVERY=3 KILLS=3"),
    Run("semaphore", "MUTEX=0 KILLS=1"),
    Run("semaphore", "MUTEX=0 KILLS=0 TIMEOUTS=1"),
    Run("semaphore", MUTEX),
    Run("set", "GIVERS=2 ROUNDS=2"),
    Run("set", "GIVERS=1 SECOND=1 ROUNDS=1"),
    Run("set", "GIVERS=1 ROUNDS=2 MORTAL=0"),
    Run("set", "GIVERS=2 ROUNDS=1 MORTAL=2"),
    Run("notify", "MESSAGES=2"),
    Run("sweep", "REQUESTS=2"),
    Run("outcome", "REQUESTS=3"),
    Run("wait", "SLOTS=1"),
    Run("wait", "SLOTS=2"),
    Run("neighbour", "MESSAGES=4 MOVES=3"),
    Run("call", "CALLER_KILLS=1 SERVICE_KILLS=1"),
    Run("call", "CALLER_KILLS=2 SERVICE_KILLS=1"),
    Run("call", "CALLS=3 MESSAGES=4 CALLER_KILLS=0 SERVICE_KILLS=2"),
    Run("shared", "KILLS=0"),
    Run("shared", "KILLS=1"),
    Run("chosen", "KILLS=0"),
    Run("chosen", "KILLS=1"),
    Run("condition", "KILLS=2"),
    Run("condition", "MORTAL=2 MAKERS=2"),
    Run("condition", "KILLS=1 TIMEOUTS=1"),
    Run("condition", TWO_MAKERS),
    Run("barrier", "KILLS=2"),
    Run("barrier", "KILLS=1 TIMEOUTS=1"),
    Run("barrier", "TASKS=3 ROUNDS=1 KILLS=0"),
    Run("waiters", "TASKS=2 ROUNDS=1 KILLS=2"),
    Run("waiters", "TASKS=2 ROUNDS=2 KILLS=0"),
    Run("waiters", STRANGER),
)

# Within which bounds a mutation shows, where those of its model will not do.
BOUNDS_NEEDED = {
    "OFFER_DOES_NOT_LOOK_AT_THE_TARGET": ONE_DEATH,
    "RETURN_TO_A_DEAD_SOURCE": ONE_DEATH,
    "RECOVERY_LEAVES_THE_REQUEST": ONE_DEATH,
    "RECOVERY_LEAVES_A_REQUEST_OF_AN_ENDED_TASK": ONE_DEATH,
    "RECOVERY_DOES_NOT_TELL_THE_TARGET": ONE_DEATH,
    "RETURN_IS_NOT_COMPARED": LATE_RETURN,
    "GIFT_HAS_THE_NUMBER_ZERO": TWO_DEATHS,
    "GIFT_IS_NOT_COMPARED": TWO_DEATHS,
    "NO_PASSING_ON": "MUTEX=0 KILLS=0",
    "WHO_LOOKS_IS_CHOSEN": SET,
    "SET_AFTER_THE_WORD": SET,
    "WAITED_BEFORE_THE_SET": SET,
    "ALONE_WIPES_OUT_THE_SET": SET,
    "NO_SECOND_LOOK_AT_THE_SET": SET,
    "SIGNALS_TAKE_WHAT_SAYS_THAT_SOMEBODY_WAITS": TWO_MAKERS,
    "CHOICE_OF_A_SIGNAL_IS_NOT_COMPARED": TWO_MAKERS,
    "WHO_TAKES_OVER_WAKES_NOBODY": "MORTAL=2",
    "TIME_IS_LOOKED_AT_FIRST": PATIENT,
    "TIMED_OUT_COMES_ANEW": PATIENT,
}
DEFAULT_BOUNDS = {
    "migration": LIVING,
    "mailbox": DEATH_OF_A_SENDER,
    "copy": "WITHDRAWALS=4 KILLS=1 ROUNDS=6",
    "joint_copy": "KILLS=2",
    "image": "SLOTS=3 EVERY=2 KILLS=2",
    "semaphore": MUTEX,
    "set": "GIVERS=2 ROUNDS=1 MORTAL=2",
    "call": "CALLER_KILLS=1 SERVICE_KILLS=1",
    "shared": "KILLS=0",
    "chosen": "KILLS=1",
    "condition": "KILLS=1",
    "barrier": "KILLS=1",
    "waiters": "TASKS=2 ROUNDS=1 KILLS=1",
    "notify": "MESSAGES=2",
    "sweep": "REQUESTS=2",
    "outcome": "REQUESTS=3",
    "wait": "SLOTS=1 MESSAGES=3",
    "neighbour": "MESSAGES=3 MOVES=2",
}


def mutations() -> list[Run]:
    """Every MUTATE_ that a model knows."""
    runs = []
    for model, bounds in DEFAULT_BOUNDS.items():
        files = (MODELS / f"{model}.pml", *MODELS.glob(f"{model}_*.pml"))
        text = "".join(path.read_text(encoding="utf-8") for path in files)
        for name in sorted(set(re.findall(r"def MUTATE_(\w+)", text))):
            runs.append(Run(model, BOUNDS_NEEDED.get(name, bounds), name))
    return runs


def verifier(run: Run, folder: Path) -> list[str]:
    """Generates and compiles the verifier of a run; returns the command that starts it."""
    folder.mkdir(parents=True, exist_ok=True)
    defines = [f"-D{bound}" for bound in run.bounds.split()]
    if run.mutation:
        defines.append(f"-DMUTATE_{run.mutation}")
    model = MODELS / f"{run.model}.pml"
    subprocess.run(
        ["spin", *defines, "-a", str(model)], cwd=folder, check=True, stdout=subprocess.PIPE
    )
    compiler = [COMPILER, "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=900"]
    subprocess.run([*compiler, "-o", "pan", "pan.c"], cwd=folder, check=True)
    return ["prlimit", f"--cpu={SECONDS}", str(folder.resolve() / "pan"), f"-m{DEPTH}", "-w23"]


def check(run: Run, out: Path) -> tuple[bool, str]:
    """Whether a run came out as it must, and what it came to."""
    folder = out / run.name
    command = verifier(run, folder)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return False, f"not done after {SECONDS} s of a processor"
    text = done.stdout
    errors = re.search(r"errors: (\d+)", text)
    states = re.search(r"(\d+) states, stored", text)
    if errors is None or states is None:
        return False, text.strip()
    complete = "Search not completed" not in text and "max search depth too small" not in text
    summary = f"{int(states[1]):,} states"
    if run.mutation:
        broken = re.search(r"pan:1: (assertion violated|invalid end state)", text)
        return broken is not None, f"{summary}, {broken[1] if broken else 'no error'}"
    good = errors[1] == "0" and complete
    return good, summary if good else f"{summary}; {text.strip().splitlines()[0]}"


def main() -> int:
    out = Path(sys.argv[1])
    runs = [*HOLD, *mutations()]
    failed = 0
    with ThreadPoolExecutor(JOBS) as pool:
        results = pool.map(lambda run: check(run, out), runs)
        for number, (run, (good, said)) in enumerate(zip(runs, results, strict=True), 1):
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} {run.name} ({said})", flush=True)
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
