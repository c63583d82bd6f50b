import type { DiagnosedFailure } from '../core/cause.js';
import { consoleLine } from '../core/classify/evidence-texts.js';
import { requestLine } from '../core/classify/requests.js';
import type { Reason } from '../core/diagnosis.js';
import { type NetworkEntry, unanswered } from '../core/evidence.js';
import { normalise } from '../core/normalise.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type Complaints, consoleKey, requestKey } from './complaints.js';
import { serverOutput } from './server-output.js';

/**
 * Returns, for tests that passed in a later run and what they complained of, the reasons for their failures' classes that this run still gives: what made a test pass
 * may only hide what is wrong. The run's files have to be there still.
 */
export async function reasonsLeft(
  green: ReadonlyMap<DiagnosedFailure, Complaints>,
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Map<DiagnosedFailure, readonly Reason[]>> {
  if (green.size === 0 || serverLog === '') return new Map();
  const output = await serverOutput(serverLog).catch(() => '');
  const lines = output.split('\n').map(normalise);
  return new Map([...green].map(([one, complaints]) => [one, leftOf(one, { complaints, lines })]));
}

/** What the page of a test and the servers of its run said. */
interface Said {
  readonly complaints: Complaints;
  /** The lines of the servers' output, normalised. */
  readonly lines: readonly string[];
}

function leftOf({ failure, evidence, diagnosis }: DiagnosedFailure, { complaints, lines }: Said): Reason[] {
  if (failure.scope !== 'test') return [];
  const isLeft = ({ source, evidence: text }: Reason) => {
    const says = (entry: NetworkEntry) =>
      requestLine(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (one) => consoleLine(one).includes(text) && complaints.has(consoleKey(one.text)),
      );
    // That a call is open when a test ends is no fault in a test that passes.
    const counts = ({ failure: how }: NetworkEntry) => how !== unanswered;
    if (source === 'network')
      return evidence.network.some((one) => counts(one) && says(one) && complaints.has(requestKey(one)));
    return source === 'server' && lines.some((line) => line.includes(normalise(text)));
  };
  return diagnosis.why.filter((one) => one.category === diagnosis.category && isLeft(one));
}
