import { unreachable } from '../unreachable.js';
import type { EventOf, SuitePurpose } from '../event.js';
import { counted, duration } from '../format.js';
import type { PhaseEvent } from './run-state.js';

/** The purpose of a Playwright run, in short and as the end of a sentence that begins with `running 3 tests`. */
const purposeWords: Record<SuitePurpose, { readonly short: string; readonly long: string }> = {
  first: { short: 'the suite', long: '' },
  confirm: { short: 'confirming', long: ' again without a change, to rule out a flake' },
  retest: { short: 'running again', long: ' again, to see what is green now' },
  blame: {
    short: 'looking for the change to blame',
    long: ' with changes reverted to find the one to blame',
  },
  proof: { short: 'proving', long: ' again to prove the fixes' },
  'shared-fix': { short: 'running its other tests', long: ' of the same cause' },
  regression: {
    short: 'running the tests near the fixes',
    long: ' again to check that nothing else broke',
  },
  flaky: { short: 'measuring flakes', long: ' again and again to measure how often they fail' },
};

type SuiteStarted = EventOf<'suite.started'>;

/** `running 3 tests again to prove the fixes (run 4, about 12s)` */
export function describeSuiteRun(event: SuiteStarted): string {
  const why = event.about
    ? ` again and again to see when ${event.about} fails`
    : purposeWords[event.purpose].long;
  return `running ${describeTests(event)}${why}${describePlan(event)}`;
}

/** Names the work that an event began. */
export function describePhaseEvent(event: PhaseEvent): string {
  switch (event.type) {
    case 'suite.started':
      return event.purpose === 'first'
        ? describeSuiteRun(event)
        : `${purposeWords[event.purpose].short}: ${describeTests(event)}${describePlan(event)}`;
    case 'suite.ended':
      return event.causeId === null ? 'gathering evidence' : 'judging';
    case 'cause.started':
      return 'starting';
    case 'agent.started':
      return event.isReview ? 'reviewing a fix' : `agent working, try ${event.attempt}`;
    case 'agent.ended':
      return event.opinion ? 'proving' : "checking the agent's changes";
    case 'attempt.held':
      return event.attempt.end.kind === 'green'
        ? 'green; waiting for its proof'
        : 'another error; waiting for its fix';
    case 'agent.retrying':
      return 'waiting';
    default:
      return unreachable(event);
  }
}

function describeTests({ tests, red }: SuiteStarted): string {
  if (tests === null) return 'the suite';
  return red === undefined
    ? counted(tests, 'test')
    : `${counted(red, 'red test')} and ${counted(tests - red, 'other')}`;
}

/** Describes the number and the estimated duration of a Playwright run: ` (run 4, about 12 s)`; empty for the first run. */
function describePlan(run: { n?: number; estimateMs?: number | null }): string {
  if (run.n === undefined || run.n === 1) return '';
  const time = run.estimateMs == null ? '' : `, about ${duration(run.estimateMs)}`;
  return ` (run ${run.n}${time})`;
}
