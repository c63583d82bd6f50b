import { randomUUID } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Problem, describeError } from '../problem.js';
import { writeStateFile } from '../state-folder.js';
import { renderGithubAnnotations, renderGithubOutputs, renderGithubProblem } from './github.js';
import { renderJunit } from './junit.js';
import { renderMarkdown, type MarkdownOptions, escapeProse, summaryBytes } from './markdown.js';
import { readPatch } from '../run/read-patch.js';
import type { Report } from '../run/report.js';
import { redact } from '../secrets/redactor.js';
import { pathInside, relativePath } from '../paths.js';

export interface ReportTargets {
  /** The run's folder now, and after the run has ended; absolute. */
  readonly dir: string;
  readonly finalDir: string;
  /** The project; absolute. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Prints workflow commands, one line each; to standard error if absent. The runner reads both streams, and standard output may be taken by
   * `--json` (CL-6).
   */
  readonly print?: (line: string) => void;
}

const printToStderr = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * Writes junit.xml and summary.md into the run's folder and, in GitHub Actions, the summary, annotations and outputs of the step
 * (RP-2, RP-3). If one fails, the others are written all the same; returns a message for each failure.
 */
export async function writeReports(report: Report, targets: ReportTargets): Promise<string[]> {
  const { dir, finalDir, cwd, env } = targets;
  const folder = relativePath(cwd, finalDir);
  const readPatchText = (patch: string | null) => readPatch(dir, patch, { text: redact });
  const problems = [
    await writeReportFile(dir, 'junit.xml', () => renderJunit(report)),
    await writeReportFile(dir, 'summary.md', () =>
      renderMarkdown(report, { folder, patchText: readPatchText }),
    ),
    ...(env['GITHUB_ACTIONS'] === 'true'
      ? await writeForGithub(report, { folder, patchText: readPatchText }, targets)
      : []),
  ];
  return problems.filter((file) => file !== null);
}

async function writeForGithub(
  report: Report,
  options: MarkdownOptions,
  { finalDir, cwd, env, print = printToStderr }: ReportTargets,
) {
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  const summary = env['GITHUB_STEP_SUMMARY'];
  const output = env['GITHUB_OUTPUT'];
  // The path in the form that upload-artifact needs.
  const artifactPath = pathInside(workspace, finalDir) ?? finalDir.replaceAll(path.sep, '/');
  return [
    await tryWrite('the annotations', () => {
      for (const line of renderGithubAnnotations(report, { workspace, project: cwd })) print(line);
    }),
    summary ? await tryWrite('the step summary', () => appendSummary(report, options, summary)) : null,
    output
      ? await tryWrite('the outputs', () =>
          appendFile(output, renderGithubOutputs(report, artifactPath, `self-heal-${randomUUID()}`)),
        )
      : null,
  ];
}

/** In GitHub Actions, reports why self-heal could not run, in an annotation and in the summary. */
export async function writeProblem(
  problem: Problem,
  { env, print = printToStderr }: Pick<ReportTargets, 'env' | 'print'>,
): Promise<void> {
  if (env['GITHUB_ACTIONS'] !== 'true') return;
  print(renderGithubProblem(problem));
  const summary = env['GITHUB_STEP_SUMMARY'];
  const text = `## self-heal could not run\n\n${escapeProse(redact(problem.message))}\n\n${escapeProse(redact(problem.remedy))}\n`;
  // A failed write is harmless: the annotation and the log say the same.
  if (summary) await appendFile(summary, text).catch(() => undefined);
}

/** GitHub rejects the whole summary of a step if it is larger than this, including the text that the file already contains. */
const STEP_BYTES = 1024 * 1024;

async function appendSummary(report: Report, options: MarkdownOptions, file: string): Promise<void> {
  const usedBytes = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  const separator = usedBytes > 0 ? '\n' : '';
  const maxBytes = Math.min(summaryBytes, STEP_BYTES - usedBytes - separator.length);
  if (maxBytes <= 0) throw new Error(`${file} is already full`);
  await appendFile(file, `${separator}${renderMarkdown(report, { ...options, maxBytes })}`);
}

async function writeReportFile(dir: string, name: string, text: () => string): Promise<string | null> {
  return tryWrite(name, () => writeStateFile(path.join(dir, name), text()));
}

async function tryWrite(subject: string, write: () => Promise<void> | void): Promise<string | null> {
  try {
    await write();
    return null;
  } catch (error) {
    return `${subject} could not be written: ${describeError(error)}`;
  }
}
