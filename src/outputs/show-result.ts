import type { RunLocation } from './html/load-run.js';
import type { Report } from '../run/report.js';
import { choosePalette } from './streams.js';
import { renderSummary } from './summary.js';
import { describeError } from '../problem.js';
import { relativePath } from '../paths.js';

export interface ResultTarget {
  /** The run's folder; absolute. */
  readonly dir: string;
  /** The project; absolute. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly options: { readonly json?: boolean };
  /** Returns the object that `--json` prints instead of the report. */
  readonly toJson?: (report: Report) => object;
  /** Receives the report instead of the terminal. */
  readonly onReport?: ((report: Report) => void) | undefined;
}

/** Writes the reports for other programs; returns a message for each that could not be written. */
export async function writeMachineReports(
  report: Report,
  { dir, finalDir, cwd, env }: Pick<ResultTarget, 'dir' | 'cwd' | 'env'> & { readonly finalDir: string },
): Promise<string[]> {
  const { writeReports } = await import('./write-reports.js');
  return writeReports(report, { dir, finalDir, cwd, env });
}

/** Writes `report.html` and shows the final summary if there is anything to see; prints the report as JSON with `--json`. */
export async function showResult(
  report: Report,
  { dir, cwd, env, options, toJson, onReport }: ResultTarget,
): Promise<void> {
  const folder = relativePath(cwd, dir);
  if (!hasNothingToReport(report)) await writePage(report, { dir, displayDir: folder });
  if (onReport) return onReport(report);
  if (options.json) process.stdout.write(`${JSON.stringify(toJson?.(report) ?? report, null, 2)}\n`);
  if (!hasNothingToReport(report)) showSummary(report, { env });
  else if (report.totals.tests === 0) process.stderr.write('self-heal: no test was selected, so none ran\n');
}

export function showSummary(report: Report, { env }: Pick<ResultTarget, 'env'>): void {
  const text = renderSummary(report, {
    paint: choosePalette(env),
    // Without a terminal, the reader's program wraps the lines.
    columns: process.stderr.columns || Infinity,
    rows: process.stderr.rows,
  });
  process.stderr.write(`${text}\n`);
}

/** Writes the page. Loads its code on demand (CL-4). A page that cannot be written does not fail the run. */
async function writePage(report: Report, folder: RunLocation): Promise<void> {
  try {
    const { writeHtmlReport } = await import('./html/page.js');
    await writeHtmlReport(report, folder);
  } catch (error) {
    process.stderr.write(`self-heal: report.html could not be written: ${describeError(error)}\n`);
  }
}

/** True if the run is green and there is nothing to report. */
function hasNothingToReport({ outcome, causes, totals, tests }: Report): boolean {
  const hasQuarantined = tests.some((test) => test.verdict === 'quarantined');
  return outcome === 'green' && causes.length === 0 && totals.flaky === 0 && !hasQuarantined;
}
