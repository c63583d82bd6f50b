import { createLogReader } from '../evidence/server-output.js';
import path from 'node:path';
import { createHash } from 'node:crypto';
import type { DiagnosedFailure } from '../model/cause.js';
import { createClassify } from '../diagnose/classify.js';
import type { Failure } from '../model/failure.js';
import { createSignature, selectTextToHash } from '../diagnose/signature.js';
import { writeFailureRecord } from '../run/failure-record.js';
import { markAsData } from '../evidence/evidence-files.js';
import { timelineFile, fileLengths, buildTimeline, formatTimeline } from '../evidence/timeline.js';
import { tryOr } from '../result.js';
import { writeStateFile } from '../state-folder.js';
import { cleanAndClip, EvidenceNotes } from '../evidence/bounded-text.js';
import { gatherEvidence } from '../evidence/gather-evidence.js';
import { readPassingTraces, type PassingTrace } from '../evidence/passing-tests.js';
import { ParsedMaps } from '../evidence/source-maps/source-map.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { deleteUnmaskedFiles } from '../run/mask-suite-folder.js';
import { moveTrace } from './unpack-trace.js';
import { findRoot } from '../workspace/project-files.js';
import type { Session } from '../heal/session.js';
import { findOccupiedPort } from '../diagnose/advice.js';
import { explainOtherLoopback } from '../diagnose/other-loopback.js';
import { findDecidingService } from '../diagnose/services.js';
import { type PortListener, findListener, findListeningAddresses } from '../process/listener.js';
import { isInside } from '../paths.js';

/** The parts of a run that a diagnosis needs. */
type DiagnoseOptions = Pick<Session, 'settings' | 'folder' | 'cwd' | 'redactor'>;

/**
 * Creates the step that gathers evidence for each failure of a suite run, classifies it and computes its signature, beginning with the suite's own
 * failure.
 */
export function createDiagnose(options: DiagnoseOptions): (run: SuiteRun) => Promise<DiagnosedFailure[]> {
  const { settings, folder, cwd, redactor } = options;
  const classify = createClassify(settings.classify);
  let count = 0;
  let workspaceDir: string | undefined;
  return async (run) => {
    const failures: Failure[] = [...(run.suiteFailure ? [run.suiteFailure] : []), ...run.failures];
    const diagnosed: DiagnosedFailure[] = [];
    const shared = {
      limits: settings.evidence,
      root: cwd,
      workspaceDir: (workspaceDir ??= await findRoot(cwd)),
      maps: new ParsedMaps(),
      clean: (text: string) => redactor.clean(text),
      learn: (typed: Iterable<string>) => redactor.learn(typed),
      passing: await readPassingTraces(run),
      logs: createLogReader(run.serverLog),
    };
    for (const failure of failures) {
      count += 1;
      const n = count;
      const context = { ...shared, folder: await folder.makeFailureFolder(n) };
      const rerunIds = findRerunIds(failure, run);
      const evidence = await gatherEvidence({ failure, run, ...context });
      const diagnosis = explainOtherLoopback(classify(evidence), evidence, run.serverPorts ?? new Map());
      const signature = computeSignature({ failure, evidence, diagnosis }, settings.project);
      const isTraced = run.tracing !== undefined;
      const machine = await findMachineProblem({ failure, evidence, ...signature }, run, shared.workspaceDir);
      const record = {
        n,
        failure,
        evidence,
        ...signature,
        rerunIds,
        isTraced,
        ...(machine === undefined ? {} : { machine }),
        ...collectWrites(shared.passing),
      };
      await writeFailure(options, record);
      if (evidence.trace !== null) await moveTrace(folder.dir, n, evidence.trace).catch(() => undefined);
      diagnosed.push(record);
    }
    // Not awaited, because the end of the run deletes the rest.
    if (run.serverLog !== '') deleteUnmaskedFiles(path.dirname(run.serverLog)).catch(() => undefined);
    return diagnosed;
  };
}

function collectWrites(passing: readonly PassingTrace[]): Pick<DiagnosedFailure, 'writes'> {
  const entries = passing.flatMap(({ test, writes }) =>
    writes.length > 0 ? [[test.id, writes] as const] : [],
  );
  return entries.length > 0 ? { writes: Object.fromEntries(entries) } : {};
}

/** Stores a failure and its timeline. A full disk must not stop healing; `inspect` reports a missing record. */
export async function writeFailure(
  { folder, redactor }: Pick<DiagnoseOptions, 'folder' | 'redactor'>,
  failure: DiagnosedFailure,
): Promise<void> {
  const masked = redactor.deep({ ...failure, evidence: { ...failure.evidence, elements: null } });
  const dir = await folder.makeFailureFolder(failure.n);
  await writeFailureRecord(dir, masked).catch(() => undefined);
  const { evidence, diagnosis } = masked;
  const timeline = formatTimeline(buildTimeline(evidence, { diagnosis, lengths: fileLengths }));
  if (timeline !== '')
    tryOr(undefined, () => writeStateFile(path.join(dir, timelineFile), markAsData(timeline)));
}

/** Returns the tests to run to reproduce a failure. For one of the suite itself, such as in a global teardown, these are all tests that ran. */
function findRerunIds(failure: Failure, { rerunIds, tests }: SuiteRun): readonly string[] {
  if (failure.scope === 'test') return rerunIds[failure.test.id] ?? [failure.test.id];
  const testsThatRan = tests.filter(({ outcome }) => outcome !== 'not-run' && outcome !== 'skipped');
  return testsThatRan.map(({ test }) => test.id);
}

type FailureDiagnosis = Pick<DiagnosedFailure, 'failure' | 'evidence' | 'diagnosis'>;

function computeSignature(
  diagnosed: FailureDiagnosis,
  project: string,
): Pick<DiagnosedFailure, 'diagnosis' | 'signature'> {
  const { diagnosis } = diagnosed;
  const message = createSignatureText(diagnosed);
  return {
    diagnosis,
    signature: createSignature({ project, errorType: diagnosis.facts.errorType, message }, md5),
  };
}

/**
 * Returns the text for the signature. A suite's own message is often the same for every cause ("Process from config.webServer was not able to
 * start"), so the deciding evidence is part of it, without the numbers in masks, which differ between runs. A test's
 * message contains only the masks that every environment applies, so that a machine that knows more secrets gives the same failure
 * the same signature.
 */
function createSignatureText({ failure, diagnosis }: FailureDiagnosis): string {
  if (failure.scope === 'test') return clipErrorText(selectTextToHash(failure));
  const decisive = diagnosis.why[0]?.evidence.replaceAll(/(?<=\[masked: [^\]\n]{1,80}) \d{1,5}(?=\])/g, '');
  return [clipErrorText(failure.errors[0]?.message ?? ''), decisive].filter(Boolean).join('\n');
}

function clipErrorText(text: string): string {
  return cleanAndClip(text, 'errorText', new EvidenceNotes());
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/**
 * Checks whether the machine is at fault: another process holds the port of a web server, the suite reused a foreign server, or a service that a
 * server needs is down. Returns a sentence for a person who must solve it, null if the code is at fault, and undefined if there was nothing to check.
 */
async function findMachineProblem(
  { failure, evidence, diagnosis }: Pick<DiagnosedFailure, 'failure' | 'evidence' | 'diagnosis'>,
  { reusedServer, serverPorts }: Pick<SuiteRun, 'reusedServer' | 'serverPorts'>,
  workspaceDir: string,
): Promise<string | null | undefined> {
  const service = diagnosis.advice ? findDecidingService(evidence, diagnosis.why) : null;
  if (
    service?.port &&
    (serverPorts?.has(service.port) || (await findListeningAddresses(service.port)).length > 0)
  )
    return null;
  const port =
    failure.scope === 'suite' && diagnosis.advice ? findOccupiedPort(evidence, diagnosis.why) : null;
  if (port !== null) {
    const listener = await findListener(port);
    // Two of the suite's own servers wanted the same port, and both have ended.
    if (listener === null) return null;
    return `port ${port}, which a web server in the config needs, is in use by ${describeProcess(listener)}: stop it, or give the suite another port`;
  }
  if (!reusedServer || failure.scope === 'suite') return undefined;
  const reused = readPort(reusedServer);
  const listener = reused === null ? null : await findListener(reused);
  // A process's folder shows which project its server belongs to. If the folder is unknown, the run has already warned.
  if (!listener?.folder || isInside(workspaceDir, listener.folder)) return undefined;
  return `the tests ran against ${reusedServer}, which is not this project's server but ${describeProcess(listener)}: stop it, or set reuseExistingServer: false`;
}

function describeProcess({ pid, command, folder }: PortListener): string {
  if (pid === null) return 'another program';
  const location = folder === null ? '' : `, in ${folder}`;
  return `\`${command}\` (pid ${pid}${location})`;
}

function readPort(address: string): number | null {
  if (!URL.canParse(address)) return null;
  const { port, protocol } = new URL(address);
  return Number(port || (protocol === 'https:' ? 443 : 80));
}
