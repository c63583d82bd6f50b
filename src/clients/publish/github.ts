import { readFileSync } from 'node:fs';
import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { parseJson } from '../../parse-json.js';
import { type LineReplacement, createReplacementKey, renderSuggestion } from './fix.js';
import type { PullRequest, CheckRun, Forge, NewCommit, PublishTarget, StoredFile } from './forge.js';

const repository = z.object({ full_name: z.string().regex(/^[\w.-]+\/[\w.-]+$/) });
const sha = z.string().regex(/^[\da-f]{40,64}$/);

/**
 * The events that may start the publishing workflow (https://docs.github.com/webhooks/webhook-events-and-payloads). Their file is trusted: GitHub
 * writes it.
 */
const eventShape = z.object({
  repository: repository.extend({ default_branch: z.string() }),
  workflow_run: z
    .object({
      id: z.number(),
      event: z.string(),
      head_sha: sha,
      head_branch: z.string().nullable(),
      head_repository: repository.nullable(),
      html_url: z.string(),
    })
    .optional(),
  pull_request: z
    .object({ number: z.number(), head: z.object({ sha, ref: z.string(), repo: repository.nullable() }) })
    .optional(),
  ref: z.string().optional(),
  after: z.string().optional(),
  comment: z
    .object({ id: z.number(), body: z.string(), user: z.object({ login: z.string() }).nullable() })
    .optional(),
  issue: z.object({ number: z.number(), pull_request: z.object({}).optional() }).optional(),
});

/** The event that started a workflow. */
export type GithubEvent = z.infer<typeof eventShape>;

/** The account of a job's own token, which cannot query its own name. */
const ACTIONS_BOT = 'github-actions[bot]';

/** GitHub's limits for one request. */
const MAX_ANNOTATIONS = 50;
const MAX_SUGGESTIONS = 30;

/** A forge with the operations that only GitHub needs. */
export interface Github extends Forge {
  readonly event: GithubEvent;
  /** True if an account may push to the repository. */
  mayWrite(login: string): Promise<boolean>;
  /** Reads the current state of a pull request. */
  readPullRequest(number: number): Promise<PullRequest>;
  addReaction(comment: number, content: '+1' | '-1'): Promise<void>;
  rerunWorkflow(runId: number): Promise<void>;
}

/** Opens GitHub for the repository and the event of the current job. */
export function openGithub(env: NodeJS.ProcessEnv): Result<Github, Problem> {
  const token = env['GITHUB_TOKEN'] || env['GH_TOKEN'];
  const event = eventShape.safeParse(parseJson(readText(env['GITHUB_EVENT_PATH'])));
  if (!token)
    return err(
      createMissingProblem(
        'GITHUB_TOKEN is not set',
        'Give the step the token: env: { GITHUB_TOKEN: ${{ github.token }} }.',
      ),
    );
  if (!event.success)
    return err(
      createMissingProblem(
        'GITHUB_EVENT_PATH does not name the event of a repository',
        'Run it in a GitHub Actions job.',
      ),
    );
  return ok(createGithub(event.data, { token, env }));
}

function createMissingProblem(message: string, remedy: string): Problem {
  return { kind: 'usage', message, remedy };
}

function readText(file: string | undefined): string {
  try {
    return readFileSync(file ?? '', 'utf8');
  } catch {
    return '';
  }
}

function createGithub(event: GithubEvent, { token, env }: { token: string; env: NodeJS.ProcessEnv }): Github {
  const octokit = new Octokit({
    auth: token,
    userAgent: 'self-heal',
    ...(env['GITHUB_API_URL'] ? { baseUrl: env['GITHUB_API_URL'] } : {}),
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const { workflow_run: run } = event;
  const { full_name: fullName, default_branch: defaultBranch } = event.repository;
  const [owner = '', repo = ''] = fullName.split('/');
  const ownRepository = { owner, repo };
  const { rest } = octokit;
  const runId = String(run?.id ?? env['GITHUB_RUN_ID'] ?? '');
  const server = env['GITHUB_SERVER_URL'] ?? 'https://github.com';
  const trees = new Map<string, Promise<Map<string, { mode: string; type: string; sha: string }>>>();
  let ownLogin: Promise<string> | undefined;

  const readOwnLogin = () =>
    (ownLogin ??= rest.users.getAuthenticated().then(
      ({ data }) => data.login,
      () => ACTIONS_BOT,
    ));

  const readTree = (id: string) => {
    const tree =
      trees.get(id) ??
      rest.git
        .getTree({ ...ownRepository, tree_sha: id })
        .then(({ data }) => new Map(data.tree.map((entry) => [entry.path, entry])));
    trees.set(id, tree);
    return tree;
  };

  /** Reads tree by tree from the root, because only tree entries distinguish links and executables. */
  const readFile = async (path: string, commit: string): Promise<StoredFile | null> => {
    let id = commit;
    let mode = '040000';
    for (const part of path.split('/')) {
      const entry = mode === '040000' ? (await readTree(id)).get(part) : undefined;
      if (!entry) return null;
      ({ sha: id, mode } = entry);
    }
    if (!mode.startsWith('100')) return null;
    const { data } = await rest.git.getBlob({ ...ownRepository, file_sha: id });
    return { content: Buffer.from(data.content, 'base64'), isExecutable: mode === '100755' };
  };

  const readPullRequest = async (number: number) => {
    const { data } = await rest.pulls.get({ ...ownRepository, pull_number: number });
    const { head } = data;
    return { number, head: head.sha, branch: head.ref, isFork: head.repo?.full_name !== fullName };
  };

  const readTarget = async (): Promise<PublishTarget> => {
    if (run?.event.startsWith('pull_request')) {
      const from = run.head_repository?.full_name.split('/')[0] ?? owner;
      const head = `${from}:${run.head_branch ?? ''}`;
      const { data } = await rest.pulls.list({ ...ownRepository, state: 'open', head });
      const pull = data.find((pull) => pull.head.sha === run.head_sha);
      if (pull) return { kind: 'change', change: await readPullRequest(pull.number) };
      return {
        kind: 'none',
        why: `No open pull request has ${run.head_sha.slice(0, 7)} as its newest commit.`,
      };
    }
    if (event.pull_request) {
      const { number, head } = event.pull_request;
      const now = await readPullRequest(number);
      if (now.head === head.sha) return { kind: 'change', change: now };
      return { kind: 'none', why: `Pull request ${number} has moved on from ${head.sha.slice(0, 7)}.` };
    }
    const branch = run ? run.head_branch : event.ref?.replace(/^refs\/heads\//, '');
    const head = run?.head_sha ?? event.after;
    if (!branch || !head)
      return { kind: 'none', why: 'The event belongs to neither a pull request nor a branch.' };
    return { kind: 'branch', branch, head, isDefault: branch === defaultBranch };
  };

  const writeCheck = async (head: string, { conclusion, title, summary, annotations }: CheckRun) => {
    const name = 'self-heal';
    const { data } = await rest.checks.listForRef({ ...ownRepository, ref: head, check_name: name });
    const output = {
      title,
      summary,
      annotations: annotations.slice(0, MAX_ANNOTATIONS).map((annotation) => ({
        path: annotation.file,
        start_line: annotation.line,
        end_line: annotation.line,
        annotation_level: annotation.level === 'error' ? ('failure' as const) : annotation.level,
        title: annotation.title,
        message: annotation.message,
      })),
    };
    const existing = data.check_runs.find(({ external_id }) => external_id === name);
    const result = { status: 'completed' as const, conclusion, output };
    // GitHub adds the annotations of an update to the existing ones.
    if (existing)
      await rest.checks.update({
        ...ownRepository,
        check_run_id: existing.id,
        ...result,
        output: { title, summary },
      });
    else await rest.checks.create({ ...ownRepository, name, external_id: name, head_sha: head, ...result });
  };

  const addSuggestions = async (
    { number, head }: { number: number; head: string },
    all: readonly LineReplacement[],
  ) => {
    const files = await octokit.paginate(rest.pulls.listFiles, { ...ownRepository, pull_number: number });
    const linesInDiff = new Map(files.map(({ filename, patch = '' }) => [filename, listShownLines(patch)]));
    const inDiff = all.filter(({ path, first, last }) => {
      const replaced = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      return replaced.every((line) => linesInDiff.get(path)?.has(line));
    });
    const login = await readOwnLogin();
    const reviewComments = await octokit.paginate(rest.pulls.listReviewComments, {
      ...ownRepository,
      pull_number: number,
    });
    const ownBodies = reviewComments.filter(({ user }) => user?.login === login).map(({ body }) => body);
    const newReplacements = inDiff
      .filter((replacement) => !ownBodies.some((body) => body.includes(createReplacementKey(replacement))))
      .slice(0, MAX_SUGGESTIONS);
    if (newReplacements.length === 0) return inDiff.length;
    await rest.pulls.createReview({
      ...ownRepository,
      pull_number: number,
      commit_id: head,
      event: 'COMMENT',
      comments: newReplacements.map((replacement) => ({
        path: replacement.path,
        line: replacement.last,
        side: 'RIGHT',
        ...(replacement.first < replacement.last
          ? { start_line: replacement.first, start_side: 'RIGHT' }
          : {}),
        body: renderSuggestion(replacement, 'suggestion'),
      })),
    });
    return inDiff.length;
  };

  const readBranchHead = async (branch: string) => {
    try {
      const { data } = await rest.repos.getBranch({ ...ownRepository, branch });
      return { commit: data.commit.sha, message: data.commit.commit.message };
    } catch (error) {
      if (readStatus(error) === 404) return null;
      throw error;
    }
  };

  const createCommit = async ({ branch, parent, files, message, isOwnBranch }: NewCommit) => {
    const { data: base } = await rest.git.getCommit({ ...ownRepository, commit_sha: parent });
    const tree = await Promise.all(
      files.map(async ({ path, content, isExecutable }) => ({
        path,
        mode: isExecutable ? ('100755' as const) : ('100644' as const),
        type: 'blob' as const,
        sha:
          content === null
            ? null
            : (
                await rest.git.createBlob({
                  ...ownRepository,
                  content: content.toString('base64'),
                  encoding: 'base64',
                })
              ).data.sha,
      })),
    );
    const newTree = await rest.git.createTree({ ...ownRepository, base_tree: base.tree.sha, tree });
    const { data } = await rest.git.createCommit({
      ...ownRepository,
      message,
      tree: newTree.data.sha,
      parents: [parent],
    });
    const branchExists = !isOwnBranch || (await readBranchHead(branch)) !== null;
    if (!branchExists)
      await rest.git.createRef({ ...ownRepository, ref: `refs/heads/${branch}`, sha: data.sha });
    else {
      try {
        await rest.git.updateRef({
          ...ownRepository,
          ref: `heads/${branch}`,
          sha: data.sha,
          force: isOwnBranch,
        });
      } catch (error) {
        // Without force, GitHub refuses a commit that does not follow the branch's newest one.
        if (readStatus(error) === 422 && !isOwnBranch) return null;
        throw error;
      }
    }
    return data.sha;
  };

  return {
    noun: 'pull request',
    event,
    defaultBranch,
    runId,
    runUrl: run?.html_url ?? `${server}/${fullName}/actions/runs/${runId}`,
    readTarget,
    readFile,
    listOwnComments: async (number) => {
      const login = await readOwnLogin();
      const all = await octokit.paginate(rest.issues.listComments, {
        ...ownRepository,
        issue_number: number,
        per_page: 100,
      });
      return all.filter(({ user }) => user?.login === login).map(({ id, body = '' }) => ({ id, body }));
    },
    createComment: async (number, body) =>
      void (await rest.issues.createComment({ ...ownRepository, issue_number: number, body })),
    editComment: async (_, id, body) =>
      void (await rest.issues.updateComment({ ...ownRepository, comment_id: id, body })),
    writeCheck,
    addSuggestions,
    readBranchHead,
    createCommit,
    readPullRequestBody: async (branch, base) => {
      const head = `${owner}:${branch}`;
      const [login, { data }] = await Promise.all([
        readOwnLogin(),
        rest.pulls.list({ ...ownRepository, state: 'all', head, base, sort: 'created', direction: 'desc' }),
      ]);
      return data.find(({ user }) => user?.login === login)?.body ?? null;
    },
    writePullRequest: async ({ branch, base, title, body }) => {
      const { data } = await rest.pulls.list({
        ...ownRepository,
        state: 'open',
        head: `${owner}:${branch}`,
        base,
      });
      const [open] = data;
      if (!open)
        return (await rest.pulls.create({ ...ownRepository, head: branch, base, title, body })).data.html_url;
      await rest.pulls.update({ ...ownRepository, pull_number: open.number, title, body });
      return open.html_url;
    },
    mayWrite: async (username) => {
      const { data } = await rest.repos.getCollaboratorPermissionLevel({ ...ownRepository, username });
      return data.permission === 'admin' || data.permission === 'write';
    },
    readPullRequest,
    listCommitMessages: async (number) => {
      const all = await octokit.paginate(rest.pulls.listCommits, {
        ...ownRepository,
        pull_number: number,
        per_page: 100,
      });
      return all.map(({ commit: { message } }) => message);
    },
    addReaction: async (comment_id, content) =>
      void (await rest.reactions.createForIssueComment({ ...ownRepository, comment_id, content })),
    rerunWorkflow: async (run_id) => void (await rest.actions.reRunWorkflow({ ...ownRepository, run_id })),
  };
}

function readStatus(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'status') : undefined;
}

/** Returns the lines of the new side of a file's diff, or only those that it adds. */
export function listShownLines(patch: string, sign: ' ' | '+' = ' '): Set<number> {
  const lines = new Set<number>();
  let line = 0;
  for (const text of patch.split('\n')) {
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text)?.[1];
    if (start !== undefined) line = Number(start);
    else if (/^[ +]/.test(text)) {
      if (sign === ' ' || text.startsWith('+')) lines.add(line);
      line += 1;
    }
  }
  return lines;
}
