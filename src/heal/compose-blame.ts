import { type BlameCauses, createBlame } from '../blame/blame.js';
import { systemClock } from '../clock.js';
import { placesOf } from '../guard/create-guard.js';
import { testPlaces } from '../guard/test-places.js';
import { lastGreenCommits } from '../inspect/last-green.js';
import type { Session } from './session.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { contentsOf, keepChange } from '../workspace/change.js';

/** How a search was requested. */
export interface BlameRequest {
  /** The commit to start from if the user named one. */
  readonly base: string | null;
  /** Whether the user explicitly asked for the search. */
  readonly always: boolean;
}

/** Assembles the blame search of one run. */
export function composeBlame(
  session: Omit<Session, 'blame'>,
  first: SuiteRun,
  { base, always, startedAt }: BlameRequest & { readonly startedAt: number },
): BlameCauses {
  const { cwd, folder, workspace, bus, plan, signal, settings } = session;
  return createBlame({
    cwd,
    workspace,
    contents: contentsOf(folder.dir),
    keepChange: (change) => keepChange(folder.dir, change),
    prepare: (own) => session.prepare(own),
    runAgain: (request) => session.runAgain({ ...request, purpose: 'blame' }),
    warn: (message) => bus.emit({ type: 'run.warning', message }),
    signal,
    now: () => systemClock.now(),
    timeMs: settings.blame.timeMs,
    startedAt,
    named: base,
    lastGreen: lastGreenCommits(cwd),
    isTest: testPlaces(placesOf(workspace.root, first)),
    likelyMs: (ids) => plan.likelyMs(ids),
    always,
    tell: (causeId, answer) => {
      if (typeof answer === 'string') bus.emit({ type: 'blame.ended', causeId, reason: answer });
      else if (causeId !== null) bus.emit({ type: 'cause.blamed', causeId, blame: answer });
    },
  });
}
