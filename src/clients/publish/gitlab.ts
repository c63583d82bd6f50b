import { type CommitAction, Gitlab } from '@gitbeaker/rest';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { type LineReplacement, createReplacementKey, renderSuggestion } from './fix.js';
import type { PullRequest, CheckRun, CommittedFile, Forge, NewCommit, PublishTarget } from './forge.js';
import { listShownLines } from './github.js';

/** Opens GitLab for the project and the pipeline of the current job (https://docs.gitlab.com/ci/variables/predefined_variables/). */
export function openGitlab(env: NodeJS.ProcessEnv): Result<Forge, Problem> {
  const token = env['GITLAB_TOKEN'];
  const project = env['CI_PROJECT_ID'];
  if (!token)
    return err({
      kind: 'usage',
      message: 'GITLAB_TOKEN is not set',
      remedy:
        'Create a project access token with the scope api, and give it to this job only (see docs/ci.md).',
    });
  if (!project)
    return err({
      kind: 'usage',
      message: 'CI_PROJECT_ID is not set',
      remedy: 'Run it in a GitLab CI job.',
    });
  return ok(createGitlab(project, { token, env }));
}

function createGitlab(project: string, { token, env }: { token: string; env: NodeJS.ProcessEnv }): Forge {
  const api = new Gitlab({ host: env['CI_SERVER_URL'] ?? 'https://gitlab.com', token });

  const readMergeRequest = async (number: number): Promise<PullRequest> => {
    const { sha, source_branch, source_project_id, target_project_id } = await api.MergeRequests.show(
      project,
      number,
    );
    return { number, head: sha, branch: source_branch, isFork: source_project_id !== target_project_id };
  };

  const readTarget = async (): Promise<PublishTarget> => {
    const number = Number(env['CI_MERGE_REQUEST_IID'] ?? 0);
    // In a pipeline of the merged result, CI_COMMIT_SHA is a commit that no branch has.
    const head = env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || env['CI_COMMIT_SHA'] || '';
    if (number > 0) {
      const now = await readMergeRequest(number);
      if (now.head === head) return { kind: 'change', change: now };
      return { kind: 'none', why: `Merge request ${number} has moved on from ${head.slice(0, 7)}.` };
    }
    const branch = env['CI_COMMIT_BRANCH'];
    if (!branch)
      return { kind: 'none', why: 'The pipeline belongs to neither a merge request nor a branch.' };
    return { kind: 'branch', branch, head, isDefault: branch === env['CI_DEFAULT_BRANCH'] };
  };

  const readFile = async (path: string, commit: string) => {
    try {
      const file = await api.RepositoryFiles.show(project, path, commit);
      return {
        content: Buffer.from(file.content, 'base64'),
        isExecutable: file['execute_filemode'] === true,
      };
    } catch (error) {
      if (readStatus(error) === 404) return null;
      throw error;
    }
  };

  const listOwnComments = async (number: number) => {
    const { username } = await api.Users.showCurrentUser();
    const notes = await api.MergeRequestNotes.all(project, number);
    return notes.filter(({ author }) => author.username === username).map(({ id, body }) => ({ id, body }));
  };

  /** The comment has the annotations, because GitLab accepts them only in its own reports. */
  const writeCheck = async (head: string, { conclusion, title }: CheckRun) => {
    const state = conclusion === 'success' ? 'success' : 'failed';
    await api.Commits.editStatus(project, head, state, {
      name: 'self-heal',
      description: title.slice(0, 255),
    });
  };

  const addSuggestions = async ({ number }: PullRequest, all: readonly LineReplacement[]) => {
    const { diff_refs: refs } = await api.MergeRequests.show(project, number);
    const diffs = await api.MergeRequests.allDiffs(project, number);
    // A suggestion at an unchanged line would also need its old number.
    const linesInDiff = new Map(
      diffs.map((diff) => [diff.new_path, { old: diff.old_path, lines: listShownLines(diff.diff, '+') }]),
    );
    const inDiff = all.filter(({ path, last }) => linesInDiff.get(path)?.lines.has(last));
    const bodies = (await listOwnComments(number)).map(({ body }) => body);
    for (const replacement of inDiff.filter(
      (replacement) => !bodies.some((body) => body.includes(createReplacementKey(replacement))),
    )) {
      await api.MergeRequestDiscussions.create(
        project,
        number,
        renderSuggestion(replacement, `suggestion:-${replacement.last - replacement.first}+0`),
        {
          position: {
            baseSha: refs.base_sha,
            startSha: refs.start_sha,
            headSha: refs.head_sha,
            positionType: 'text',
            oldPath: linesInDiff.get(replacement.path)?.old ?? replacement.path,
            newPath: replacement.path,
            newLine: String(replacement.last),
          },
        },
      );
    }
    return inDiff.length;
  };

  const readBranchHead = async (branch: string) => {
    try {
      const { commit } = await api.Branches.show(project, branch);
      return { commit: commit.id, message: commit.message };
    } catch (error) {
      if (readStatus(error) === 404) return null;
      throw error;
    }
  };

  const createCommit = async ({ branch, parent, files, message, isOwnBranch }: NewCommit) => {
    if (!isOwnBranch && (await readBranchHead(branch))?.commit !== parent) return null;
    const { id } = await api.Commits.create(
      project,
      branch,
      message,
      files.flatMap(createActions),
      isOwnBranch ? { startSha: parent, force: true } : {},
    );
    return id;
  };

  return {
    noun: 'merge request',
    defaultBranch: env['CI_DEFAULT_BRANCH'] ?? 'main',
    runId: env['CI_PIPELINE_ID'] ?? '0',
    runUrl: env['CI_PIPELINE_URL'] ?? '',
    readTarget,
    readFile,
    listOwnComments,
    listCommitMessages: async (number) =>
      (await api.MergeRequests.allCommits(project, number)).map(({ message }) => message),
    createComment: async (number, body) => void (await api.MergeRequestNotes.create(project, number, body)),
    editComment: async (number, id, body) =>
      void (await api.MergeRequestNotes.edit(project, number, id, { body })),
    writeCheck,
    addSuggestions,
    readBranchHead,
    createCommit,
    readPullRequestBody: async (branch, base) => {
      const { username } = await api.Users.showCurrentUser();
      const all = await api.MergeRequests.all({
        projectId: project,
        sourceBranch: branch,
        targetBranch: base,
        orderBy: 'created_at',
        sort: 'desc',
      });
      return all.find(({ author }) => author.username === username)?.description ?? null;
    },
    writePullRequest: async ({ branch, base, title, body }) => {
      const [open] = await api.MergeRequests.all({
        projectId: project,
        state: 'opened',
        sourceBranch: branch,
        targetBranch: base,
      });
      const request = open
        ? await api.MergeRequests.edit(project, open.iid, { title, description: body })
        : await api.MergeRequests.create(project, branch, base, title, {
            description: body,
            removeSourceBranch: true,
          });
      return request.web_url;
    },
  };
}

function createActions({
  path,
  content,
  isExecutable,
  existsOnBranch,
  setsMode,
}: CommittedFile): CommitAction[] {
  if (content === null) return [{ action: 'delete', filePath: path }];
  const action: CommitAction['action'] = existsOnBranch ? 'update' : 'create';
  const written: CommitAction = {
    action,
    filePath: path,
    content: content.toString('base64'),
    encoding: 'base64',
  };
  const needsMode = setsMode && (existsOnBranch || isExecutable);
  return needsMode
    ? [written, { action: 'chmod', filePath: path, execute_filemode: isExecutable }]
    : [written];
}

function readStatus(error: unknown): unknown {
  const cause =
    error instanceof Error ? (error.cause as { response?: { status?: number } } | undefined) : undefined;
  return cause?.response?.status;
}
