import { type CauseVerdict, isHealed } from '../core/verdict.js';
import { blameLine, placeOfBlame } from '../core/blame.js';
import { type Proof, renderProof } from '../core/proof.js';
import { unreachable } from '../core/unreachable.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';

/** The name of the suite's own failure in reports, since it belongs to no test. */
export const suiteItself = 'the suite itself, before its tests';

/** The result of one test, in the three statuses that every test report has. */
export interface FinalStatus {
  readonly status: 'passed' | 'failed' | 'skipped';
  /** One line; null if there is nothing to add to the status. */
  readonly message: string | null;
  /** Further details over several lines; empty if there are none. */
  readonly details: string;
  /** The cause that the status is based on. */
  readonly cause: ReportCause | null;
}

/** A test of the report, or the suite's own failure, as reported to other tools. */
export interface Told {
  /** Null for the suite's own failure. */
  readonly test: ReportTest | null;
  readonly word: FinalStatus;
}

/** Returns what other tools are told about a run: every test, and every failure of the suite itself that is healed or still open. */
export function tellTests({ tests, causes }: Report): Told[] {
  const byId = new Map(causes.map((cause) => [cause.id, cause]));
  const ofTests = tests.map((test) => ({ test, word: wordOn(test, byId.get(test.causeId ?? '') ?? null) }));
  const ofSuite = causes
    .filter(({ tests: own, verdict }) => own.length === 0 && verdict !== 'superseded')
    .map((cause) => ({ test: null, word: wordOnSuite(cause) }));
  return [...ofSuite, ...ofTests];
}

function wordOnSuite(cause: ReportCause): FinalStatus {
  const { verdict } = cause;
  if (!isHealed(verdict)) return failed(verdict, cause);
  const message = healedBy(cause, { id: null, sharedFix: false, verdict });
  return { status: 'passed', message, details: '', cause };
}

function wordOn(test: ReportTest, cause: ReportCause | null): FinalStatus {
  const as = (status: FinalStatus['status'], message: string | null = null) => ({
    status,
    message,
    details: '',
    cause,
  });
  switch (test.verdict) {
    case 'passed':
      return as('passed');
    case 'flaky':
      return as('passed', 'flaky: red, then green without a change');
    case 'healed':
    case 'green-once':
      return as('passed', healedBy(cause, test));
    case 'quarantined':
      return as('skipped', 'quarantined: still red, but not failing the run');
    case 'skipped':
      return as('skipped');
    case 'not-run':
      return as('skipped', 'not run: no Playwright run got to it');
    case 'failed':
    case 'escalated':
    case 'rejected':
    case 'agent-unusable':
      return failed(test.verdict, cause);
    default:
      return unreachable(test.verdict);
  }
}

/** Returns the proof of one test: its own if its cause has several tests (HL-6), else the cause's. */
export function proofFor({ proof, testProofs = [] }: ReportCause, testId: string | null): Proof {
  return testProofs.find(({ id }) => id === testId)?.proof ?? proof;
}

function failed(verdict: string, cause: ReportCause | null): FinalStatus {
  if (cause === null) return { status: 'failed', message: verdict, details: '', cause };
  const why = cause.why.map(({ source, evidence }) => `${source}: ${evidence}`);
  const details = [
    `${cause.id} ${verdict} · ${cause.category}`,
    cause.headline,
    ...(cause.blame ? [`${blameLine(cause.blame)} (${placeOfBlame(cause.blame)})`] : []),
    ...why,
    ...(cause.reason ? [`ended: ${cause.reason}`] : []),
    `evidence: ${cause.evidence}/`,
  ];
  return { status: 'failed', message: cause.headline, details: details.join('\n'), cause };
}

/** `healed by debugger (claude) in 2 attempts, proof: red red | green green`. */
function healedBy(
  cause: ReportCause | null,
  { id, sharedFix, verdict }: { id: string | null; sharedFix: boolean; verdict: CauseVerdict },
): string {
  const word = verdict === 'green-once' ? 'green once, not proven,' : 'healed';
  if (cause === null) return word;
  const last = cause.attempts.at(-1);
  if (!last) return word === cause.verdict ? cause.reason : `${word} ${cause.reason}`;
  const who = last.agent
    ? `by ${last.agent}${last.runner && last.runner !== last.agent ? ` (${last.runner})` : ''}`
    : 'without an agent';
  const tries = cause.attempts.length > 1 ? ` in ${cause.attempts.length} attempts` : '';
  const shared = sharedFix ? `, with the fix of ${cause.id}` : '';
  const steps = proofFor(cause, id);
  const proof = steps.length > 0 ? `, proof: ${renderProof(steps)}` : '';
  return `${word} ${who}${tries}${shared}${proof}`;
}
