"""Faults of the service: each begins, lasts a while and ends; several may overlap."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.simulation.database.server import Server, Weather
from tests.simulation.machine.strands import current
from tests.simulation.service.network import Network, Roads
from tests.simulation.service.processes import ServiceProcesses
from tests.simulation.service.workers import LEASE_SECONDS

Tell = Callable[[str, str], None]


class FaultInjector:
    def __init__(
        self, processes: ServiceProcesses, server: Server, network: Network, dice: Random, tell: Tell
    ) -> None:
        self.over = False
        self._processes = processes
        self._server = server
        self._network = network
        self._dice = dice
        self._tell = tell
        self._own = processes.outsider("misfortune")

    def run(self, per_hour: float, without: frozenset[str] = frozenset()) -> None:
        """Inject faults at a rate. Call it in a strand; each fault runs in a strand of its own."""
        kinds = [name for name in FAULTS if name not in without]
        while per_hour and kinds:
            current().wait(self._dice.expovariate(per_hour / 3600))
            if self.over:
                return
            fault = FAULTS[self._dice.choice(kinds)]
            self._own.strand(lambda fault=fault: fault(self))  # type: ignore[misc]

    def calm(self) -> None:
        """End all faults and start the processes that are down."""
        self.over = True
        self._own.kill()
        self._server.weather = Weather()
        self._network.roads = Roads()
        self._server.cut_off.clear()
        self._server.held_up.clear()
        self._server.come_back()
        for name in self._processes.names:
            self._processes.process(name).resume()
            if self._processes.process(name).stopping:
                # The strand that would have restarted it is gone.
                self._processes.kill(name)
            self._processes.begin(name)
        self._tell("misfortune", "is over")

    def _somebody(self) -> str:
        return self._dice.choice(self._processes.names)

    def _seconds(self, usual: float) -> float:
        return self._dice.expovariate(1 / usual)

    def kill(self) -> None:
        name = self._somebody()
        self._processes.kill(name)
        current().wait(self._seconds(30))
        self._processes.begin(name)

    def kill_often(self) -> None:
        """Kill a process, and kill it again as soon as it has started."""
        name = self._somebody()
        for _ in range(self._dice.randint(3, 12)):
            self._processes.kill(name)
            self._processes.begin(name)
            current().wait(self._seconds(2))

    def restart(self) -> None:
        name = self._somebody()
        self._processes.terminate(name)
        current().wait(60 + self._seconds(60))
        if self._processes.process(name).alive:
            self._processes.kill(name)
        self._processes.begin(name)

    def stop(self) -> None:
        self._processes.stop(self._somebody(), self._seconds(2000))

    def hold_up(self) -> None:
        """Stop a scheduler between a decision and its append until another has the lease."""
        name = self._dice.choice([each.process.name for each in self._processes.schedulers()])
        self._tell(name, "will be stopped in its next append")
        self._server.held_up[name] = LEASE_SECONDS + self._seconds(2000)

    def database_killed(self) -> None:
        self._tell("database", "is killed")
        self._server.go_away()
        current().wait(self._seconds(self._dice.choice((3, 60, 1800))))
        self._server.come_back()
        self._tell("database", "is back")

    def cut_off(self) -> None:
        name = self._somebody()
        self._tell(name, "is cut off from the database")
        self._server.cut(name)
        current().wait(self._seconds(300))
        self._server.cut_off.discard(name)
        self._tell(name, "reaches the database again")

    def bad_weather(self) -> None:
        """Lose statements, answers and notifications, and delay some of them."""
        dice = self._dice
        kinds = (
            Weather(lost_before=0.1, lost_after=0.1),
            Weather(lost_after=0.4),
            Weather(slow=0.2, slow_seconds=dice.choice((2.0, 30.0))),
            Weather(notification_lost=1.0),
            Weather(0.05, 0.1, 0.05, 10.0, 0.5),
        )
        self._server.weather = dice.choice(kinds)
        self._tell("database", f"is unreliable: {self._server.weather}")
        current().wait(self._seconds(1500))
        self._server.weather = Weather()
        self._tell("database", "is reliable again")

    def bad_roads(self) -> None:
        dice = self._dice
        kinds = (
            Roads(request_lost=0.3),
            Roads(answer_lost=0.3, doubled=0.2),
            Roads(slow=0.3, slow_seconds=60.0, doubled=0.2),
            Roads(0.1, 0.2, 0.5, 0.1),
        )
        self._network.roads = dice.choice(kinds)
        self._tell("network", f"is unreliable: {self._network.roads}")
        current().wait(self._seconds(1200))
        self._network.roads = Roads()
        self._tell("network", "is reliable again")


Fault = Callable[[FaultInjector], None]

FAULTS: dict[str, Fault] = {
    "kill": FaultInjector.kill,
    "kill-often": FaultInjector.kill_often,
    "restart": FaultInjector.restart,
    "stop": FaultInjector.stop,
    "hold-up": FaultInjector.hold_up,
    "database": FaultInjector.database_killed,
    "cut-off": FaultInjector.cut_off,
    "weather": FaultInjector.bad_weather,
    "roads": FaultInjector.bad_roads,
}
