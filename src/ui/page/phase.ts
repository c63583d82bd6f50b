import type { Outcome } from '../../core/verdict.js';
import type { Event, StampedEvent, SuitePurpose } from '../../event.js';
import { doByType, type ByType } from './by-type.js';
import { counted, duration } from './words.js';

/** What the run does from this event on, in a sentence; null where it goes on with what it did. */
export function phaseOf(event: StampedEvent): string | null {
  return doByType(phases, null, event) ?? null;
}

const phases: ByType<null, string | null> = {
  'run.started': () => 'Starting Playwright',
  'suite.started': (_, event) => `${purposes[event.purpose](event.causeId ?? 'all causes')}${planned(event)}`,
  'suite.ended': (_, event) => (event.purpose === 'first' ? firstEnded(event) : null),
  'agent.started': (_, { slashCommand, causeId, attempt }) =>
    `${slashCommand} works on ${causeId}, attempt ${attempt}`,
  'agent.ended': (_, { causeId }) => `The agent for ${causeId} has ended; the re-run decides`,
  'agent.retrying': (_, { causeId }) => `Waiting before ${causeId} is tried again`,
  'agent.build_paused': () => 'Paused: too many questions wait for a person',
  'cause.ended': (_, { causeId, verdict }) => `${causeId}: ${verdict}`,
  'run.ended': (_, { outcome }) => outcomes[outcome],
};

const purposes: Record<SuitePurpose, (causeId: string) => string> = {
  first: () => 'Running the suite',
  confirm: (causeId) => `Running ${causeId} again, unchanged, before any agent is paid`,
  retest: (causeId) => `Running ${causeId} again, with the change`,
  blame: (causeId) => `Looking for the change that broke ${causeId}`,
  'other-input': (causeId) => `Running ${causeId} with another input, which the fix decides by`,
  proof: (causeId) => `Proving the fixes of ${causeId}`,
  'shared-fix': (causeId) => `Running the other tests of ${causeId}`,
  regression: () => 'Running the tests around the fixes, to see that nothing else broke',
};

const outcomes: Record<Outcome, string> = {
  green: 'Done: everything is green',
  red: 'Done: some tests are still red',
  escalated: 'Done: needs review',
  paused: 'Paused: too many questions wait for a person',
  budget: 'Stopped: a limit was reached',
  'agent-unusable': 'Stopped: the agent program cannot work here',
  interrupted: 'Interrupted',
};

function planned({ n, of, likelyMs }: Extract<Event, { type: 'suite.started' }>): string {
  if (n === undefined || of == null) return '';
  return `: run ${n} of about ${of}${likelyMs == null ? '' : `, about ${duration(likelyMs)}`}`;
}

function firstEnded({ failed, total }: Extract<Event, { type: 'suite.ended' }>): string {
  return failed === 0 ? `All of ${counted(total, 'test')} ran` : `${failed} failed: finding out why`;
}
