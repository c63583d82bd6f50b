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
import { announceTests } from '../heal/tell-tests.js';

/** A command: a short function over an open run, from its first Playwright run to its result. No step asks which command it is in. */
export type Command = (run: Run) => Promise<Result<HealResult, Problem>>;

/** A command and its request. */
export interface CommandRequest {
  readonly request: RunRequest;
  readonly command: Command;
}

/** The first Playwright run of a command. */
export interface FirstRun {
  /**
   * The tests to run, by id, without the user's own reporters; null for the whole selection; absent for the user's own run. Where reports of other
   * runs are healed, these say what runs.
   */
  readonly ids?: readonly string[] | null;
  /** Whether agents may be started for what is red, each of which needs a copy of the project. */
  readonly needsCopies?: boolean;
}

/** An open run, over which a command is composed. */
export class Run {
  readonly opened: OpenRun;
  #session: Session | null = null;
  #checkout: ReturnType<typeof readHead> | null = null;

  constructor(opened: OpenRun) {
    this.opened = opened;
  }

  /** Makes the first Playwright run. Playwright's refusal to start, and a selection without tests, are a `Problem`. */
  async suite(first: FirstRun = {}): Promise<Result<ReportedRun, Problem>> {
    const { request, settings, signal } = this.opened;
    const ran = await this.#first(first);
    if (!ran.ok || signal.aborted) return ran;
    const selection = { ...request.options, filters: request.filters, passThrough: request.passThrough };
    const asked = { isNarrowed: isNarrowed(selection), prepare: settings.verify.prepare };
    const problem = findFirstRunProblem(ran.value.run, asked);
    return problem ? err(problem) : ran;
  }

  async #first({ ids, needsCopies = false }: FirstRun): Promise<Result<ReportedRun, Problem>> {
    const { request, reports, bus, suites, workspace } = this.opened;
    for (const name of listInteractiveVariables(request.env)) {
      const message = `Ignored ${name}, because it makes Playwright wait for input.`;
      bus.emit({ type: 'run.warning', message });
    }
    let loading: Promise<void> | undefined;
    // Work done while the suite is still running costs no extra time.
    const onProgress = ({ failed, done, total }: SuiteProgress) => {
      if (failed === 0) return;
      if (needsCopies && done < total) workspace.begin();
      // If this fails, the import that needs it reports why.
      loading ??= loadForRed().catch(() => undefined);
    };
    const onStart = () => void (this.#checkout ??= this.#checkOut());
    const watching = { onStart, onProgress };
    if (reports) {
      const { runReported } = await import('./reported-run.js');
      return runReported(this.opened, reports, watching);
    }
    const stdout = request.options.json || request.host ? 2 : 1;
    const first = await (ids === undefined
      ? suites.first(stdout, watching)
      : suites.again({ ids, purpose: 'first', causeId: null, watching }));
    if (first.reusedServer) bus.emit({ type: 'run.warning', message: staleServer(first.reusedServer) });
    return ok({ run: first, reportedRed: new Set() });
  }

  /** Finds out what the suite runs on, and keeps what is uncommitted, while the suite runs: tests that pass are green in this state. */
  async #checkOut(): ReturnType<typeof readHead> {
    const { request, folder } = this.opened;
    const checkout = await readHead(request.cwd);
    if (!checkout.isDirty || checkout.commit === null) return checkout;
    const { storeTreeState: keepTreeState } = await import('../run/tree-state.js');
    await keepTreeState(folder.dir, request.cwd).catch(() => undefined);
    return checkout;
  }

  /** Ends a command that found nothing to do. It needs no store, no copy and no session (CL-4). */
  green(first: SuiteRun): Result<HealResult, Problem> {
    announceTests(this.opened, first);
    return ok({ suiteRed: false, paused: false });
  }

  /** Assembles the session for the steps after the first run. */
  async session(first: ReportedRun, parts: SessionParts = {}): Promise<Result<Session, Problem>> {
    // Loaded only after the suite, because people wait for Playwright to start.
    const { composeSession } = await import('./compose-session.js');
    const session = await composeSession(this.opened, first, parts);
    if (!session.ok) return session;
    this.#session = session.value;
    announceTests(session.value, first.run);
    return session;
  }

  /** The store and the spending; null if nothing was red. */
  ledger(): Pick<Session, 'store' | 'spending'> | null {
    return this.#session;
  }

  /** Returns the commit that the suite ran on; null if it did not run, or if there were uncommitted changes. */
  async commit(): Promise<string | null> {
    const checkout = await this.#checkout;
    const isOfCommit = checkout && !checkout.isDirty && this.opened.reports?.isOfCommit !== false;
    return isOfCommit ? checkout.commit : null;
  }
}

/** Loads the code for a red run while its suite is still running. */
async function loadForRed(): Promise<void> {
  const [{ compileRules }] = await Promise.all([
    import('../diagnose/classify.js'),
    import('./compose-session.js'),
    import('../heal/heal-rounds.js'),
  ]);
  compileRules();
}

function staleServer(url: string): string {
  return `${url} was already being served when Playwright started, so the tests ran against that server, which may serve old code. Stop it, or set reuseExistingServer: false.`;
}
