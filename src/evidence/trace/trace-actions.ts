import { stripVTControlCharacters } from 'node:util';
import { list, number, record, text, textOrNull } from './loose.js';

/** One step of a test or, in the trace of a script that uses Playwright as a library, one call. */
export interface TraceAction {
  readonly id: string;
  readonly parent: string | null;
  /** `hook`, `fixture`, `test.step`, `pw:api`, `expect` or `test.attach`; for a library call, its method. */
  readonly kind: string;
  /** `Click getByRole('button')`; in traces before 1.53, `locator.click`. */
  readonly title: string;
  /** The line of the test, or null if Playwright made the step itself. */
  readonly at: { readonly file: string; readonly line: number } | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  endedAt: number | null;
  error: string | null;
  /** Playwright's log of the action. */
  readonly log: string[];
}

const startLine = record({
  callId: text,
  stepId: textOrNull,
  parentId: textOrNull,
  method: text,
  params: record({ patterns: list(record({ glob: textOrNull })) }),
  // Before 1.53, this was `apiName`.
  title: textOrNull,
  apiName: text,
  subtitle: text,
  startTime: number,
  stack: list(record({ file: textOrNull, line: number })),
});
const endLine = record({ callId: text, endTime: number, error: record({ message: textOrNull }) });
const messageLine = record({ callId: text, message: text });

const MAX_ACTIONS = 5_000;
const MAX_LOG_LINES = 60;
const MAX_CHARACTERS = 4_000;
/** The error of an action that was interrupted by the end of its test. */
const interruptionError = /Test timeout|Test ended|has been closed/;

/** Collects the steps of a test and their logs. */
export class TraceActions {
  readonly #actions = new Map<string, TraceAction>();
  /** The step of each library call; up to format 8, calls have ids of their own. */
  readonly #stepsByCall = new Map<string, string>();
  readonly #errors: string[] = [];
  /** True if the trace has the steps of a test. */
  hasTestSteps = false;

  get all(): readonly TraceAction[] {
    return [...this.#actions.values()];
  }

  /** Returns the id of the step that a library call belongs to. */
  findStepId(callId: string): string {
    return this.#stepsByCall.get(callId) ?? callId;
  }

  /** Adds a `before` line; `epoch` converts its times. */
  addStart(event: unknown, { epoch, isFromTestRunner }: { epoch: number; isFromTestRunner: boolean }): void {
    const { callId: id, stepId, stack, ...call } = startLine.parse(event);
    this.hasTestSteps ||= isFromTestRunner;
    if (!isFromTestRunner && stepId !== null) this.#stepsByCall.set(id, stepId);
    if (call.method.endsWith('etworkInterceptionPatterns')) this.#nameRoute(id, call.params.patterns);
    if (!isFromTestRunner && this.hasTestSteps) return;
    if (this.#actions.size >= MAX_ACTIONS) return;
    const [frame] = stack;
    this.#actions.set(id, {
      id,
      parent: call.parentId,
      kind: readActionKind(call.method, id),
      title: [call.title ?? call.apiName, call.subtitle]
        .filter((word) => word !== '')
        .join(' ')
        .slice(0, MAX_CHARACTERS),
      at: frame?.file ? { file: frame.file, line: frame.line } : null,
      startedAt: Math.round(epoch + call.startTime),
      endedAt: null,
      error: null,
      log: [],
    });
  }

  /** Adds the pattern of a route to the title of its step. The call lists all patterns, the newest first. */
  #nameRoute(id: string, [newest]: readonly { readonly glob: string | null }[]): void {
    const step = this.#actions.get(this.findStepId(id));
    if (step && newest?.glob && /^(?:Route requests|\w+\.route)$/.test(step.title))
      this.#actions.set(step.id, { ...step, title: `Route requests ${newest.glob}` });
  }

  /** Adds an `after` line. */
  addEnd(event: unknown, epoch: number): void {
    const { callId, endTime, error } = endLine.parse(event);
    const action = this.#actions.get(callId);
    if (!action || action.endedAt !== null) return;
    action.endedAt = Math.round(epoch + endTime);
    action.error = error.message && cleanLine(error.message);
  }

  /** Adds a `log` line. */
  addLogLine(event: unknown): void {
    const line = messageLine.parse(event);
    const action = this.#actions.get(this.findStepId(line.callId));
    const message = cleanLine(line.message);
    if (!action || action.log.at(-1) === message) return;
    action.log.push(message);
    // Drops lines from the middle: the first lines show the locator, the last lines how the action ended.
    if (action.log.length > MAX_LOG_LINES) action.log.splice(MAX_LOG_LINES / 2, 1);
  }

  /** Adds a test error from an `error` line. */
  addError(event: unknown): void {
    this.#errors.push(cleanLine(messageLine.parse(event).message));
  }

  /**
   * Returns the action in the test's own code at which the test failed, or null, for example if the test compared values. Prefers an action that the
   * end of the test interrupted to the action with the test's error, which may only have waited for it.
   */
  findFailingAction(): TraceAction | null {
    const calls = this.all.filter(
      ({ kind, at }) => !this.hasTestSteps || (at !== null && /^(?:pw:api|expect)$/.test(kind)),
    );
    const wasInterrupted = ({ endedAt, error }: TraceAction) =>
      error === null ? endedAt === null : interruptionError.test(error);
    const failedCalls = calls.filter(({ error }) => error !== null);
    const isReported = ({ error }: TraceAction) =>
      this.#errors.some((message) => error !== null && message.startsWith(error));
    return calls.findLast(wasInterrupted) ?? failedCalls.find(isReported) ?? failedCalls.at(-1) ?? null;
  }
}

/** In traces of 1.53, the method of every step is `step`, and its id begins with its kind: `expect@12`. */
function readActionKind(method: string, id: string): string {
  return method === 'step' ? id.replace(/@.*/s, '') : method;
}

function cleanLine(text: string): string {
  return stripVTControlCharacters(text).slice(0, MAX_CHARACTERS);
}
