import type { SuiteProgress } from '../playwright/report-state.js';
import { findFirstRunProblem } from '../playwright/refusals.js';
import { isNarrowed } from '../playwright/selection.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { listInteractiveVariables } from '../playwright/unattended.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { readHead } from '../workspace/git.js';
import type { SessionParts } from './compose-session.js';
import type { OpenRun } from './open-run.js';
import type { HealResult } from '../heal/progress.js';
import type { RunRequest } from './run-request.js';
import type { ReportedRun } from './reported-run.js';
import type { Session } from '../heal/session.js';
import { announceTests } from '../heal/announce-tests.js';

/** A command: a short function from an open run to its result. No step that it calls depends on which command it is. */
export type Command = (run: Run) => Promise<Result<HealResult, Problem>>;

/** A command and its request. */
export interface CommandRequest {
  readonly request: RunRequest;
  readonly command: Command;
}

/** The first Playwright run of a command. */
export interface FirstRun {
  /**
   * The tests to run, by id, without the user's own reporters; null for the whole selection; absent for the selection with the user's reporters.
   * Ignored when healing from reports, which determine the tests.
   */
  readonly ids?: readonly string[] | null;
  /** True if red tests may start agents, which need copies of the project. */
  readonly needsCopies?: boolean;
}

/** The steps of an open run that commands are composed of. */
export class Run {
  readonly opened: OpenRun;
  #session: Session | null = null;
  #checkout: ReturnType<typeof readHead> | null = null;

  constructor(opened: OpenRun) {
    this.opened = opened;
  }

  /** Makes the first Playwright run. Returns a `Problem` if Playwright refuses to start or the selection has no tests. */
  async runSuite(first: FirstRun = {}): Promise<Result<ReportedRun, Problem>> {
    const { request, settings, signal } = this.opened;
    const ran = await this.#runFirst(first);
    if (!ran.ok || signal.aborted) return ran;
    const selection = { ...request.options, filters: request.filters, passThrough: request.passThrough };
    const context = { isNarrowed: isNarrowed(selection), prepare: settings.verify.prepare };
    const problem = findFirstRunProblem(ran.value.run, context);
    return problem ? err(problem) : ran;
  }

  async #runFirst({ ids, needsCopies = false }: FirstRun): Promise<Result<ReportedRun, Problem>> {
    const { request, reports, bus, suites, workspace } = this.opened;
    for (const name of listInteractiveVariables(request.env)) {
      const message = `Ignored ${name}, because it makes Playwright wait for input.`;
      bus.emit({ type: 'run.warning', message });
    }
    let loading: Promise<void> | undefined;
    // Preparing while the suite is still running costs no extra time.
    const onProgress = ({ failed, done, total }: SuiteProgress) => {
      if (failed === 0) return;
      if (needsCopies && done < total) workspace.startPreparing();
      // If this fails, the later import reports why.
      loading ??= preloadHealing().catch(() => undefined);
    };
    const onStart = () => void (this.#checkout ??= this.#recordCheckout());
    const callbacks = { onStart, onProgress };
    if (reports) {
      const { runReported } = await import('./reported-run.js');
      return runReported(this.opened, reports, callbacks);
    }
    const stdout = request.options.json || request.host ? 2 : 1;
    const first = await (ids === undefined
      ? suites.runFirst(stdout, callbacks)
      : suites.rerun({ ids, purpose: 'first', causeId: null, callbacks }));
    if (first.reusedServer)
      bus.emit({ type: 'run.warning', message: describeReusedServer(first.reusedServer) });
    return ok({ run: first, reportedRed: new Set() });
  }

  /** Records the commit and stores uncommitted changes while the suite runs: passing tests are green in this state. */
  async #recordCheckout(): ReturnType<typeof readHead> {
    const { request, folder } = this.opened;
    const checkout = await readHead(request.cwd);
    if (!checkout.isDirty || checkout.commit === null) return checkout;
    const { storeTreeState } = await import('../run/tree-state.js');
    await storeTreeState(folder.dir, request.cwd).catch(() => undefined);
    return checkout;
  }

  /** Ends a command that found nothing to do. This needs no store, copy or session (CL-4). */
  endGreenRun(first: SuiteRun): Result<HealResult, Problem> {
    announceTests(this.opened, first);
    return ok({ suiteRed: false, paused: false });
  }

  /** Opens the session for the steps after the first run. */
  async openSession(first: ReportedRun, parts: SessionParts = {}): Promise<Result<Session, Problem>> {
    // Loaded after the suite, because people wait for Playwright to start.
    const { composeSession } = await import('./compose-session.js');
    const session = await composeSession(this.opened, first, parts);
    if (!session.ok) return session;
    this.#session = session.value;
    announceTests(session.value, first.run);
    return session;
  }

  /** Returns the store and the spending; null if nothing was red. */
  getLedger(): Pick<Session, 'store' | 'spending'> | null {
    return this.#session;
  }

  /** Returns the commit that the suite ran on; null if it did not run or there were uncommitted changes. */
  async getCommit(): Promise<string | null> {
    const checkout = await this.#checkout;
    const isOfCommit = checkout && !checkout.isDirty && this.opened.reports?.matchesCommit !== false;
    return isOfCommit ? checkout.commit : null;
  }
}

/** Loads the code for a red run while its suite is still running. */
async function preloadHealing(): Promise<void> {
  const [{ compileRules }] = await Promise.all([
    import('../diagnose/classify.js'),
    import('./compose-session.js'),
    import('../heal/heal-rounds.js'),
  ]);
  compileRules();
}

function describeReusedServer(url: string): string {
  return `${url} was already being served when Playwright started, so the tests ran against that server, which may serve old code. Stop it, or set reuseExistingServer: false.`;
}
