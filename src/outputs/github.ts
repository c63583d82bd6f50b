import path from 'node:path';
import { blamePosition } from '../model/blame.js';
import type { Problem } from '../problem.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';
import { redact } from '../secrets/redactor.js';
import { isInside, pathInside } from '../paths.js';
import { cut } from './cut.js';
import { atMost, counted } from '../format.js';
import { type CauseView, rowsOf, viewOf } from './view.js';

/** The base folders of GitHub's paths and of the report's paths; both absolute. */
export interface GithubFolders {
  readonly workspace: string;
  readonly project: string;
}

/** GitHub shows ten annotations of a level per step and fifty per job; more of them would only fill the log. */
const ANNOTATIONS = 50;

/**
 * Renders one workflow command per cause, `::error file=…,line=…,title=…::…`, each on one line
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions#setting-an-error-message).
 */
export function githubAnnotations(report: Report, folders: GithubFolders): string[] {
  const commands = annotationsOf(report, folders).map(({ level, message, ...properties }) =>
    command(level, properties, message),
  );
  return atMost(commands, ANNOTATIONS, (hidden) =>
    command('warning', { title: 'self-heal' }, `${counted(hidden, 'more cause')}: see the summary`),
  );
}

/** Renders the workflow command for a problem that stopped self-heal itself; it has no position, since there is no cause to point at. */
export function githubProblem({ message, remedy }: Problem): string {
  return command('error', { title: 'self-heal could not run' }, redact(`${message}\n${remedy}`));
}

/** A message for a line of the code; without file and line if none is known. */
export interface Annotation extends Position {
  readonly level: 'error' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
}

interface Position {
  readonly file?: string;
  readonly line?: number;
}

/** Returns what to say about each cause, at the line where to look. */
export function annotationsOf(report: Report, folders: GithubFolders): Annotation[] {
  return viewOf(report).causes.map((view) => annotation(view, folders));
}

const inAnnotation = new Set(['blame', 'why', 'tests', 'proof', 'end']);

function annotation(view: CauseView, folders: GithubFolders): Annotation {
  const { cause, words, tests } = view;
  const rows = rowsOf(view, { attempts: 1, findings: 0 }).filter(({ label }) => inAnnotation.has(label));
  const lines = [cause.headline, ...rows.map(({ label, text }) => `${label}: ${text}`)];
  return {
    level: words.level,
    ...codePosition(cause, tests[0], folders),
    title: cut(`self-heal: ${cause.id} ${cause.verdict} · ${cause.category}`, 200),
    message: lines.map((line) => cut(line, 500)).join('\n'),
  };
}

/** Returns the blamed line, or else the failing line of the project's own code, or else the test's; empty if none is in the workspace. */
function codePosition(
  { source, blame }: ReportCause,
  test: ReportTest | undefined,
  folders: GithubFolders,
): Position {
  const position = /^(?<file>.+?):(?<line>\d+)(?::\d+)?$/.exec(
    blame ? blamePosition(blame) : (source ?? ''),
  )?.groups;
  const { workspace, project } = folders;
  const absolute = (file: string) => path.resolve(project, file);
  const isOurs = (file: string) => blame !== undefined || isInside(project, absolute(file));
  if (position?.['file'] !== undefined && isOurs(position['file'])) {
    const file = pathInside(workspace, absolute(position['file']));
    if (file !== null) return { file, line: Number(position['line']) };
  }
  const file = test ? pathInside(workspace, absolute(test.file)) : null;
  return file === null ? {} : { file, line: test?.line ?? 1 };
}

/** Renders a workflow command, escaped so that no text can end it or begin another one. */
function command(
  name: string,
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
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
 * Renders what is appended to $GITHUB_OUTPUT. `healed` and `escalations` are counts; `cost` is in US dollars, and empty if agents ran but
 * none reported a cost; `folder` is the run's folder. The delimiter must be random, so that no value can contain it.
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
