import path from 'node:path';
import { formatBlamePosition } from '../model/blame.js';
import type { Problem } from '../problem.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';
import { redact } from '../secrets/redactor.js';
import { isInside, pathInside } from '../paths.js';
import { truncate } from './truncate.js';
import { atMost, counted } from '../format.js';
import { type CauseView, listRows, createView } from './view.js';

/** The absolute base folders of GitHub's paths (`workspace`) and of the report's paths (`project`). */
export interface GithubFolders {
  readonly workspace: string;
  readonly project: string;
}

/** GitHub shows at most ten annotations of each level per step, and fifty per job; more would only fill the log. */
const MAX_ANNOTATIONS = 50;

/**
 * Renders one workflow command per cause, `::error file=…,line=…,title=…::…`, each on one line
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions#setting-an-error-message).
 */
export function renderGithubAnnotations(report: Report, folders: GithubFolders): string[] {
  const commands = createAnnotations(report, folders).map(({ level, message, ...properties }) =>
    renderCommand(level, properties, message),
  );
  return atMost(commands, MAX_ANNOTATIONS, (hidden) =>
    renderCommand('warning', { title: 'self-heal' }, `${counted(hidden, 'more cause')}: see the summary`),
  );
}

/** Renders the workflow command for a problem that stopped self-heal itself, which has no position in the code. */
export function renderGithubProblem({ message, remedy }: Problem): string {
  return renderCommand('error', { title: 'self-heal could not run' }, redact(`${message}\n${remedy}`));
}

/** A message for a line of code; has no file and line if they are unknown. */
export interface Annotation extends Position {
  readonly level: 'error' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
}

interface Position {
  readonly file?: string;
  readonly line?: number;
}

/** Creates an annotation for each cause, at the most relevant line. */
export function createAnnotations(report: Report, folders: GithubFolders): Annotation[] {
  return createView(report).causes.map((view) => createAnnotation(view, folders));
}

const annotationRows = new Set(['blame', 'why', 'tests', 'proof', 'end']);

function createAnnotation(view: CauseView, folders: GithubFolders): Annotation {
  const { cause, words, tests } = view;
  const rows = listRows(view, { attempts: 1, findings: 0 }).filter(({ label }) => annotationRows.has(label));
  const lines = [cause.headline, ...rows.map(({ label, text }) => `${label}: ${text}`)];
  return {
    level: words.level,
    ...chooseCodePosition(cause, tests[0], folders),
    title: truncate(`self-heal: ${cause.id} ${cause.verdict} · ${cause.category}`, 200),
    message: lines.map((line) => truncate(line, 500)).join('\n'),
  };
}

/** Returns the blamed line, else the failing line of the project's own code, else the test's line; empty if none is in the workspace. */
function chooseCodePosition(
  { source, blame }: ReportCause,
  test: ReportTest | undefined,
  folders: GithubFolders,
): Position {
  const position = /^(?<file>.+?):(?<line>\d+)(?::\d+)?$/.exec(
    (blame && formatBlamePosition(blame)) || (source ?? ''),
  )?.groups;
  const { workspace, project } = folders;
  const resolveFile = (file: string) => path.resolve(project, file);
  const isInProject = (file: string) => blame !== undefined || isInside(project, resolveFile(file));
  if (position?.['file'] !== undefined && isInProject(position['file'])) {
    const file = pathInside(workspace, resolveFile(position['file']));
    if (file !== null) return { file, line: Number(position['line']) };
  }
  const file = test ? pathInside(workspace, resolveFile(test.file)) : null;
  return file === null ? {} : { file, line: test?.line ?? 1 };
}

/** Renders a workflow command. Escapes its texts, because they could end the command or begin another one. */
function renderCommand(
  name: string,
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const propertyList = Object.entries(properties).map(
    ([key, value]) => `${key}=${escapeProperty(String(value))}`,
  );
  return `::${name} ${propertyList.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * Renders the outputs for $GITHUB_OUTPUT. `healed` and `escalations` are counts; `cost` is in US dollars, and empty if agents ran but
 * none reported a cost; `folder` is the run's folder. The delimiter must be random, so that no value can contain it.
 */
export function renderGithubOutputs(report: Report, folder: string, delimiter: string): string {
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
