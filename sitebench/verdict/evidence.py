"""The evidence of a verdict: a measured window, and shares computed from it.

A share is of the cores that a process may use, or of the window's seconds. An unknown share is
None, never zero.
"""

from __future__ import annotations

import msgspec

from sitebench.counts.metrics import BYTES_IN, BYTES_OUT
from sitebench.counts.steady import Steadiness
from sitebench.monitor.reached import LOOPBACK
from sitebench.monitor.use import InterfaceUse, MachineUse
from sitebench.verdict.rules.thresholds import BUSY, FULL, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.window import Window


class OtherLoad(msgspec.Struct, frozen=True):
    cores: float
    cost_s: float
    """CPU seconds per operation."""


class PoolUse(msgspec.Struct, frozen=True):
    name: str
    places: int
    in_use: float
    """The mean number of connections with a request in flight."""


class Evidence(Window, frozen=True, kw_only=True):
    rate: float | None = None
    arrivals: str | None = None
    """The spacing of arrivals at a rate."""
    users: int = 0
    rate_at_half: float | None = None
    """The rate of the same run with half as many users, if measured."""
    other_loads: tuple[OtherLoad, ...] = ()
    """The target's CPU at loads measured earlier in the same run."""
    pools: tuple[PoolUse, ...] = ()
    thinks: bool = False
    pauses_s: float | None = None
    """The think time within operations, if it was longer than the warm-up."""
    longest_drain_s: float | None = None
    """The longest time between two drains: it grows if the load generator's timer is late."""
    local_ports: int | None = None
    """Local ports per address for outgoing connections of this machine."""

    @property
    def has_stages(self) -> bool:
        """Whether the load changed in stages, so that a mean value is not of one load."""
        return self.settled is not None and self.settled.state == Steadiness.STAGED

    @property
    def target_machine(self) -> MachineUse | None:
        """The target's machine; None if it is not monitored."""
        if self.use.target_machine is not None:
            return self.use.target_machine
        return self.use.machine if self.use.target_is_local else None

    @property
    def on_loopback(self) -> bool:
        return self.use.interface == LOOPBACK

    @property
    def target_wanted(self) -> float | None:
        """The share of its CPU that the target used, or would have used instead of waiting."""
        target = self.use.target
        if target is None or target.waited_s is None:
            return self.target_share
        return (target.cpu_s + target.waited_s) / self.seconds / self.ceiling

    @property
    def generator_share(self) -> float:
        return max(self.generator_cpu_s, default=0.0) / self.seconds if self.seconds else 0.0

    @property
    def generator_wanted(self) -> float:
        """The mean share of the window in which a generator thread ran, or waited for a core.

        The kernel reports one sum for the process, whose other threads do little.
        """
        waited = self.use.generator.waited_s
        if waited is None or not self.generator_cpu_s or not self.seconds:
            return self.generator_share
        share = (sum(self.generator_cpu_s) + waited) / len(self.generator_cpu_s) / self.seconds
        return max(self.generator_share, share)

    @property
    def generator_of_quota(self) -> float | None:
        quota, cores = self.use.generator.quota_cores, self.per_second(self.use.generator.cpu_s)
        return None if quota is None or cores is None else cores / quota

    @property
    def busy(self) -> float | None:
        machine = self.target_machine
        if machine is None or not machine.busy_per_core:
            return None
        return machine.busy_cores / len(machine.busy_per_core)

    @property
    def allowed_busy(self) -> float | None:
        """Busy share of the cores on which the target's processes may run."""
        target, machine = self.use.target, self.target_machine
        if target is None or target.allowed_cores is None or machine is None:
            return self.busy
        per_core = machine.busy_per_core
        shares = [per_core[core] for core in target.allowed_cores if core < len(per_core)]
        return sum(shares) / len(shares) if shares else self.busy

    @property
    def all_cores_busy(self) -> bool:
        """Whether load generator and target share a machine whose cores are all busy."""
        return self.use.target_is_local and self.busy is not None and self.busy >= USED_UP

    @property
    def others_cores(self) -> float:
        """Cores of the load generator's machine that other programs used."""
        target = self.use.target.cpu_s if self.use.target else 0.0
        own_cores = (target + self.use.generator.cpu_s) / self.seconds + self.behind_cores
        return max(0.0, self.use.machine.busy_cores - own_cores)

    @property
    def behind_cores(self) -> float:
        return sum(program.cpu_s for program in self.use.behind) / self.seconds

    @property
    def usable_cores(self) -> tuple[int, ...]:
        """The cores on which the processes of a target on this machine may run."""
        cores = tuple(range(len(self.use.machine.busy_per_core)))
        target = self.use.target
        return cores if target is None else target.allowed_cores or cores

    @property
    def taken_cores(self) -> float:
        """Cores of the `usable_cores` that other programs used."""
        target, usable = self.use.target, self.usable_cores
        if target is None or len(usable) == len(self.use.machine.busy_per_core):
            return self.others_cores
        # Only if the load generator may run on the target's cores, its CPU is subtracted too.
        shared = set(usable) & set(self.use.generator.allowed_cores or usable)
        ours_s = target.cpu_s + (self.use.generator.cpu_s if shared else 0.0)
        busy = (self.allowed_busy or 0.0) * len(usable)
        rest = busy - ours_s / self.seconds - self.behind_cores
        return max(0.0, min(self.others_cores, rest))

    @property
    def others_took_cores(self) -> bool:
        """Whether other programs used cores that the target lacked, while all cores were busy.

        Other programs must have used at least half of the cores. If the target waited for cores,
        half of the cores that it lacked is enough: other programs with as many threads as the
        target would get this share.
        """
        used_share, busy = self.target_share, self.allowed_busy
        if used_share is None or busy is None or not self.use.target_is_local:
            return False
        least = STALLED_MOST * len(self.usable_cores)
        if self.target_waits:
            lacked = (1.0 - used_share) * self.ceiling
            least = max(STALLED_MOST * lacked, STALLED_SOME * len(self.usable_cores))
        return used_share < USED_UP <= busy and self.taken_cores >= least

    @property
    def target_waits(self) -> bool:
        """Whether the target would have used up its cores if they had been free."""
        share, busy = self.target_wanted, self.allowed_busy
        if share is None or (busy is not None and busy < USED_UP):
            return False
        return share >= USED_UP or (self.all_cores_busy and share >= BUSY)

    @property
    def waited_for_others_us(self) -> float | None:
        """The mean wait of an operation for cores that other programs used.

        The kernel reports how long target and load generator waited for a core. Other programs
        cause as large a share of these waits as their share of the busy cores. None if a wait is
        not known, or if other programs used so few cores that figures change by a tenth at most.
        """
        target, generator, busy = self.use.target, self.use.generator, self.use.machine.busy_cores
        if target is None or not self.use.target_is_local or not (self.operations and busy):
            return None
        if target.waited_s is None or generator.waited_s is None:
            return None
        if self.taken_cores < STALLED_SOME * len(self.usable_cores):
            return None
        waited_s = target.waited_s + generator.waited_s
        return waited_s * min(1.0, self.others_cores / busy) / self.operations * 1e6

    @property
    def link(self) -> InterfaceUse | None:
        """The more loaded of two interfaces: this machine's and the target machine's.

        None if its speed is unknown. On this machine it is the interface of the route to the
        target. On another machine the interface is unknown: the least loaded is taken of those
        that carried at least half of the test's bytes.
        """

        def fill_level(interface: InterfaceUse) -> float:
            return max(interface.bytes_in, interface.bytes_out) / (interface.speed_bits_s or 1)

        def carried_load(interface: InterfaceUse) -> bool:
            least, largest = sorted(
                self.counters.get(counter) or 0 for counter in (BYTES_IN, BYTES_OUT)
            )
            low, high = sorted((interface.bytes_in, interface.bytes_out))
            return 2 * low >= least and 2 * high >= largest

        ends = [(self.use.machine, self.use.interface)]
        if self.use.target_machine is not None:
            ends.append((self.use.target_machine, None))
        ends_of_path = []
        for machine, name in ends:
            with_speed = [interface for interface in machine.interfaces if interface.speed_bits_s]
            if name is None:
                ends_of_path += sorted(filter(carried_load, with_speed), key=fill_level)[:1]
            else:
                ends_of_path += [interface for interface in with_speed if interface.name == name]
        return max(ends_of_path, key=fill_level, default=None)

    @property
    def full_pool(self) -> PoolUse | None:
        """The pool whose connections were all in use, if any."""
        return next((pool for pool in self.pools if pool.in_use >= FULL * pool.places), None)

    @property
    def pool_full(self) -> float | None:
        """Share of the readings in which operations waited for a thread of the target's pool."""
        counters = self.use.directory or {}
        looked = counters.get("pool_looked_total")
        return counters["pool_full_total"] / looked if looked else None

    def stolen_share(self, machine: MachineUse) -> float:
        """Return the share of a machine's cores that the hypervisor gave to other guests."""
        return (machine.stolen_s or 0.0) / self.seconds / (len(machine.busy_per_core) or 1)

    def pressure(self, name: str) -> float | None:
        """Return the share of the window in which tasks of the target's machine were stalled."""
        machine = self.target_machine
        return None if machine is None else machine.pressure.get(name)
