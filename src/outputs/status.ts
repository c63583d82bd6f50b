import type { CauseVerdict } from '../core/verdict.js';
import type { Category } from '../core/diagnosis.js';
import type { CauseSummary, Event, StampedEvent, SuitePurpose } from '../event.js';
import { counted, plannedText } from './format.js';

/** What is being done, and since when. */
export interface Phase {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** When a wait is over; null for work, which ends when it ends. */
  readonly until: number | null;
  /** The last that was heard of it: what the agent did, which test is running. */
  readonly doing: string;
}

/** One cause, as the live view shows it. */
export interface CauseStatus {
  readonly id: string;
  readonly category: Category;
  readonly headline: string;
  /** `/debugger (claude)`, or null while none has worked on it. */
  readonly agent: string | null;
  readonly costUsd: number | null;
  /** Milliseconds since the epoch; null while it waits for its turn. */
  readonly startedAt: number | null;
  /** Null while it waits for its turn, and when it has ended. */
  readonly phase: Phase | null;
  readonly ended: { readonly verdict: CauseVerdict; readonly at: number } | null;
}

/** What is going on right now. */
export interface Status {
  readonly startedAt: number;
  /** What is done for no cause alone: confirming, the regression run; null while a cause is at work. */
  readonly phase: Phase | null;
  /** In the order in which they were found. */
  readonly causes: readonly CauseStatus[];
  readonly costUsd: number | null;
}

/** Follows a run. */
export interface StatusBoard {
  take(event: StampedEvent): void;
  /** Null while nothing is to be shown: the user's own reporter has the terminal, or the run has ended. */
  status(): Status | null;
}

const words: Record<SuitePurpose, string> = {
  first: '',
  confirm: 'confirming',
  retest: 'running again',
  blame: 'looking for the change to blame',
  'other-input': 'running with another input',
  proof: 'proving',
  regression: 'running the tests around it',
  'shared-fix': 'running its other tests',
};

/** Follows a run: which phase, which test, which agent, how long, and what it has cost so far (CL-13). */
export function createStatus(): StatusBoard {
  const board = new Board();
  return { take: (event) => follow(board, event), status: () => board.status() };
}

/** The status as it changes. */
class Board {
  startedAt = 0;
  shown = false;
  readonly #causes = new Map<string, CauseStatus>();
  #phase: Phase | null = null;
  /** The cause whose phase began last; null where that was the run's own. */
  #latest: string | null = null;
  #costUsd: number | null = null;

  status(): Status | null {
    if (!this.shown) return null;
    return {
      startedAt: this.startedAt,
      phase: this.#phase,
      causes: [...this.#causes.values()],
      costUsd: this.#costUsd,
    };
  }

  found({ id, category, headline }: CauseSummary): void {
    const fresh = { agent: null, costUsd: null, startedAt: null, phase: null, ended: null };
    this.#causes.set(id, { id, category, headline, ...fresh });
  }

  change(id: string, over: Partial<CauseStatus>): void {
    const cause = this.#causes.get(id);
    if (cause) this.#causes.set(id, { ...cause, ...over });
  }

  /** Begins a phase of a cause, or of the run where there is none. */
  enter(causeId: string | null, text: string, { time, until }: { time: number; until?: number }): void {
    const phase = { text, since: time, until: until ?? null, doing: '' };
    // A cause that is looked at once more after its end says so only until something else begins.
    for (const { id, ended } of this.#causes.values()) if (ended) this.change(id, { phase: null });
    const cause = causeId === null ? undefined : this.#causes.get(causeId);
    this.#phase = cause ? null : phase;
    this.#latest = cause?.id ?? null;
    if (cause) this.change(cause.id, { phase, startedAt: cause.startedAt ?? time });
  }

  /** The last that was heard: of one cause, or of what began last. */
  heard(doing: string, causeId: string | null): void {
    const id = causeId ?? this.#latest;
    const phase = id === null ? null : this.#causes.get(id)?.phase;
    if (id !== null && phase) this.change(id, { phase: { ...phase, doing } });
    else if (this.#phase) this.#phase = { ...this.#phase, doing };
  }

  spent(id: string, costUsd: number | null): void {
    if (costUsd === null) return;
    this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    this.change(id, { costUsd: (this.#causes.get(id)?.costUsd ?? 0) + costUsd });
  }
}

type Of<T extends Event['type']> = Extract<StampedEvent, { type: T }>;
type Handlers = { [T in Event['type']]?: (board: Board, event: Of<T>) => void };

const handlers: Handlers = {
  'run.started': (board, { time }) => {
    board.startedAt = time;
  },
  'suite.started': suiteStarted,
  'suite.progress': (board, { done, total, test }) => board.heard(`${done}/${total} ${test}`, null),
  'suite.ended': (board, event) => {
    board.shown ||= event.failed > 0 || event.total === 0;
    board.enter(event.causeId, event.causeId === null ? 'gathering evidence' : 'judging', event);
  },
  'cause.found': (board, { cause }) => board.found(cause),
  'cause.started': (board, event) => board.enter(event.causeId, 'beginning', event),
  'agent.started': (board, event) => {
    board.enter(event.causeId, `agent works, try ${event.attempt}`, event);
    board.change(event.causeId, { agent: `${event.slashCommand} (${event.runner})` });
  },
  'agent.activity': (board, { text, causeId }) => board.heard(text, causeId),
  'agent.ended': (board, event) => {
    board.spent(event.causeId, event.costUsd);
    board.enter(event.causeId, 'looking at what changed', event);
  },
  'attempt.green': (board, event) => board.enter(event.causeId, 'green; waiting for its proof', event),
  'agent.retrying': (board, { causeId, time, delayMs }) =>
    board.enter(causeId, 'waiting', { time, until: time + delayMs }),
  'cause.ended': (board, { causeId, verdict, time }) =>
    board.change(causeId, { phase: null, ended: { verdict, at: time } }),
  'run.ended': (board) => {
    board.shown = false;
  },
};

function follow<T extends Event['type']>(board: Board, event: Of<T>): void {
  const handle = handlers[event.type];
  handle?.(board, event);
}

/** While the suite runs for the first time, the terminal is the user's own reporter's. */
function suiteStarted(board: Board, event: Of<'suite.started'>): void {
  board.shown = event.purpose !== 'first';
  const what = event.tests === null ? 'the suite' : counted(event.tests, 'test');
  if (board.shown) board.enter(event.causeId, `${words[event.purpose]}: ${what}${plannedText(event)}`, event);
}
