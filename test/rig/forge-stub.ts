import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { onTestFinished } from 'vitest';

type Files = Readonly<Record<string, string>>;

/** A comment or a note, with who wrote it. */
interface Comment {
  readonly id: number;
  readonly author: string;
  body: string;
}

/** A repository in memory, with one change under review, behind the parts of an API that `publish` uses. */
export class ForgeStub {
  readonly commits = new Map<string, { files: Files; message: string; parent: string | null }>();
  readonly branches = new Map<string, string>();
  readonly comments: Comment[] = [];
  readonly suggestions: Comment[] = [];
  readonly checks: { head: string; conclusion: string; title: string; annotations: unknown }[] = [];
  readonly proposals: { branch: string; base: string; body: string }[] = [];
  readonly reruns: number[] = [];
  readonly reactions: string[] = [];
  /** Every request that writes, as `POST /path`. */
  readonly writes: string[] = [];
  readonly tokens = new Set<string>();
  /** The branch of the change is in another repository. */
  isFork = false;
  /** The diff of the change. */
  diff: { path: string; patch: string } = { path: 'tests/shop.spec.ts', patch: '' };
  url = '';

  readonly #blobs = new Map<string, string>();
  readonly #trees = new Map<string, Files>();

  constructor(files: Files) {
    this.branches.set('main', this.commit(files, 'First', null));
    this.branches.set('feature', this.commit(files, 'A feature', this.headOf('main')));
  }

  headOf(branch: string): string {
    return this.branches.get(branch) ?? '';
  }

  /** What a branch has. */
  filesOf(branch: string): Files {
    return this.commits.get(this.headOf(branch))?.files ?? {};
  }

  messageOf(branch: string): string {
    return this.commits.get(this.headOf(branch))?.message ?? '';
  }

  commit(files: Files, message: string, parent: string | null): string {
    const sha = idOf(`commit ${JSON.stringify([files, message, parent])}`);
    this.commits.set(sha, { files, message, parent });
    return sha;
  }

  /** Starts the server of GitHub's API; it ends with the test. */
  async github(): Promise<this> {
    const api = new Hono();
    const repo = '/repos/own/shop';
    this.#watch(api, (context) => context.req.header('authorization')?.replace('token ', ''));
    api.get('/user', (c) => c.json({ message: 'Resource not accessible by integration' }, 403));
    api.get(`${repo}/pulls`, (c) => {
      const [owner, branch = ''] = (c.req.query('head') ?? '').split(':');
      const isChange = owner === (this.isFork ? 'stranger' : 'own') && branch === 'feature';
      if (isChange) return c.json([this.#pull()]);
      return c.json(
        this.proposals.filter((one) => one.branch === branch).map((one, at) => this.#proposed(one, at)),
      );
    });
    api.get(`${repo}/pulls/7`, (c) => c.json(this.#pull()));
    api.get(`${repo}/pulls/7/files`, (c) => c.json([{ filename: this.diff.path, patch: this.diff.patch }]));
    api.get(`${repo}/pulls/7/commits`, (c) =>
      c.json(this.#ofChange().map((message) => ({ commit: { message } }))),
    );
    api.get(`${repo}/pulls/7/comments`, (c) => c.json(this.suggestions.map(asGithub)));
    api.post(`${repo}/pulls/7/reviews`, async (c) => {
      const { comments } = await c.req.json<{ comments: { body: string; path: string; line: number }[] }>();
      for (const one of comments) this.#add(this.suggestions, `${one.path}:${one.line}\n${one.body}`);
      return c.json({ id: 1 });
    });
    api.post(`${repo}/pulls`, async (c) => {
      const { head, base, body } = await c.req.json<{ head: string; base: string; body: string }>();
      this.proposals.push({ branch: head, base, body });
      return c.json(this.#proposed({ branch: head }, this.proposals.length - 1), 201);
    });
    api.patch(`${repo}/pulls/:number`, async (c) => {
      const found = this.proposals[Number(c.req.param('number')) - 100];
      if (found) found.body = (await c.req.json<{ body: string }>()).body;
      return c.json(this.#proposed({ branch: found?.branch ?? '' }, 0));
    });
    api.get(`${repo}/issues/7/comments`, (c) => c.json(this.comments.map(asGithub)));
    api.post(`${repo}/issues/7/comments`, async (c) => {
      this.#add(this.comments, (await c.req.json<{ body: string }>()).body);
      return c.json({}, 201);
    });
    api.patch(`${repo}/issues/comments/:id`, async (c) => {
      this.#edit(Number(c.req.param('id')), (await c.req.json<{ body: string }>()).body);
      return c.json({});
    });
    api.post(`${repo}/issues/comments/:id/reactions`, async (c) => {
      this.reactions.push((await c.req.json<{ content: string }>()).content);
      return c.json({}, 201);
    });
    api.get(`${repo}/collaborators/:login/permission`, (c) =>
      c.json({ permission: c.req.param('login') === 'maintainer' ? 'write' : 'read' }),
    );
    api.post(`${repo}/actions/runs/:id/rerun`, (c) => {
      this.reruns.push(Number(c.req.param('id')));
      return c.json({}, 201);
    });
    api.get(`${repo}/commits/:ref/check-runs`, (c) => {
      const at = this.checks.findIndex(({ head }) => head === c.req.param('ref'));
      return c.json({ check_runs: at === -1 ? [] : [{ id: at, external_id: 'self-heal' }] });
    });
    api.post(`${repo}/check-runs`, async (c) => {
      const { head_sha: head, conclusion, output } = await c.req.json<GithubCheck>();
      this.checks.push({ head, conclusion, title: output.title, annotations: output.annotations });
      return c.json({}, 201);
    });
    api.patch(`${repo}/check-runs/:id`, async (c) => {
      const found = this.checks[Number(c.req.param('id'))];
      const { conclusion, output } = await c.req.json<GithubCheck>();
      if (found) Object.assign(found, { conclusion, title: output.title });
      return c.json({});
    });
    api.get(`${repo}/git/trees/:id`, (c) =>
      c.json({ tree: this.#entriesOf(decodeURIComponent(c.req.param('id'))) }),
    );
    api.get(`${repo}/git/blobs/:id`, (c) => {
      const content = Buffer.from(this.#blobs.get(c.req.param('id')) ?? '', 'utf8').toString('base64');
      return c.json({ content, encoding: 'base64' });
    });
    api.post(`${repo}/git/blobs`, async (c) => {
      const { content } = await c.req.json<{ content: string }>();
      return c.json({ sha: this.#blob(Buffer.from(content, 'base64').toString('utf8')) }, 201);
    });
    api.get(`${repo}/git/commits/:sha`, (c) => c.json({ tree: { sha: c.req.param('sha') } }));
    api.post(`${repo}/git/trees`, async (c) => {
      const { base_tree: base, tree } = await c.req.json<{
        base_tree: string;
        tree: { path: string; sha: string | null }[];
      }>();
      const files: Record<string, string> = { ...this.#filesAt(base) };
      for (const { path, sha } of tree) {
        if (sha === null) delete files[path];
        else files[path] = this.#blobs.get(sha) ?? '';
      }
      return c.json({ sha: this.#tree(files) }, 201);
    });
    api.post(`${repo}/git/commits`, async (c) => {
      const { message, tree, parents } = await c.req.json<{
        message: string;
        tree: string;
        parents: string[];
      }>();
      return c.json({ sha: this.commit(this.#filesAt(tree), message, parents[0] ?? null) }, 201);
    });
    api.post(`${repo}/git/refs`, async (c) => {
      const { ref, sha } = await c.req.json<{ ref: string; sha: string }>();
      this.branches.set(ref.replace('refs/heads/', ''), sha);
      return c.json({}, 201);
    });
    api.patch(`${repo}/git/refs/:ref{.+}`, async (c) => {
      const { sha, force } = await c.req.json<{ sha: string; force: boolean }>();
      const branch = decodeURIComponent(c.req.param('ref')).replace('heads/', '');
      const follows = this.commits.get(sha)?.parent === this.headOf(branch);
      if (!force && !follows) return c.json({ message: 'Update is not a fast forward' }, 422);
      this.branches.set(branch, sha);
      return c.json({});
    });
    api.get(`${repo}/branches/:branch{.+}`, (c) => {
      const branch = decodeURIComponent(c.req.param('branch'));
      const sha = this.branches.get(branch);
      if (sha === undefined) return c.json({ message: 'Branch not found' }, 404);
      return c.json({ commit: { sha, commit: { message: this.messageOf(branch) } } });
    });
    return this.#listen(api);
  }

  /** Starts the server of GitLab's API; it ends with the test. */
  async gitlab(): Promise<this> {
    const api = new Hono();
    const project = '/api/v4/projects/5';
    this.#watch(api, (context) => context.req.header('private-token'));
    api.get('/api/v4/user', (c) => c.json({ username: 'self-heal-bot' }));
    api.get(`${project}/merge_requests/7`, (c) =>
      c.json({
        iid: 7,
        sha: this.headOf('feature'),
        source_branch: 'feature',
        source_project_id: this.isFork ? 6 : 5,
        target_project_id: 5,
        diff_refs: {
          base_sha: this.headOf('main'),
          start_sha: this.headOf('main'),
          head_sha: this.headOf('feature'),
        },
      }),
    );
    api.get(`${project}/merge_requests/7/diffs`, (c) =>
      c.json([{ old_path: this.diff.path, new_path: this.diff.path, diff: this.diff.patch }]),
    );
    api.get(`${project}/merge_requests/7/commits`, (c) =>
      c.json(this.#ofChange().map((message) => ({ message }))),
    );
    api.get(`${project}/merge_requests/7/notes`, (c) =>
      c.json(
        [...this.comments, ...this.suggestions].map(({ author, ...one }) => ({
          ...one,
          author: { username: author },
        })),
      ),
    );
    api.post(`${project}/merge_requests/7/notes`, async (c) => {
      this.#add(this.comments, (await c.req.json<{ body: string }>()).body, 'self-heal-bot');
      return c.json({}, 201);
    });
    api.put(`${project}/merge_requests/7/notes/:id`, async (c) => {
      this.#edit(Number(c.req.param('id')), (await c.req.json<{ body: string }>()).body);
      return c.json({});
    });
    api.post(`${project}/merge_requests/7/discussions`, async (c) => {
      const form = await c.req.parseBody<Record<string, string>>();
      const at = `${form['position[new_path]']}:${form['position[new_line]']}`;
      this.#add(this.suggestions, `${at}\n${form['body']?.replaceAll('\r\n', '\n')}`, 'self-heal-bot');
      return c.json({}, 201);
    });
    api.post(`${project}/statuses/:sha`, async (c) => {
      const { state, description } = await c.req.json<{ state: string; description: string }>();
      const head = c.req.param('sha');
      this.checks.push({ head, conclusion: state, title: description, annotations: [] });
      return c.json({}, 201);
    });
    api.get(`${project}/repository/files/:path`, (c) => {
      const ref = c.req.query('ref') ?? '';
      const content = this.#filesAt(this.branches.get(ref) ?? ref)[decodeURIComponent(c.req.param('path'))];
      if (content === undefined) return c.json({ message: '404 File Not Found' }, 404);
      return c.json({ content: Buffer.from(content).toString('base64'), execute_filemode: false });
    });
    api.get(`${project}/repository/branches/:branch`, (c) => {
      const branch = decodeURIComponent(c.req.param('branch'));
      const id = this.branches.get(branch);
      if (id === undefined) return c.json({ message: '404 Branch Not Found' }, 404);
      return c.json({ commit: { id, message: this.messageOf(branch) } });
    });
    api.post(`${project}/repository/commits`, async (c) => {
      const { branch, commit_message: message, actions, start_sha: start } = await c.req.json<GitlabCommit>();
      const parent = start ?? this.headOf(branch);
      const files: Record<string, string> = { ...this.#filesAt(parent) };
      for (const { action, file_path: file, content = '' } of actions) {
        if (action === 'delete') delete files[file];
        else if (action !== 'chmod') files[file] = Buffer.from(content, 'base64').toString('utf8');
      }
      this.branches.set(branch, this.commit(files, message, parent));
      return c.json({}, 201);
    });
    api.get(`${project}/merge_requests`, (c) =>
      c.json(
        this.proposals
          .filter(({ branch }) => branch === c.req.query('source_branch'))
          .map((_, at) => ({ iid: 100 + at })),
      ),
    );
    api.post(`${project}/merge_requests`, async (c) => {
      const {
        source_branch: branch,
        target_branch: base,
        description: body,
      } = await c.req.json<Record<string, string>>();
      this.proposals.push({ branch: branch ?? '', base: base ?? '', body: body ?? '' });
      return c.json({ web_url: 'https://gitlab.test/100' }, 201);
    });
    api.put(`${project}/merge_requests/:iid`, async (c) => {
      const found = this.proposals[Number(c.req.param('iid')) - 100];
      if (found) found.body = (await c.req.json<{ description: string }>()).description;
      return c.json({ web_url: 'https://gitlab.test/100' });
    });
    return this.#listen(api);
  }

  #watch(api: Hono, tokenOf: (context: Context) => string | undefined): void {
    api.use(async (context, next) => {
      const { method, path } = context.req;
      this.tokens.add(tokenOf(context) ?? 'none');
      if (method !== 'GET') this.writes.push(`${method} ${path}`);
      await next();
    });
  }

  async #listen(api: Hono): Promise<this> {
    const server = serve({ fetch: api.fetch, port: 0, hostname: '127.0.0.1' });
    await new Promise<void>((resolve) => void server.once('listening', resolve));
    onTestFinished(() => void server.close());
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this;
  }

  #pull() {
    const repo = this.isFork ? 'stranger/shop' : 'own/shop';
    return { number: 7, head: { sha: this.headOf('feature'), ref: 'feature', repo: { full_name: repo } } };
  }

  #proposed({ branch }: { branch: string }, at: number) {
    return {
      number: 100 + at,
      html_url: `https://github.test/own/shop/pull/${100 + at}`,
      head: { ref: branch, sha: '' },
    };
  }

  /** The messages of the commits that the change adds to main. */
  #ofChange(): string[] {
    const messages: string[] = [];
    for (let at: string | null = this.headOf('feature'); at !== null && at !== this.headOf('main');) {
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
    const sha = idOf(`blob ${text}`);
    this.#blobs.set(sha, text);
    return sha;
  }

  #tree(files: Files): string {
    const sha = idOf(`tree ${JSON.stringify(files)}`);
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

interface GithubCheck {
  head_sha: string;
  conclusion: string;
  output: { title: string; annotations: unknown };
}

interface GitlabCommit {
  branch: string;
  commit_message: string;
  start_sha?: string;
  actions: { action: string; file_path: string; content?: string }[];
}

function asGithub({ id, author, body }: Comment) {
  return { id, body, user: { login: author } };
}

function idOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
