import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { consoleLine } from '../core/classify/evidence-texts.js';
import { requestLine } from '../core/classify/requests.js';
import type { Reason } from '../core/diagnosis.js';
import type { NetworkEntry } from '../core/evidence.js';
import { normalise } from '../core/normalise.js';
import { runFiles } from '../playwright/report-format.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { consoleKey, readComplaints, requestKey } from './passing-evidence.js';
import { serverOutput } from './server-output.js';

/**
 * Returns the reasons for a failure's class that a later run still gives although the test passed in it: what made the test pass may
 * only hide what is wrong. `run` must be a run of this test; its files are read before they are removed.
 */
export async function reasonsLeft(
  { failure, evidence, diagnosis }: DiagnosedFailure,
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Reason[]> {
  if (failure.scope !== 'test' || serverLog === '') return [];
  const complaints = await readComplaints(path.join(path.dirname(serverLog), runFiles.complaints));
  const heard = new Set(complaints.filter(({ test }) => test === failure.test.id).map(({ key }) => key));
  const server = (await serverOutput(serverLog).catch(() => '')).split('\n').map(normalise);
  const isLeft = ({ source, evidence: text }: Reason) => {
    const says = (entry: NetworkEntry) =>
      requestLine(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (one) => consoleLine(one).includes(text) && heard.has(consoleKey(one.text)),
      );
    if (source === 'network') return evidence.network.some((one) => says(one) && heard.has(requestKey(one)));
    return source === 'server' && server.some((line) => line.includes(normalise(text)));
  };
  return diagnosis.why.filter((one) => one.category === diagnosis.category && isLeft(one));
}
