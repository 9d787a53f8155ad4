# SPDX-License-Identifier: Apache-2.0
"""What cores may see of a shared memory behind write-through caches.

The order in which writes reach the RAM is the order of each byte. A load returns the newest store
of its own core while that is on its way, or what the RAM had at some moment while the load was
carried out: what was overwritten before the load began is stale.
"""

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Load:
    """A load that is under way."""

    core: int
    word: int
    begin: int
    # What each byte may be: the own store on its way when it began.
    own: list[int | None]


@dataclass
class Memory:
    """The bytes of the RAM over time, and the stores on their way to it."""

    # Of each byte: since when it has which value.
    history: dict[int, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(lambda: [(-1, 0)])
    )
    # Of each core: its stores that are not in the RAM yet, as bytes, oldest first.
    pending: list[list[tuple[int, int]]] = field(default_factory=lambda: [[], []])
    checked: int = 0

    def store(self, core: int, word: int, be: int, data: int) -> None:
        for b in range(4):
            if be >> b & 1:
                self.pending[core].append((4 * word + b, data >> 8 * b & 0xFF))

    def written(self, now: int, word: int, be: int, data: int) -> None:
        """A write reached the RAM: it must be a store of somebody, and no older one may be left.

        Stores of one core to one byte that leave together are one write, of the newest.
        """
        for b in range(4):
            if be >> b & 1:
                self._arrived(now, 4 * word + b, data >> 8 * b & 0xFF)

    def _arrived(self, now: int, byte: int, value: int) -> None:
        for stores in self.pending:
            if (byte, value) in stores:
                last = max(i for i, store in enumerate(stores) if store == (byte, value))
                stores[:] = [s for i, s in enumerate(stores) if i > last or s[0] != byte]
                self.history[byte].append((now, value))
                return
        raise AssertionError(f"nobody stored {value:#x} to byte {byte:#x}")

    def begin(self, now: int, core: int, word: int) -> Load:
        own: list[int | None] = []
        for b in range(4):
            mine = [value for byte, value in self.pending[core] if byte == 4 * word + b]
            own.append(mine[-1] if mine else None)
        return Load(core, word, now, own)

    def end(self, now: int, load: Load, data: int) -> None:
        for b in range(4):
            value = data >> 8 * b & 0xFF
            allowed = self._allowed(now, load, b)
            assert value in allowed, (
                f"core {load.core} read {value:#x} from byte {4 * load.word + b:#x} "
                f"in cycles {load.begin} to {now}: it may be {sorted(allowed)}"
            )
            self.checked += 1

    def _allowed(self, now: int, load: Load, b: int) -> set[int]:
        byte, own = 4 * load.word + b, load.own[b]
        begin = load.begin
        allowed = set()
        if own is not None:
            allowed.add(own)
            if (byte, own) in self.pending[load.core]:
                return allowed
            # It has arrived meanwhile: what was there before is too old.
            begin = max(at for at, value in self.history[byte] if value == own)
        history = self.history[byte]
        allowed |= {value for at, value in history if begin <= at <= now}
        allowed.add([value for at, value in history if at <= begin][-1])
        return allowed
