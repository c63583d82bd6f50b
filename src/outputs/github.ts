import path from 'node:path';
import { blameLine, placeOfBlame } from '../core/blame.js';
import type { CauseVerdict } from '../core/verdict.js';
import { tellProof } from '../core/proof.js';
import type { Problem } from '../problem.js';
import { clipped, counted } from './format.js';
import { suiteItself } from './final-status.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';
import { nameOf } from './summary.js';
import { redact } from '../secrets/redact.js';

/** Where GitHub's paths begin, and where the report's do; both absolute. */
export interface GithubPlaces {
  readonly workspace: string;
  readonly project: string;
}

/** GitHub shows ten annotations of a level for a step and fifty for a job; what is beyond only fills the log. */
const ANNOTATIONS = 50;

/**
 * One workflow command a cause, `::error file=…,line=…,title=…::…`, each a line
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions#setting-an-error-message).
 */
export function githubAnnotations(report: Report, places: GithubPlaces): string[] {
  const byId = new Map(report.tests.map((test) => [test.id, test]));
  const commands = report.causes.slice(0, ANNOTATIONS).map((cause) => {
    const tests = cause.tests.flatMap((id) => byId.get(id) ?? []);
    return annotation(cause, tests, places);
  });
  const hidden = report.causes.length - commands.length;
  return hidden > 0
    ? [
        ...commands,
        command('warning', { title: 'self-heal' }, `${counted(hidden, 'more cause')}: see the summary`),
      ]
    : commands;
}

/** The workflow command for what kept self-heal from working: without a run there is no cause to point at. */
export function githubProblem({ message, remedy }: Problem): string {
  return command('error', { title: 'self-heal could not work' }, redact(`${message}\n${remedy}`));
}

const levels: Record<CauseVerdict, 'error' | 'warning' | 'notice'> = {
  passed: 'notice',
  healed: 'notice',
  'green-once': 'warning',
  superseded: 'notice',
  flaky: 'warning',
  quarantined: 'warning',
  'not-run': 'warning',
  failed: 'error',
  escalated: 'error',
  rejected: 'error',
  'agent-unusable': 'error',
};

function annotation(cause: ReportCause, tests: readonly ReportTest[], places: GithubPlaces): string {
  const [first] = tests;
  const named = first ? nameOf(first) : suiteItself;
  const why = cause.why[0];
  const lines = [
    cause.headline,
    ...(cause.blame ? [blameLine(cause.blame)] : []),
    ...(why && why.evidence !== cause.headline ? [`${why.source}: ${why.evidence}`] : []),
    tests.length > 1 ? `${named} (+${tests.length - 1})` : named,
    ...(cause.reason ? [cause.reason] : []),
    ...(cause.proof.length > 0 ? [`proof: ${tellProof(cause.proof, cause.testProofs)}`] : []),
  ];
  const title = clipped(`self-heal: ${cause.id} ${cause.verdict} · ${cause.category}`, 200);
  const message = lines.map((line) => clipped(line, 500)).join('\n');
  return command(levels[cause.verdict], { ...placeOf(cause, first, places), title }, message);
}

/** The line to blame, else the line of the project's own code that failed, or else the test's; nothing where neither lies in the workspace. */
function placeOf({ source, blame }: ReportCause, test: ReportTest | undefined, places: GithubPlaces) {
  const named = /^(?<file>.+?):(?<line>\d+)(?::\d+)?$/.exec(
    blame ? placeOfBlame(blame) : (source ?? ''),
  )?.groups;
  const { workspace, project } = places;
  const absolute = (file: string) => path.resolve(project, file);
  const isOurs = (file: string) => blame !== undefined || within(project, absolute(file)) !== null;
  if (named?.['file'] !== undefined && isOurs(named['file'])) {
    const file = within(workspace, absolute(named['file']));
    if (file !== null) return { file, line: Number(named['line']) };
  }
  const file = test ? within(workspace, absolute(test.file)) : null;
  return file === null ? {} : { file, line: test?.line ?? 1 };
}

function within(folder: string, file: string): string | null {
  const relative = path.relative(folder, file).replaceAll(path.sep, '/');
  const isOutside = relative === '..' || relative.startsWith('../') || path.isAbsolute(relative);
  return relative === '' || isOutside ? null : relative;
}

type Properties = Readonly<Record<string, string | number>>;

/** A workflow command; escaped as the runner reads it, so that no text ends it or begins another. */
function command(name: string, properties: Properties, message: string): string {
  const written = Object.entries(properties).map(([key, value]) => `${key}=${property(String(value))}`);
  return `::${name} ${written.join(',')}::${data(message)}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * What goes into $GITHUB_OUTPUT. `healed` and `escalations` are counts; `cost` is in US dollars, empty where agents ran
 * and none said it; `folder` is where the run's files lie. The delimiter has to be random: no value can end itself early.
 */
export function githubOutputs(report: Report, folder: string, delimiter: string): string {
  const { healed, costUsd, agentRuns } = report.totals;
  const outputs = {
    outcome: report.outcome,
    healed,
    escalations: report.escalations.length,
    cost: costUsd ?? (agentRuns === 0 ? 0 : ''),
    folder,
  };
  return Object.entries(outputs)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}
