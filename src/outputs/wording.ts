import type { CauseVerdict, Outcome } from '../core/verdict.js';
import type { ChangeVerdict } from '../core/verification.js';
import type { EventOf, SuitePurpose } from '../event.js';
import type { Report } from '../run/report.js';
import type { PhaseEvent } from '../run/run-state.js';
import { unreachable } from '../core/unreachable.js';
import { counted, plannedText } from './format.js';

/** The outcome of a run, as a phrase. */
export const outcomeWords: Record<Outcome, string> = {
  green: 'Everything is green',
  red: 'Some tests are still red',
  escalated: 'Needs review',
  paused: 'Paused: too many questions are waiting for an answer',
  budget: 'Stopped: a limit was reached',
  'agent-unusable': 'Stopped: the agent program cannot run here',
  interrupted: 'Interrupted',
};

/** Says what the regression run showed (HN-6), in a sentence without its period. */
export function regressionText({ tests, leftOut, broke }: NonNullable<Report['regression']>): string {
  const causes = broke.map(({ causeId }) => causeId).join(', ');
  const left = leftOut > 0 ? `; there was no time for ${counted(leftOut, 'test')}` : '';
  return `${counted(tests, 'test')} re-run after healing: ${causes === '' ? 'nothing broke' : `${causes} broke other tests`}${left}`;
}

/** How reports show the end of a cause. */
export interface VerdictWords {
  readonly word: string;
  /** For terminals and pages; it only repeats the word. */
  readonly sign: string;
  /** The same for Markdown. */
  readonly emoji: string;
  /** The level of its annotation in GitHub Actions. */
  readonly level: 'error' | 'warning' | 'notice';
  /** What most needs a person has the lowest rank and comes first. */
  readonly rank: number;
}

/** How a cause ended (HN-7). */
export const verdictWords: Record<CauseVerdict, VerdictWords> = {
  escalated: { word: 'needs review', sign: '?', emoji: '❓', level: 'error', rank: 0 },
  'agent-unusable': { word: 'agent-unusable', sign: '!', emoji: '❗', level: 'error', rank: 1 },
  rejected: { word: 'rejected', sign: '✗', emoji: '⛔', level: 'error', rank: 2 },
  failed: { word: 'failed', sign: '✗', emoji: '❌', level: 'error', rank: 2 },
  interrupted: { word: 'not finished', sign: '-', emoji: '⏭️', level: 'warning', rank: 3 },
  'not-run': { word: 'not-run', sign: '-', emoji: '⏭️', level: 'warning', rank: 3 },
  skipped: { word: 'skipped', sign: '-', emoji: '⏭️', level: 'notice', rank: 5 },
  quarantined: { word: 'quarantined', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  flaky: { word: 'flaky', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  'green-once': { word: 'green-once', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  healed: { word: 'healed', sign: '✓', emoji: '✅', level: 'notice', rank: 5 },
  superseded: { word: 'revealed another', sign: '→', emoji: '➡️', level: 'notice', rank: 5 },
  passed: { word: 'passed', sign: '✓', emoji: '✅', level: 'notice', rank: 5 },
};

/** What became of the changes in the working tree. */
export const changeWords: Record<ChangeVerdict, string> = {
  proven: 'proven',
  review: 'needs review',
  refused: 'refused',
  red: 'still red',
  unsteady: 'not proven',
  needless: 'not proven',
  breaks: 'breaks other tests',
  unproven: 'not proven',
};

/** The purpose of a Playwright run: in short, and as it continues `running 3 tests …`. */
export const purposeWords: Record<SuitePurpose, { readonly short: string; readonly long: string }> = {
  first: { short: 'the suite', long: '' },
  confirm: { short: 'confirming', long: ' again without a change, to rule out a flake' },
  retest: { short: 'running again', long: ' again' },
  blame: {
    short: 'looking for the change to blame',
    long: ' with changes reverted to find the one to blame',
  },
  'other-input': {
    short: 'running with another input',
    long: ' with another input than they type',
  },
  proof: { short: 'proving', long: ' again to prove the fixes' },
  'shared-fix': { short: 'running its other tests', long: ' of the same cause' },
  regression: {
    short: 'running the tests around the fixes',
    long: ' again to check that nothing else broke',
  },
  flaky: { short: 'measuring flakes', long: ' again and again to measure how often they fail' },
};

type SuiteStarted = EventOf<'suite.started'>;

/** `running 3 tests again to prove the fixes (run 4 of about 9, about 12s)` */
export function suiteRunText(event: SuiteStarted): string {
  return `running ${testsText(event)}${purposeWords[event.purpose].long}${plannedText(event)}`;
}

/** Returns what is being done since this event, in short. */
export function phaseWords(event: PhaseEvent): string {
  switch (event.type) {
    case 'suite.started':
      return event.purpose === 'first'
        ? suiteRunText(event)
        : `${purposeWords[event.purpose].short}: ${testsText(event)}${plannedText(event)}`;
    case 'suite.ended':
      return event.causeId === null ? 'gathering evidence' : 'judging';
    case 'cause.started':
      return 'starting';
    case 'agent.started':
      return event.isReview ? 'second opinion' : `agent working, try ${event.attempt}`;
    case 'agent.ended':
      return event.opinion ? 'proving' : 'checking its changes';
    case 'attempt.held':
      return event.error === null ? 'green; waiting for its proof' : 'another error; waiting for its fix';
    case 'agent.retrying':
      return 'waiting';
    default:
      return unreachable(event);
  }
}

export function capitalized(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Makes words a sentence: with a capital letter and, if it has no end, a full stop. */
export function sentence(words: string): string {
  return `${capitalized(words)}${/[.?!…]["'”)]?$/.test(words) ? '' : '.'}`;
}

function testsText({ tests }: SuiteStarted): string {
  return tests === null ? 'the suite' : counted(tests, 'test');
}
