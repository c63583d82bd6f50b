import type { Diagnostics, Suite } from '../heal/session.js';
import { type BrokenBuild, findBrokenBuild } from '../playwright/broken-build.js';
import { isRed } from '../playwright/suite-run.js';
import { describeError } from '../problem.js';
import { addPackageBins } from '../process/find-program.js';
import { type ProjectCommand, runProgram } from '../process/supervise.js';
import type { Workspace } from '../workspace/workspace.js';
import { createDiagnose, writeFailure } from './diagnose.js';
import type { OpenRun } from './open-run.js';
import { unpackTrace } from './unpack-trace.js';

/** The suite of a run, with the build error that kept a web server from starting, or null. */
interface ProjectSuite extends Suite {
  brokenBuild: BrokenBuild | null;
}

/** Creates the suite of a run, for Playwright runs in the project and in clean copies. */
export function createSuite(opened: OpenRun, workspace: Pick<Workspace, 'updateCleanCopy'>): ProjectSuite {
  const { suites, playwright, plan, cwd, env, signal, folder, settings } = opened;
  const { prepare: command } = settings.verify;
  const runPrepareIn = async (target: Pick<ProjectCommand, 'cwd' | 'signal'>) =>
    command === null ? null : runPrepare(command, { ...target, env, runId: folder.runId });
  const suite: ProjectSuite = {
    playwright,
    plan,
    brokenBuild: null,
    rerun: (request) => suites.rerun({ ...request, brokenBuild: suite.brokenBuild }),
    runInCleanCopy: async ({ ids, since }) => {
      const copy = await workspace.updateCleanCopy(since).catch(describeError);
      if (typeof copy === 'string') return `the copy could not be created: ${copy}`;
      if ((await runPrepareIn({ cwd: copy.cwd, signal })) !== null) return 'verify.prepare fails there';
      return suites.rerun({ ids, purpose: 'proof', causeId: null, workingCopy: copy });
    },
    prepare: (prepareSignal = signal) => runPrepareIn({ cwd, signal: prepareSignal }),
  };
  return suite;
}

/** Creates the diagnostics of a run. */
export function createDiagnostics(opened: OpenRun, suite: ProjectSuite): Diagnostics {
  const diagnose = createDiagnose(opened);
  return {
    diagnose: async (run) => {
      const failures = isRed(run) ? await diagnose(run) : [];
      const [lead] = failures;
      suite.brokenBuild = (lead && findBrokenBuild(lead)) ?? suite.brokenBuild;
      return failures;
    },
    writeFailure: (failure) => writeFailure(opened, failure),
    unpackTrace: (n) => unpackTrace(opened, n),
  };
}

/** Runs the project's `verify.prepare` in a shell, exactly as written (HL-9). Returns null if it succeeds, else the end of its output. */
async function runPrepare(
  command: string,
  options: Omit<ProjectCommand, 'file' | 'args'>,
): Promise<string | null> {
  const shell = process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c'] : ['/bin/sh', '-c'];
  const [file = '', ...flags] = shell;
  const failed = await runProgram({
    ...options,
    env: addPackageBins(options),
    file,
    args: [...flags, command],
  });
  return failed && `${failed.output}\nverify.prepare ended with ${failed.how}`;
}
