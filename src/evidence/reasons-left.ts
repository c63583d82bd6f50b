import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { consoleLine } from '../core/classify/evidence-texts.js';
import { requestLine } from '../core/classify/requests.js';
import type { Reason } from '../core/diagnosis.js';
import { type NetworkEntry, unanswered } from '../core/evidence.js';
import { normalise } from '../core/normalise.js';
import { runFiles } from '../playwright/report-format.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { consoleKey, type Noted, readComplaints, requestKey } from './passing-evidence.js';
import { serverOutput } from './server-output.js';

/**
 * Returns, for tests that passed in a later run, the reasons for their failures' classes that this run still gives: what made a test pass
 * may only hide what is wrong. The run's files have to be there still.
 */
export async function reasonsLeft(
  failures: readonly DiagnosedFailure[],
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Map<DiagnosedFailure, readonly Reason[]>> {
  if (failures.length === 0 || serverLog === '') return new Map();
  const complaints = await readComplaints(path.join(path.dirname(serverLog), runFiles.complaints));
  const output = await serverOutput(serverLog).catch(() => '');
  const said: Said = { complaints, lines: output.split('\n').map(normalise) };
  return new Map(failures.map((one) => [one, leftOf(one, said)]));
}

/** What the pages and the servers of a run said. */
interface Said {
  readonly complaints: readonly Noted[];
  /** The lines of the servers' output, normalised. */
  readonly lines: readonly string[];
}

function leftOf({ failure, evidence, diagnosis }: DiagnosedFailure, { complaints, lines }: Said): Reason[] {
  if (failure.scope !== 'test') return [];
  const heard = new Set(complaints.filter(({ test }) => test === failure.test.id).map(({ key }) => key));
  const isLeft = ({ source, evidence: text }: Reason) => {
    const says = (entry: NetworkEntry) =>
      requestLine(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (one) => consoleLine(one).includes(text) && heard.has(consoleKey(one.text)),
      );
    // That a call is open when a test ends is no fault in a test that passes.
    const counts = ({ failure: how }: NetworkEntry) => how !== unanswered;
    if (source === 'network')
      return evidence.network.some((one) => counts(one) && says(one) && heard.has(requestKey(one)));
    return source === 'server' && lines.some((line) => line.includes(normalise(text)));
  };
  return diagnosis.why.filter((one) => one.category === diagnosis.category && isLeft(one));
}
