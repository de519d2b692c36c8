"""Events between the moment they are made and the moment they are sent."""

from collections.abc import Callable

from engine.events import Said


class Outbox:
    """Queues the events. Those of one moment wait until it is over, so that the sender sees all of them or none.

    `add` keeps an event for the end of its moment, `say` ends the moment with it, `put` is a moment by itself and comes
    from any thread, `send` goes past a turn that is held back; `publish` and `drop` end a moment without another event,
    `divert` and `release` begin and end the holding back.
    """

    def __init__(self) -> None:
        self.pending: list[Said] = []
        """Events of the moment that is being recorded; always the same list."""
        self.add: Callable[[Said], None] = self.pending.append
        """Adds an event of this moment."""
        self.queue: list[Said] = []
        """Events to be sent."""
        self.rows = self.queue
        """Where events go; while a turn of a long loop is held back, another list."""

    def publish(self) -> None:
        """The moment is over."""
        pending = self.pending
        count = len(pending)
        if count:
            self.rows.extend(pending)
            del pending[:count]

    def drop(self) -> None:
        """What was said of this moment is not to be sent: the stack was too short to tell all."""
        self.pending.clear()

    def say(self, event: Said) -> None:
        """Adds an event; the moment is over."""
        self.pending.append(event)
        self.publish()

    def put(self, event: Said) -> None:
        """Adds an event that is a moment of its own, from any thread."""
        self.rows.append(event)

    def send(self, *events: Said) -> None:
        """Adds events that are not held back with their turn."""
        self.queue.extend(events)

    def divert(self, rows: list[Said]) -> list[Said]:
        """Has events go to another list from here on; gives the one they went to."""
        before, self.rows = self.rows, rows
        return before

    def release(self, held: list[Said]) -> None:
        """Adds events of a moment that waited in a list of their own."""
        self.rows.extend(held)
        held.clear()

    def take(self) -> list[Said]:
        """The queue, which is empty then; another thread may add to it meanwhile."""
        count = len(self.queue)
        taken = self.queue[:count]
        del self.queue[:count]
        return taken
