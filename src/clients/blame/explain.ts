import path from 'node:path';
import { findRelevantCode } from '../../agents/relevant-code.js';
import { systemClock } from '../../clock.js';
import type { CreateBlameSearch } from '../../command/compose-session.js';
import { createDiagnose } from '../../command/diagnose.js';
import { createLastGreenLookup } from '../../run/last-green.js';
import { makeStateFolder } from '../../state-folder.js';
import { openContentStore, storeChange } from '../../workspace/change.js';
import { createBlame } from './blame.js';

/** Creates the search for the changes that broke the tests of causes, since the named commit or else since the tests were green. */
export function createBlameSearch(named: string | null): CreateBlameSearch {
  return (opened, session) => {
    const { request, startedAt } = opened;
    const { cwd, folder, workspace, bus, signal, settings } = session;
    const createSeparateFolder = (n: number) =>
      Promise.resolve(makeStateFolder(path.join(folder.dir, 'blame', String(n))));
    const diagnose = createDiagnose({
      ...opened,
      folder: { ...folder, makeFailureFolder: createSeparateFolder },
    });
    return createBlame({
      cwd,
      workspace,
      contents: openContentStore(folder.dir),
      keepChange: (change) => storeChange(folder.dir, change),
      prepare: (own) => session.suite.prepare(own),
      rerun: (again) => session.suite.rerun({ ...again, purpose: 'blame' }),
      // The failures of a blame run are not this run's failures, so their evidence goes to a separate folder.
      signSuiteFailure: async (run) => (await diagnose({ ...run, failures: [] }))[0]?.signature ?? null,
      warn: (message) => bus.emit({ type: 'run.warning', message }),
      signal,
      now: () => systemClock.now(),
      timeMs: settings.blame.timeMs,
      startedAt,
      named,
      lastGreen: createLastGreenLookup(cwd),
      reportPaths: (request.options.from ?? []).map((report) => path.resolve(cwd, report)),
      findNearPlaces: async (lead) => (await findRelevantCode(lead, { root: cwd, tree: cwd })).near,
      isTest: session.isTest,
      report: (causeId, answer) => {
        if (typeof answer === 'string') bus.emit({ type: 'blame.ended', causeId, reason: answer });
        else if (causeId !== null) bus.emit({ type: 'cause.blamed', causeId, blame: answer });
      },
    });
  };
}
