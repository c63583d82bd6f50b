import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { type Command, Option } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import { type Problem, describeError } from '../problem.js';
import { createAction } from './end-command.js';
import { printText } from './print-text.js';
import type { Artifact } from '../clients/publish/artifact.js';
import type { CommentOutcome, ApplyRequest } from '../clients/publish/apply.js';
import type { Forge } from '../clients/publish/forge.js';
import { err, ok, type Result } from '../result.js';
import { systemClock } from '../clock.js';

const examples = `
Run it in a job that has a write token but neither the project's code nor an
agent; self-heal init --ci writes this job. The artifact is the .self-heal/runs
folder that the test job uploaded.

  on a pull request   one comment, updated by each run; a check; suggestions
  on the main branch  one pull request with the fix, updated by each run`;

/** `self-heal publish`: shows a run's result in its pull or merge request (PB-1). */
export function define(command: Command): Command {
  return command
    .option('--from <dir>', "the downloaded artifact that contains the run's folder")
    .option('--folder <dir>', "the project's folder in the repository", '.')
    .addOption(new Option('--answer', 'carry out the /self-heal comment that started this job (GitHub)'))
    .addOption(new Option('--apply', 'commit the fix to the branch of the merge request (GitLab)'))
    .addHelpText('after', examples)
    .action(createAction((options: PublishOptions) => runPublish(options)));
}

/** The flags of `self-heal publish`. */
interface PublishOptions {
  from?: string;
  folder: string;
  answer?: boolean;
  apply?: boolean;
}

/** The CI job that this process runs in. */
const currentJob = { env: process.env, print: printText as (line: string) => unknown };

/** Runs `self-heal publish` in a job with these variables; returns the exit code, or the problem. */
export async function runPublish(
  { from, folder, answer, apply }: PublishOptions,
  { env, print } = currentJob,
): Promise<number | Problem> {
  // Loaded on demand, because `--help` needs neither.
  const { readArtifact } = await import('../clients/publish/artifact.js');
  const { createRedactor } = await import('../secrets/redactor.js');
  const readResult = from === undefined ? ok(null) : await readArtifact(from);
  if (!readResult.ok) return readResult.error;
  const redactor = await createRedactor({ env, projectRoot: null });
  // Masks texts before any is cut, because half a token would not be recognized.
  const artifact = readResult.value && {
    ...readResult.value,
    report: redactor.deep(readResult.value.report),
  };
  const printLine = (line: string) => print(redactor.text(line));
  try {
    if (answer) return await answerGithubComment({ artifact, folder, env }, printLine);
    const forge = await openForge(env);
    if (!forge.ok) return forge.error;
    if (!artifact) return missingArtifact;
    const publication = { forge: forge.value, artifact, folder, redactor };
    if (apply) return await applyToMergeRequest(publication, printLine);
    const { publish } = await import('../clients/publish/publish.js');
    for (const line of await publish(publication)) printLine(line);
    return exitCodes.green;
  } catch (error) {
    return {
      kind: 'forge-refused',
      message: 'a request to the forge failed',
      detail: redactor.text(describeRequestError(error)),
      remedy: 'Check which permission the token lacks, or run the job again.',
    };
  }
}

/** Describes an error with its failed request, which the errors of both API clients contain. */
function describeRequestError(error: unknown): string {
  const { request, cause } = Object(error) as { request?: unknown; cause?: { request?: unknown } };
  const { method, url } = Object(request ?? cause?.request) as { method?: string; url?: string };
  const { pathname = url, origin = '' } = url !== undefined && URL.canParse(url) ? new URL(url) : {};
  return `${url === undefined ? '' : `${method} ${origin}${pathname}: `}${describeError(error)}`;
}

const missingArtifact: Problem = {
  kind: 'usage',
  message: '--from is missing',
  remedy: 'Name the folder with the artifact of the job that ran the tests.',
};

async function openForge(env: NodeJS.ProcessEnv): Promise<Result<Forge, Problem>> {
  if (env['GITHUB_ACTIONS'] === 'true') return (await import('../clients/publish/github.js')).openGithub(env);
  if (env['GITLAB_CI'] === 'true') return (await import('../clients/publish/gitlab.js')).openGitlab(env);
  return err({
    kind: 'usage',
    message: 'this is not a GitHub Actions or GitLab CI job',
    remedy:
      'Run it in CI: self-heal init --ci writes the workflow. On your own machine, use self-heal report.',
  });
}

/**
 * Carries out the command in a comment. If that needs a run's artifact, writes the run to the job's output `run`; the workflow then fetches the
 * artifact and calls this again.
 */
async function answerGithubComment(
  { artifact, folder, env }: { artifact: Artifact | null; folder: string; env: NodeJS.ProcessEnv },
  printLine: typeof currentJob.print,
): Promise<number | Problem> {
  const { openGithub } = await import('../clients/publish/github.js');
  const opened = openGithub(env);
  if (!opened.ok) return opened.error;
  const github = opened.value;
  const { answerComment } = await import('../clients/publish/answer-comment.js');
  const { escapeProse } = await import('../outputs/markdown.js');
  const outcome = await answerComment({ github, artifact, folder, now: systemClock.now() });
  if (outcome.kind === 'needs-artifact') {
    const output = env['GITHUB_OUTPUT'];
    if (output) appendFileSync(output, `run=${outcome.run}\n`);
    printLine(`This needs the artifact of run ${outcome.run}.`);
    return exitCodes.green;
  }
  if (outcome.kind === 'nothing') {
    printLine('The comment contains no command.');
    return exitCodes.green;
  }
  printLine(outcome.message);
  const { comment, issue } = github.event;
  if (comment) await github.addReaction(comment.id, outcome.kind === 'done' ? '+1' : '-1');
  if (issue && outcome.kind === 'refused')
    await github.createComment(issue.number, escapeProse(outcome.message));
  return exitCodes.green;
}

/** Commits the fix to the branch of the merge request that the pipeline belongs to; whoever may start the job may push. */
async function applyToMergeRequest(
  request: ApplyRequest,
  printLine: typeof currentJob.print,
): Promise<number> {
  const target = await request.forge.readTarget();
  const { applyFix } = await import('../clients/publish/apply.js');
  const outcome: CommentOutcome =
    target.kind === 'change'
      ? await applyFix(target.change, request)
      : {
          kind: 'refused',
          message: target.kind === 'none' ? target.why : 'There is no merge request to apply the fix to.',
        };
  printLine(outcome.message);
  return outcome.kind === 'done' ? exitCodes.green : exitCodes.red;
}
