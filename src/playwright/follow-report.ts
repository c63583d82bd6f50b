import { appendedLines } from '../process/appended-lines.js';
import { systemClock } from '../clock.js';
import { jsonOf } from '../json-of.js';
import type { ReportLine } from './report-format.js';

/**
 * Passes new lines of a report to `onLines` until `finished` aborts, then reads what is left and resolves. Polls every `pollMs`,
 * because some network and container file systems do not report changes to a watcher. Skips incomplete lines, which a full disk
 * leaves.
 */
export async function followReport(
  file: string,
  { finished, pollMs }: { readonly finished: AbortSignal; readonly pollMs: number },
  onLines: (lines: readonly ReportLine[]) => void,
): Promise<void> {
  const read = appendedLines(file);
  const tell = () => {
    const lines = read().flatMap((line) => (jsonOf(line) as ReportLine | undefined) ?? []);
    if (lines.length > 0) onLines(lines);
  };
  while (!finished.aborted) {
    tell();
    await systemClock.sleep(pollMs, finished);
  }
  tell();
}
