"""Rooms: a class answers the questions of one run, and its teacher sees how the answers spread.

Nothing of a room is on disk. What is said in it goes through a `Board`: of one process its own memory, of a cluster the
broker's, so that every web node reads the same.
"""

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from server.problems import Problem
from server.rate_limit import RateLimit
from server.settings import Settings
from server.snapshots import new_token, owner_of

LETTERS = "BCDFGHJKMNPQRSTVWXYZ"
"""Of codes: consonants, so that none looks like a digit and they make no words."""
CODE_LENGTH = 5
ROOM_S = 8 * 3600.0
"""The longest time a room is open."""
ABSENT_S = 3 * 3600.0
"""How long it stays open without its teacher."""
SEEN_S = 300.0
"""How often it is written down that the teacher is there."""
SWEEP_S = 60.0
GONE_S = 30.0
"""How long a learner may be away, as while a page is loaded again, and still be in the room."""
HOUR_S = 3600
MOST_CHARACTERS = 200
"""Of an answer: sixteen numbers with brackets."""
CHANGES_PER_S = 0.5
CHANGES_AT_ONCE = 20
"""Answers of one learner to all questions of a room."""

RETRY_AFTER_S = 3

PLAN = "plan"
"""Ends the key of a room's plan; that of a learner's answer ends with `by.` and who it is."""


class Plan(msgspec.Struct, frozen=True):
    """What a teacher has decided. A new field has a default: nodes of the version before write plans without it."""

    run: str
    lesson: str | None
    owner: str
    """Digest of the teacher's token."""
    opened: float
    seen: float
    """When the teacher was last there, in seconds since 1970."""
    question: int | None = None
    """The one that is asked, from 0; None before the first."""
    is_revealed: bool = False
    asking: str = ""
    """Names this time of asking it: answers to any other count no more."""
    questions: int = sys.maxsize
    """How many of its questions can be answered."""


class Given(msgspec.Struct, frozen=True):
    """What a learner answered last; nothing by who has only come in."""

    asking: str = ""
    answer: str = ""
    is_here: bool = True
    """Whether a page of theirs listens."""


class RoomState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a room is told of itself; the rest only its teacher, or the learner whose it is."""

    run: str
    lesson: str | None
    question: int | None
    is_revealed: bool
    learners: int | None = None
    answers: tuple[tuple[str, int], ...] | None = None
    """Each different answer to the question that is asked, and how often it was given."""
    answer: str | None = None
    """The learner's own answer to it."""


class Room:
    """A room as far as this node has heard."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.plan: Plan | None = None
        self.given: dict[str, Given] = {}
        """By learner."""
        self.listening: Counter[str] = Counter()
        """How many pages of each learner listen at this node."""
        self.left: dict[str, float] = {}
        """When the last page of a learner at this node went away, in seconds since 1970."""
        self.moved = asyncio.Event()
        """Set once when the teacher moves on, and replaced by another."""
        self.changed = asyncio.Event()
        """Set once when anything happens, and replaced by another."""
        self._began = time.time()

    def is_over(self, now: float) -> bool:
        """Whether it closes by itself. One without a plan is what is left of a room that was closed."""
        if self.plan is None:
            return now - self._began > SWEEP_S
        return now - self.plan.opened > ROOM_S or now - self.plan.seen > ABSENT_S

    def hear(self, plan: Plan | None) -> None:
        """Take over what the teacher decided; None: that it is closed."""
        self.plan = plan
        self.given = {learner: given for learner, given in self.given.items() if self._counts(given)}
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()
        self._change()

    def hear_of(self, learner: str, given: Given) -> None:
        """Take over what a learner said. Who is gone, and has not answered what is asked, is forgotten."""
        if self._counts(given):
            self.given[learner] = given
        else:
            self.given.pop(learner, None)
        self._change()

    def has(self, learner: str) -> bool:
        """Whether a page of this learner is known to listen."""
        return (given := self.given.get(learner)) is not None and given.is_here

    def told(self, session: str | None) -> RoomState | None:
        """How it stands for its teacher, or for a learner; None once it is closed."""
        if (plan := self.plan) is None:
            return None
        state = RoomState(plan.run, plan.lesson, plan.question, plan.is_revealed)
        if session is not None:
            own = self.given.get(_learner(self, session))
            return msgspec.structs.replace(state, answer=own.answer if own and self._answers(own) else None)
        answers = Counter(given.answer for given in self.given.values() if self._answers(given))
        return msgspec.structs.replace(state, learners=len(self.given), answers=tuple(sorted(answers.items())))

    def _counts(self, given: Given) -> bool:
        return self.plan is None or given.is_here or self._answers(given)

    def _answers(self, given: Given) -> bool:
        """Whether it answers what is asked."""
        return self.plan is not None and bool(given.asking) and given.asking == self.plan.asking

    def _change(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


Heard = Callable[[str, bytes], None]


class Board(Protocol):
    """Where the words of all rooms are written, the last one under each key; every node hears them."""

    heard: Heard
    """Called with every word; an empty one takes the last one back."""

    async def put(self, key: str, word: bytes) -> None:
        """Write a word. Raises Problem."""

    async def get(self, key: str) -> bytes:
        """The last word under a key, empty where there is none. Raises Problem."""

    async def forget(self, code: str) -> None:
        """Wipe out all answers of a room. Raises Problem."""


class OwnBoard:
    """The board of a service of one process, whose rooms remember it all."""

    def __init__(self) -> None:
        self.heard: Heard = _unheard

    async def put(self, key: str, word: bytes) -> None:
        self.heard(key, word)

    async def get(self, key: str) -> bytes:
        return b""

    async def forget(self, code: str) -> None:
        """A closed room is dropped whole."""


def _unheard(key: str, word: bytes) -> None:
    raise NotImplementedError


class Rooms:
    """The open rooms of a service."""

    def __init__(self, board: Board, settings: Settings) -> None:
        self._board = board
        self._settings = settings
        self._rooms: dict[str, Room] = {}
        self._openings = RateLimit(settings.rooms_per_hour / HOUR_S, settings.rooms_per_hour, time.monotonic)
        self._changes = RateLimit(CHANGES_PER_S, CHANGES_AT_ONCE, time.monotonic)
        self.is_ending = False
        """The server is to stop: those who listen are to ask another node."""
        board.heard = self._hear

    async def open(self, run: str, lesson: str | None, questions: int, address: str) -> tuple[str, str]:
        """Open a room; its code, and the token of its teacher. Raises Problem."""
        if len(self._rooms) >= self._settings.rooms:
            raise Problem("rooms-full", limit=self._settings.rooms)
        if wait_s := self._openings.wait_s(address):
            raise Problem("too-many-rooms", retry_after_s=int(wait_s) + 1, limit=self._settings.rooms_per_hour)
        code = next(code for code in iter(_new_code, None) if code not in self._rooms)
        token, now = new_token(), time.time()
        await self._write(code, Plan(run, lesson, owner_of(token), opened=now, seen=now, questions=questions))
        return code, token

    async def find(self, code: str, *, anew: bool = False) -> Room:
        """The open room of this code, as this node has heard or, `anew`, as it is on the board. Raises Problem."""
        code = code.upper()
        room = self._rooms.get(code)
        if (anew or room is None) and _is_code(code) and (word := await self._board.get(_key_of_plan(code))):
            try:
                self._hear(_key_of_plan(code), word)
            except msgspec.MsgspecError:  # a node of another version wrote it, and can answer
                raise Problem("rooms-down", retry_after_s=RETRY_AFTER_S, retry=RETRY_AFTER_S) from None
            room = self._rooms[code]
        if room is None or room.plan is None or room.is_over(time.time()):
            raise Problem("no-such-room", room=code[: 2 * CODE_LENGTH])
        return room

    async def owned(self, code: str, token: str) -> tuple[Room, Plan]:
        """The room of a teacher with this token, and its plan. Raises Problem."""
        room = await self.find(code)
        if room.plan is None or not hmac.compare_digest(room.plan.owner, owner_of(token)):
            raise Problem("not-your-room", room=room.code)
        return room, room.plan

    async def ask(self, code: str, token: str, question: int, is_revealed: bool) -> None:
        """Have a question asked, or its answer shown. Raises Problem."""
        room, plan = await self.owned(code, token)
        if question >= plan.questions:
            raise Problem("no-such-question", question=question, count=plan.questions, last=plan.questions - 1)
        is_same = question == plan.question and (is_revealed or not plan.is_revealed)
        asking = plan.asking if is_same else secrets.token_urlsafe(6)
        changed = {"question": question, "is_revealed": is_revealed, "asking": asking, "seen": time.time()}
        await self._write(room.code, msgspec.structs.replace(plan, **changed))

    async def stay(self, room: Room) -> None:
        """Write down that the teacher is there. Raises Problem."""
        now = time.time()
        if room.plan is not None and now - room.plan.seen > SEEN_S:
            await self._write(room.code, msgspec.structs.replace(room.plan, seen=now))

    async def join(self, room: Room, session: str) -> None:
        """Let a learner in who is not. Raises Problem."""
        learner = self._let_in(room, session)
        if room.plan is not None and not room.has(learner):
            await self._give(room, learner, msgspec.structs.replace(room.given.get(learner, Given()), is_here=True))

    @contextlib.contextmanager
    def listening(self, room: Room, session: str) -> Iterator[None]:
        """While a page of a learner listens."""
        learner = _learner(room, session)
        room.listening[learner] += 1
        try:
            yield
        finally:
            room.listening[learner] -= 1
            room.left[learner] = time.time()

    async def answer(self, code: str, session: str, question: int, answer: str) -> None:
        """Take a learner's answer in place of the one before. Raises Problem."""
        if (length := len(answer)) > MOST_CHARACTERS:
            raise Problem("answer-too-long", length=length, limit=MOST_CHARACTERS)
        room = await self.find(code)
        if not _asks(room.plan, question):
            room = await self.find(code, anew=True)
        if room.plan is None or not _asks(room.plan, question):
            raise Problem("question-not-open", room=room.code, question=question + 1)
        learner = self._let_in(room, session)
        if wait_s := self._changes.wait_s(f"{room.code} {learner}"):
            raise Problem("too-many-answers", retry_after_s=int(wait_s) + 1, retry=int(wait_s) + 1)
        await self._give(room, learner, Given(room.plan.asking, answer, is_here=room.has(learner)))

    async def close(self, code: str) -> None:
        """Forget a room. Raises Problem."""
        await self._board.put(_key_of_plan(code), b"")
        await self._board.forget(code)

    async def sweep(self) -> None:
        """Close rooms whose time is over, for ever."""
        while True:
            now = time.time()
            for code in [room.code for room in self._rooms.values() if room.is_over(now)]:
                with contextlib.suppress(Problem):  # the next time, then
                    await self.close(code)
                    self._rooms.pop(code, None)
            for room in list(self._rooms.values()):
                with contextlib.suppress(Problem):
                    await self.let_go(room, now)
            await asyncio.sleep(SWEEP_S)

    async def let_go(self, room: Room, now: float) -> None:
        """Count those no more whose pages all went away a while ago. One that listens at another node comes in anew at
        its next heartbeat. Raises Problem."""
        for learner in [learner for learner, left in room.left.items() if now - left > GONE_S]:
            if not room.listening[learner] and room.has(learner):
                await self._give(room, learner, msgspec.structs.replace(room.given[learner], is_here=False))
            del room.left[learner]
            if not room.listening[learner]:
                del room.listening[learner]

    def wind_down(self) -> None:
        """Nobody is to be listened to any longer."""
        self.is_ending = True
        for room in self._rooms.values():
            room.hear(room.plan)

    def _let_in(self, room: Room, session: str) -> str:
        """Who a learner is. Raises Problem where there is no place for another."""
        learner = _learner(room, session)
        if learner not in room.given and len(room.given) >= self._settings.room_learners:
            raise Problem("room-full", room=room.code, limit=self._settings.room_learners)
        return learner

    async def _give(self, room: Room, learner: str, given: Given) -> None:
        await self._board.put(f"{room.code}.by.{learner}", msgspec.json.encode(given))

    async def _write(self, code: str, plan: Plan) -> None:
        await self._board.put(_key_of_plan(code), msgspec.json.encode(plan))

    def _hear(self, key: str, word: bytes) -> None:
        code, _, rest = key.partition(".")
        if rest == PLAN and not word:
            if room := self._rooms.pop(code, None):
                room.hear(None)
            return
        if (room := self._rooms.get(code)) is None:  # answers may be heard of before the plan
            room = self._rooms[code] = Room(code)
        if rest == PLAN:
            room.hear(msgspec.json.decode(word, type=Plan))
        else:
            room.hear_of(rest.rpartition(".")[2], msgspec.json.decode(word, type=Given))


def _learner(room: Room, session: str) -> str:
    """Who a learner is in this room, and in no other."""
    return hashlib.blake2b(f"{room.code} {session}".encode(), digest_size=12).hexdigest()


def _key_of_plan(code: str) -> str:
    return f"{code}.{PLAN}"


def _new_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def _is_code(text: str) -> bool:
    return len(text) == CODE_LENGTH and set(text) <= set(LETTERS)


def _asks(plan: Plan | None, question: int) -> bool:
    return plan is not None and plan.question == question and not plan.is_revealed
