import { builtIn } from '../core/built-in-fixer.js';
import type { SuiteProgress } from '../playwright/report-state.js';
import { interactiveVariablesIn } from '../playwright/unattended.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import { missingWarning } from '../playwright/reports/report.js';
import type { Opened } from './open-run.js';
import type { ReportedRun } from './reported-run.js';
import { shardsIn, typed } from './run-request.js';

/** Announces the run, before anything is run. */
export function tellStarted({ request, reports, bus, folder, settings, playwright }: Opened): void {
  const { options, resumed } = request;
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: settings.project,
    playwright: playwright.version,
    dryRun: options.dryRun ?? false,
    verify: settings.verify.level,
    ...shardsIn(reports ?? resumed?.shards),
    request: typed(request),
    ...(resumed ? { resumedFrom: resumed.runId } : {}),
  });
}

/**
 * Makes the run of the suite that everything starts from: here, as the rest of a resumed run, or of what the reports of other runs name as red.
 * `onStart` is called once Playwright has been started.
 */
export async function firstRun(
  opened: Opened,
  onStart: () => unknown,
): Promise<Result<ReportedRun, Problem>> {
  const { request, reports, bus, suites } = opened;
  const { options, resumed } = request;
  for (const name of interactiveVariablesIn(request.env)) {
    const message = `Ignored ${name}, because it makes Playwright wait for input.`;
    bus.emit({ type: 'run.warning', message });
  }
  const gone = resumed?.shards ? missingWarning(resumed.shards) : null;
  if (gone !== null) bus.emit({ type: 'run.warning', message: gone });
  const stdout = options.json ? 2 : 1;
  const mayCopy = startsAgents(opened);
  let loading: Promise<void> | undefined;
  // Work done while the suite is still running costs no extra time.
  const onProgress = ({ failed, done, total }: SuiteProgress) => {
    if (failed === 0) return;
    if (mayCopy && done < total) opened.workspace.begin();
    // Whoever needs it later reports what is wrong with it.
    loading ??= loadForRed().catch(() => undefined);
  };
  const watching = { onStart: () => void onStart(), onProgress };
  if (reports) {
    const { runReported } = await import('./reported-run.js');
    return runReported(opened, reports, watching);
  }
  const only = request.chosenFor ?? request.onlyIds ?? [];
  const first = await (resumed
    ? resumed.firstRun(suites, stdout, watching)
    : only.length > 0 || request.flaky
      ? suites.again({ ids: only.length > 0 ? only : null, purpose: 'first', causeId: null, watching })
      : suites.first(stdout, watching));
  if (first.reusedServer) bus.emit({ type: 'run.warning', message: staleServer(first.reusedServer) });
  return ok({ run: first, reportedRed: new Set() });
}

/** Loads what a red run needs while its suite is still running. */
async function loadForRed(): Promise<void> {
  const [{ compileRules }] = await Promise.all([
    import('../core/classify/classify.js'),
    import('./compose-session.js'),
    import('./run.js'),
  ]);
  compileRules();
}

/** Whether an agent may need a copy; the built-in fixer does not. */
function startsAgents({ request, settings, missing }: Opened): boolean {
  const { options, blame, chosenFor } = request;
  if (options.dryRun || blame || chosenFor) return false;
  return Object.entries(settings.agents).some(
    ([name, { runner }]) => runner !== builtIn && !missing.has(name),
  );
}

function staleServer(url: string): string {
  return `${url} was already being served when Playwright started, so the tests ran against that server, which may serve old code. Stop it, or set reuseExistingServer: false.`;
}
