import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { onTestFinished } from 'vitest';

type Files = Readonly<Record<string, string>>;

/** A comment (GitHub) or note (GitLab) with its author. */
interface Comment {
  readonly id: number;
  readonly author: string;
  body: string;
}

/** A repository in memory with one pull request, served by the parts of both APIs that `publish` uses. */
export class ForgeStub {
  readonly commits = new Map<string, { files: Files; message: string; parent: string | null }>();
  readonly branches = new Map<string, string>();
  readonly comments: Comment[] = [];
  readonly suggestions: Comment[] = [];
  readonly checks: { head: string; conclusion: string; title: string; annotations: unknown }[] = [];
  readonly proposals: { branch: string; base: string; body: string }[] = [];
  readonly reruns: number[] = [];
  readonly reactions: string[] = [];
  /** Requests that write, as `POST /path`. */
  readonly writes: string[] = [];
  readonly tokens = new Set<string>();
  /** True if the branch of the pull request is in a fork. */
  isFork = false;
  /** The diff of the pull request. */
  diff: { path: string; patch: string } = { path: 'tests/shop.spec.ts', patch: '' };
  url = '';

  readonly #blobs = new Map<string, string>();
  readonly #trees = new Map<string, Files>();

  constructor(files: Files) {
    this.branches.set('main', this.commit(files, 'First', null));
    this.branches.set('feature', this.commit(files, 'A feature', this.getHead('main')));
  }

  getHead(branch: string): string {
    return this.branches.get(branch) ?? '';
  }

  /** Returns the files of a branch. */
  getFiles(branch: string): Files {
    return this.commits.get(this.getHead(branch))?.files ?? {};
  }

  getMessage(branch: string): string {
    return this.commits.get(this.getHead(branch))?.message ?? '';
  }

  commit(files: Files, message: string, parent: string | null): string {
    const sha = computeSha(`commit ${JSON.stringify([files, message, parent])}`);
    this.commits.set(sha, { files, message, parent });
    return sha;
  }

  /** Starts a GitHub API server, which ends with the test. */
  async github(): Promise<this> {
    return this.#listen('/repos/own/shop', 'authorization', {
      'GET /user': () => [403, { message: 'Resource not accessible by integration' }],
      'GET ~/pulls': ({ query }) => {
        const [owner, branch = ''] = query('head').split(':');
        const isChange = owner === (this.isFork ? 'stranger' : 'own') && branch === 'feature';
        return isChange ? [this.#pull()] : this.#proposed(branch).map(toPull);
      },
      'GET ~/pulls/7': () => this.#pull(),
      'GET ~/pulls/7/files': () => [{ filename: this.diff.path, patch: this.diff.patch }],
      'GET ~/pulls/7/commits': () => this.#commitMessages().map((message) => ({ commit: { message } })),
      'GET ~/pulls/7/comments': () => this.suggestions.map(toGithubComment),
      'POST ~/pulls/7/reviews': ({ body }) => {
        for (const one of body.comments) this.#add(this.suggestions, `${one.path}:${one.line}\n${one.body}`);
      },
      'POST ~/pulls': ({ body: { head, base, body } }) => {
        this.proposals.push({ branch: head, base, body });
        return toPull({ branch: head });
      },
      'PATCH ~/pulls/:number': ({ body: { body } }) => {
        const [found] = this.proposals;
        if (found) found.body = body;
        return toPull({ branch: found?.branch ?? '' });
      },
      'GET ~/issues/7/comments': () => this.comments.map(toGithubComment),
      'POST ~/issues/7/comments': ({ body }) => this.#add(this.comments, body.body),
      'PATCH ~/issues/comments/:id': ({ param, body }) => this.#edit(Number(param('id')), body.body),
      'POST ~/issues/comments/:id/reactions': ({ body }) => void this.reactions.push(body.content),
      'GET ~/collaborators/:login/permission': ({ param }) => ({
        permission: param('login') === 'maintainer' ? 'write' : 'read',
      }),
      'POST ~/actions/runs/:id/rerun': ({ param }) => void this.reruns.push(Number(param('id'))),
      'GET ~/commits/:ref/check-runs': ({ param }) => {
        const at = this.checks.findIndex(({ head }) => head === param('ref'));
        return { check_runs: at === -1 ? [] : [{ id: at, external_id: 'self-heal' }] };
      },
      'POST ~/check-runs': ({ body: { head_sha: head, conclusion, output } }) => {
        this.checks.push({ head, conclusion, title: output.title, annotations: output.annotations });
      },
      'PATCH ~/check-runs/:id': ({ param, body: { conclusion, output } }) => {
        Object.assign(this.checks[Number(param('id'))] ?? {}, { conclusion, title: output.title });
      },
      'GET ~/git/trees/:id': ({ param }) => ({ tree: this.#entriesOf(param('id')) }),
      'GET ~/git/blobs/:id': ({ param }) => ({
        content: base64(this.#blobs.get(param('id')) ?? ''),
        encoding: 'base64',
      }),
      'POST ~/git/blobs': ({ body }) => ({ sha: this.#blob(text(body.content)) }),
      'GET ~/git/commits/:sha': ({ param }) => ({ tree: { sha: param('sha') } }),
      'POST ~/git/trees': ({ body }) => {
        const files: Record<string, string> = { ...this.#filesAt(body.base_tree) };
        for (const { path, sha } of body.tree) {
          if (sha === null) delete files[path];
          else files[path] = this.#blobs.get(sha) ?? '';
        }
        return { sha: this.#tree(files) };
      },
      'POST ~/git/commits': ({ body: { message, tree, parents } }) => ({
        sha: this.commit(this.#filesAt(tree), message, parents[0] ?? null),
      }),
      'POST ~/git/refs': ({ body: { ref, sha } }) =>
        void this.branches.set(ref.replace('refs/heads/', ''), sha),
      'PATCH ~/git/refs/:ref{.+}': ({ param, body: { sha, force } }) => {
        const branch = param('ref').replace('heads/', '');
        const follows = this.commits.get(sha)?.parent === this.getHead(branch);
        if (!force && !follows) return [422, { message: 'Update is not a fast forward' }];
        return void this.branches.set(branch, sha);
      },
      'GET ~/branches/:branch{.+}': ({ param }) => {
        const [branch, sha] = [param('branch'), this.branches.get(param('branch'))];
        if (sha === undefined) return [404, { message: 'Branch not found' }];
        return { commit: { sha, commit: { message: this.getMessage(branch) } } };
      },
    });
  }

  /** Starts a GitLab API server, which ends with the test. */
  async gitlab(): Promise<this> {
    const bot = 'self-heal-bot';
    return this.#listen('/api/v4/projects/5', 'private-token', {
      'GET /api/v4/user': () => ({ username: bot }),
      'GET ~/merge_requests/7': () => ({
        iid: 7,
        sha: this.getHead('feature'),
        source_branch: 'feature',
        source_project_id: this.isFork ? 6 : 5,
        target_project_id: 5,
        diff_refs: {
          base_sha: this.getHead('main'),
          start_sha: this.getHead('main'),
          head_sha: this.getHead('feature'),
        },
      }),
      'GET ~/merge_requests/7/diffs': () => [
        { old_path: this.diff.path, new_path: this.diff.path, diff: this.diff.patch },
      ],
      'GET ~/merge_requests/7/commits': () => this.#commitMessages().map((message) => ({ message })),
      'GET ~/merge_requests/7/notes': () =>
        [...this.comments, ...this.suggestions].map(({ author, ...one }) => ({
          ...one,
          author: { username: author },
        })),
      'POST ~/merge_requests/7/notes': ({ body }) => this.#add(this.comments, body.body, bot),
      'PUT ~/merge_requests/7/notes/:id': ({ param, body }) => this.#edit(Number(param('id')), body.body),
      'POST ~/merge_requests/7/discussions': ({ body }) => {
        const at = `${body['position[new_path]']}:${body['position[new_line]']}`;
        this.#add(this.suggestions, `${at}\n${body['body'].replaceAll('\r\n', '\n')}`, bot);
      },
      'POST ~/statuses/:sha': ({ param, body: { state, description } }) => {
        this.checks.push({ head: param('sha'), conclusion: state, title: description, annotations: [] });
      },
      'GET ~/repository/files/:path': ({ param, query }) => {
        const content = this.#filesAt(query('ref'))[param('path')];
        if (content === undefined) return [404, { message: '404 File Not Found' }];
        return { content: base64(content), execute_filemode: false };
      },
      'GET ~/repository/branches/:branch': ({ param }) => {
        const [branch, id] = [param('branch'), this.branches.get(param('branch'))];
        if (id === undefined) return [404, { message: '404 Branch Not Found' }];
        return { commit: { id, message: this.getMessage(branch) } };
      },
      'POST ~/repository/commits': ({
        body: { branch, commit_message: message, actions, start_sha: start },
      }) => {
        const parent = start ?? this.getHead(branch);
        const files: Record<string, string> = { ...this.#filesAt(parent) };
        for (const { action, file_path: file, content = '' } of actions) {
          if (action === 'delete') delete files[file];
          else if (action !== 'chmod') files[file] = text(content);
        }
        const id = this.commit(files, message, parent);
        this.branches.set(branch, id);
        return { id };
      },
      'GET ~/merge_requests': ({ query }) =>
        this.#proposed(query('source_branch')).map(({ body: description }) => ({
          iid: 100,
          description,
          author: { username: bot },
        })),
      'POST ~/merge_requests': ({
        body: { source_branch: branch, target_branch: base, description: body },
      }) => {
        this.proposals.push({ branch, base, body });
        return { web_url: 'https://gitlab.test/100' };
      },
      'PUT ~/merge_requests/:iid': ({ body: { description } }) => {
        const [found] = this.proposals;
        if (found) found.body = description;
        return { web_url: 'https://gitlab.test/100' };
      },
    });
  }

  /** Serves these routes; `~` stands for the address of the repository. A handler returns `[status, body]` to refuse a request. */
  async #listen(home: string, tokenIn: string, routes: Readonly<Record<string, Route>>): Promise<this> {
    const api = new Hono();
    api.use(async (context, next) => {
      const { method, path } = context.req;
      this.tokens.add(context.req.header(tokenIn)?.replace('token ', '') ?? 'none');
      if (method !== 'GET') this.writes.push(`${method} ${path}`);
      await next();
    });
    for (const [route, handle] of Object.entries(routes)) {
      const [method = '', place = ''] = route.split(' ');
      api.on(method, place.replace('~', home), async (c) => {
        const isForm = c.req.header('content-type')?.includes('form') ?? false;
        const body = isForm ? await c.req.parseBody() : await c.req.json().catch(() => ({}));
        const param = (name: string) => decodeURIComponent(c.req.param(name) ?? '');
        const answer = handle({ param, query: (name) => c.req.query(name) ?? '', body }) ?? {};
        const [status, said] = isRefusal(answer) ? answer : [method === 'POST' ? 201 : 200, answer];
        return c.json(said, status as 200);
      });
    }
    const server = serve({ fetch: api.fetch, port: 0, hostname: '127.0.0.1' });
    await new Promise<void>((resolve) => void server.once('listening', resolve));
    onTestFinished(() => void server.close());
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this;
  }

  #pull() {
    const repo = this.isFork ? 'stranger/shop' : 'own/shop';
    return { number: 7, head: { sha: this.getHead('feature'), ref: 'feature', repo: { full_name: repo } } };
  }

  #proposed(branch: string) {
    return this.proposals.filter((one) => one.branch === branch);
  }

  /** Returns the commit messages of the pull request. */
  #commitMessages(): string[] {
    const messages: string[] = [];
    for (let at: string | null = this.getHead('feature'); at !== null && at !== this.getHead('main');) {
      const commit = this.commits.get(at);
      if (!commit) break;
      messages.push(commit.message);
      at = commit.parent;
    }
    return messages;
  }

  #add(list: Comment[], body: string, author = 'github-actions[bot]'): void {
    list.push({ id: this.comments.length + this.suggestions.length + 1, author, body });
  }

  #edit(id: number, body: string): void {
    const found = this.comments.find((one) => one.id === id);
    if (found) found.body = body;
  }

  #blob(text: string): string {
    const sha = computeSha(`blob ${text}`);
    this.#blobs.set(sha, text);
    return sha;
  }

  #tree(files: Files): string {
    const sha = computeSha(`tree ${JSON.stringify(files)}`);
    this.#trees.set(sha, files);
    return sha;
  }

  #filesAt(id: string): Files {
    return this.#trees.get(id) ?? this.commits.get(this.branches.get(id) ?? id)?.files ?? {};
  }

  #entriesOf(id: string) {
    const groups = new Map<string, Record<string, string>>();
    const entries: object[] = [];
    for (const [file, text] of Object.entries(this.#filesAt(id))) {
      const [first = '', ...rest] = file.split('/');
      if (rest.length === 0)
        entries.push({ path: first, mode: '100644', type: 'blob', sha: this.#blob(text) });
      else groups.set(first, { ...groups.get(first), [rest.join('/')]: text });
    }
    for (const [path, files] of groups)
      entries.push({ path, mode: '040000', type: 'tree', sha: this.#tree(files) });
    return entries;
  }
}

// oxlint-disable-next-line no-explicit-any -- tests check the effect of each request
type Body = any;

type Route = (request: {
  readonly param: (name: string) => string;
  readonly query: (name: string) => string;
  readonly body: Body;
}) => object | undefined | void;

function isRefusal(answer: object): answer is [status: number, said: object] {
  return Array.isArray(answer) && typeof answer[0] === 'number';
}

const base64 = (content: string) => Buffer.from(content).toString('base64');
const text = (content: string) => Buffer.from(content, 'base64').toString('utf8');

function toPull({ branch, body = '' }: { branch: string; body?: string }) {
  const head = { ref: branch, sha: '' };
  const user = { login: 'github-actions[bot]' };
  return { number: 100, html_url: 'https://github.test/own/shop/pull/100', head, body, user };
}

function toGithubComment({ id, author, body }: Comment) {
  return { id, body, user: { login: author } };
}

function computeSha(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
