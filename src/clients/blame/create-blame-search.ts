import path from 'node:path';
import { findRelevantCode } from '../../agents/relevant-code.js';
import { systemClock } from '../../clock.js';
import type { CreateBlameSearch } from '../../command/compose-session.js';
import { createDiagnose } from '../../command/diagnose.js';
import { createLastGreenLookup } from '../../run/last-green.js';
import { makeStateFolder } from '../../state-folder.js';
import { openContentStore, storeChange } from '../../workspace/change.js';
import { createSearchStarter } from './blame.js';

/** Creates the search for the change that broke each cause's tests, since the named commit or, without one, since the tests were green. */
export function createBlameSearch(namedBase: string | null): CreateBlameSearch {
  return (opened, session) => {
    const { request, startedAt } = opened;
    const { cwd, folder, workspace, bus, signal, settings } = session;
    const createSeparateFolder = (n: number) =>
      Promise.resolve(makeStateFolder(path.join(folder.dir, 'blame', String(n))));
    const diagnose = createDiagnose({
      ...opened,
      folder: { ...folder, makeFailureFolder: createSeparateFolder },
    });
    return createSearchStarter({
      cwd,
      workspace,
      contents: openContentStore(folder.dir),
      storeChange: (change) => storeChange(folder.dir, change),
      prepare: (stopSignal) => session.suite.prepare(stopSignal),
      rerun: (rerun) => session.suite.rerun({ ...rerun, purpose: 'blame' }),
      // The failures of a blame run are not this run's failures, so their evidence goes to a separate folder.
      computeSuiteSignature: async (run) => (await diagnose({ ...run, failures: [] }))[0]?.signature ?? null,
      warn: (message) => bus.emit({ type: 'run.warning', message }),
      signal,
      now: () => systemClock.now(),
      timeMs: settings.blame.timeMs,
      startedAt,
      namedBase,
      findLastGreen: createLastGreenLookup(cwd),
      reportPaths: (request.options.from ?? []).map((report) => path.resolve(cwd, report)),
      findRelatedPositions: async (lead) =>
        (await findRelevantCode(lead, { root: cwd, tree: cwd })).relatedPositions,
      isTest: session.isTest,
      report: (causeId, answer) => {
        if (typeof answer === 'string') bus.emit({ type: 'blame.ended', causeId, reason: answer });
        else if (causeId !== null) bus.emit({ type: 'cause.blamed', causeId, blame: answer });
      },
    });
  };
}
