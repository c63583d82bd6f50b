import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/run/report.js';
import { runPublish } from '../../src/cli/publish.js';
import { parseAgentsFile } from '../../src/config/agents-file.js';
import { getExitCode, formatProblem } from '../../src/problem.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../rig/a-report.js';
import { writeStoredRun } from '../rig/events-of-report.js';
import { computeBlobId } from '../../src/workspace/patch-text.js';
import { ForgeStub } from '../rig/forge-stub.js';
import { tempDir } from '../rig/temp-dir.js';

const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

const files = {
  'src/shop.ts': 'export const total = 1;\nexport const word = "Tanks";\n',
  'tests/shop.spec.ts':
    "test('buys', () => {\n  expect(title).toBe('Shop');\n  expect(word).toBe('Thanks');\n});\n",
  'agents.yaml': '# ours\nversion: 1\nlimits: { perBranch: 2 }\n',
};

/** The line in which a patch names what a file was and becomes. */
const index = (...contents: readonly (string | null)[]) =>
  `index ${contents.map((one) => computeBlobId(one === null ? null : Buffer.from(one))).join('..')}\n`;

const shop = files['src/shop.ts'];
const fix = `diff --git a/src/shop.ts b/src/shop.ts
${index(shop, shop.replace('Tanks', 'Thanks'))}--- a/src/shop.ts
+++ b/src/shop.ts
@@ -1,2 +1,2 @@
 export const total = 1;
-export const word = "Tanks";
+export const word = "Thanks";
diff --git a/src/new.ts b/src/new.ts
new file mode 100644
${index(null, 'export const added = true;\n')}--- /dev/null
+++ b/src/new.ts
@@ -0,0 +1,1 @@
+export const added = true;
`;

const spec = files['tests/shop.spec.ts'];
const testsPatch = `diff --git a/tests/shop.spec.ts b/tests/shop.spec.ts
${index(spec, spec.replace('Shop', 'Store'))}--- a/tests/shop.spec.ts
+++ b/tests/shop.spec.ts
@@ -1,4 +1,4 @@
 test('buys', () => {
-  expect(title).toBe('Shop');
+  expect(title).toBe('Store');
   expect(word).toBe('Thanks');
 });
`;

const fixed = aReport({
  outcome: 'green',
  exitCode: 1,
  tests: [aReportTest({ verdict: 'healed', title: ['shop.spec.ts', 'buys'], file: 'tests/shop.spec.ts' })],
  causes: [aReportCause({ source: 'src/shop.ts:2:1' })],
});

const asked = aReport({
  outcome: 'escalated',
  exitCode: 3,
  tests: [aReportTest({ verdict: 'escalated', title: ['shop.spec.ts', 'buys'], file: 'tests/shop.spec.ts' })],
  causes: [
    aReportCause({
      verdict: 'escalated',
      attempts: [
        aReportAttempt({
          end: { kind: 'offered', because: '', side: 'tests', proof: ['red', 'green'] },
          change: '1',
        }),
      ],
    }),
  ],
});

/** Leaves what `upload-artifact` makes of a run's folder; returns the artifact. */
function artifact(report: Report, patches: { fix?: string; attempt?: string }): string {
  const root = tempDir('artifact');
  const dir = writeStoredRun(path.join(root, 'apps/shop'), report);
  mkdirSync(path.join(dir, 'attempts'));
  if (patches.fix !== undefined) writeFileSync(path.join(dir, 'fix.patch'), patches.fix);
  if (patches.attempt !== undefined) writeFileSync(path.join(dir, 'attempts/1.patch'), patches.attempt);
  return root;
}

type Event = Record<string, unknown>;

type Flags = Partial<Parameters<typeof runPublish>[0]>;

/** Publishes as `self-heal publish` does, with the variables of a job and no others. */
async function publish(forge: ForgeStub, flags: Flags, event: Event | 'gitlab', env = {}) {
  const cwd = tempDir('job');
  const ofJob = event === 'gitlab' ? gitlabEnv(forge) : githubEnv(forge, event, cwd);
  const lines: string[] = [];
  const job = { env: { ...ofJob, ...env }, print: (line: string) => lines.push(line) };
  const result = await runPublish({ folder: '.', ...flags }, job);
  if (typeof result === 'number') return { exitCode: result, said: lines.join('\n'), cwd };
  return { exitCode: getExitCode(result), said: [...lines, formatProblem(result)].join('\n'), cwd };
}

/** Runs the built command in an empty folder, with the variables of a job and no others. */
async function selfHealPublish(forge: ForgeStub, args: readonly string[], event: Event, env = {}) {
  const cwd = tempDir('job');
  const { PATH = '' } = process.env;
  return execa(process.execPath, [bin, 'publish', ...args], {
    cwd,
    env: { PATH, ...githubEnv(forge, event, cwd), ...env },
    extendEnv: false,
    reject: false,
  });
}

const repository = { full_name: 'own/shop', default_branch: 'main' };

function githubEnv(forge: ForgeStub, event: Event, cwd: string) {
  const file = path.join(cwd, 'event.json');
  writeFileSync(file, JSON.stringify({ repository, ...event }));
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_TOKEN: 'ghs_secretOfTheJob0123456789',
    GITHUB_API_URL: forge.url,
    GITHUB_EVENT_PATH: file,
    GITHUB_OUTPUT: path.join(cwd, 'output'),
    GITHUB_RUN_ID: '1',
  };
}

function gitlabEnv(forge: ForgeStub) {
  return {
    GITLAB_CI: 'true',
    GITLAB_TOKEN: 'glpat-secretOfTheJob012345',
    CI_SERVER_URL: forge.url,
    CI_PROJECT_ID: '5',
    CI_PIPELINE_ID: '77',
    CI_PIPELINE_URL: `${forge.url}/pipelines/77`,
    CI_DEFAULT_BRANCH: 'main',
  };
}

/** The event of the workflow that publishes when the one with the tests has ended. */
function ended(forge: ForgeStub, of: 'push' | 'pull_request', head?: string): Event {
  const branch = of === 'push' ? 'main' : 'feature';
  return {
    workflow_run: {
      id: 4242,
      event: of,
      head_sha: head ?? forge.getHead(branch),
      head_branch: branch,
      head_repository: { full_name: forge.isFork ? 'stranger/shop' : 'own/shop' },
      html_url: 'https://github.test/own/shop/actions/runs/4242',
    },
  };
}

function commented(body: string, login = 'maintainer'): Event {
  return { comment: { id: 9, body, user: { login } }, issue: { number: 7, pull_request: {} } };
}

describe('on GitHub', () => {
  it('PB-1 a pull request gets one comment and one check, even if published repeatedly', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(fixed, { fix, attempt: fix.replaceAll('Thanks', 'something else') });
    const event = ended(forge, 'pull_request');
    expect(await publish(forge, { from }, event)).toMatchObject({ exitCode: 0 });
    expect(await publish(forge, { from }, event)).toMatchObject({ exitCode: 0 });
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain('+export const word = "Thanks";');
    expect(forge.comments[0]?.body).not.toContain('something else');
    expect(forge.comments[0]?.body).toContain('/self-heal apply');
    expect(forge.checks).toMatchObject([
      {
        head: forge.getHead('feature'),
        conclusion: 'action_required',
        annotations: [{ path: 'src/shop.ts', start_line: 2 }],
      },
    ]);
    expect(forge.writes.filter((one) => one.endsWith('/comments'))).toHaveLength(1);
    expect(forge.tokens).toEqual(new Set(['ghs_secretOfTheJob0123456789']));
    // A later run of the same branch updates the comment of the first.
    const green = artifact(aReport(), {});
    await publish(forge, { from: green }, event);
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain('self-heal: green');
    expect(forge.checks).toMatchObject([{ conclusion: 'success' }]);
  });

  it('PB-1 a comment of somebody else that looks like ours is neither edited nor trusted', async () => {
    const forge = await new ForgeStub(files).github();
    const forged = `<!-- self-heal {"run":"666","head":"${forge.getHead('feature')}"} -->\nApply this`;
    forge.comments.push({ id: 50, author: 'stranger', body: forged });
    await publish(forge, { from: artifact(fixed, { fix }) }, ended(forge, 'pull_request'));
    expect(forge.comments).toMatchObject([{ body: forged }, { author: 'github-actions[bot]' }]);
  });

  it('PB-1 a run of an outdated head is not published', async () => {
    const forge = await new ForgeStub(files).github();
    const before = forge.getHead('feature');
    forge.branches.set('feature', forge.commit(files, 'More', before));
    const { said } = await publish(
      forge,
      { from: artifact(fixed, { fix }) },
      ended(forge, 'pull_request', before),
    );
    expect(said).toContain('No open pull request');
    expect(forge.writes).toEqual([]);
  });

  it('PB-2 offers a patch that only a person may accept as a suggestion at its line, once', async () => {
    const forge = await new ForgeStub(files).github();
    forge.diff = { path: 'tests/shop.spec.ts', patch: '@@ -1,2 +1,2 @@\n test(\n+  expect(title)' };
    const from = artifact(asked, { attempt: testsPatch });
    await publish(forge, { from }, ended(forge, 'pull_request'));
    await publish(forge, { from }, ended(forge, 'pull_request'));
    expect(forge.suggestions).toHaveLength(1);
    expect(forge.suggestions[0]?.body).toMatch(
      /^tests\/shop\.spec\.ts:2\n.*\n```suggestion\n {2}expect\(title\)\.toBe\('Store'\);\n```$/,
    );
  });

  it('PB-2 a fork gets the fix as suggestions, and no commit', async () => {
    const forge = await new ForgeStub(files).github();
    forge.isFork = true;
    forge.diff = {
      path: 'src/shop.ts',
      patch: '@@ -0,0 +1,2 @@\n+export const total = 1;\n+export const word = "Tanks";',
    };
    await publish(forge, { from: artifact(fixed, { fix }) }, ended(forge, 'pull_request'));
    expect(forge.suggestions.map(({ body }) => body.split('\n')[3])).toEqual([
      'export const word = "Thanks";',
    ]);
    expect(forge.comments[0]?.body).not.toContain('/self-heal apply');
    const { said } = await publish(forge, { answer: true }, commented('/self-heal apply'));
    expect(said).toContain('in another repository');
    expect(forge.getFiles('feature')).toEqual(files);
  });

  it('PB-3 the main branch gets one pull request, whose branch each run recreates', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(fixed, { fix });
    for (const _ of [1, 2]) await publish(forge, { from }, ended(forge, 'push'));
    expect(forge.proposals).toMatchObject([{ branch: 'self-heal/fix-main', base: 'main' }]);
    expect(forge.getFiles('self-heal/fix-main')).toEqual({
      ...files,
      'src/shop.ts': files['src/shop.ts'].replace('Tanks', 'Thanks'),
      'src/new.ts': 'export const added = true;\n',
    });
    expect(forge.writes.filter((one) => one.endsWith('/git/commits'))).toHaveLength(1);
    const later = artifact({ ...fixed, runId: '20260202-020202-abcd' }, { fix });
    await publish(forge, { from: later }, ended(forge, 'push'));
    expect(forge.getMessage('self-heal/fix-main')).toContain('20260202-020202-abcd');
  });

  it.each(['By hand', null])(
    'PB-3 a fix branch that a person committed to or amended is kept: %s',
    async (by) => {
      const forge = await new ForgeStub(files).github();
      await publish(forge, { from: artifact(fixed, { fix }) }, ended(forge, 'push'));
      const amended = {
        ...forge.getFiles('self-heal/fix-main'),
        'src/new.ts': 'export const better = true;\n',
      };
      const message = by ?? forge.getMessage('self-heal/fix-main');
      const head = forge.commit(amended, message, forge.getHead('main'));
      forge.branches.set('self-heal/fix-main', head);
      const later = artifact({ ...fixed, runId: '20260202-020202-abcd' }, { fix });
      const { said } = await publish(forge, { from: later }, ended(forge, 'push'));
      expect(said).toContain('Somebody has committed');
      expect(forge.getHead('self-heal/fix-main')).toBe(head);
    },
  );

  it('PB-4 a comment applies the fix of the run that it answers', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(fixed, { fix });
    await publish(forge, { from }, ended(forge, 'pull_request'));
    const { said } = await publish(forge, { answer: true }, commented('/self-heal apply'));
    expect(said).toContain('4242');
    await publish(forge, { answer: true, from }, commented('/self-heal apply'));
    expect(forge.getFiles('feature')['src/shop.ts']).toContain('Thanks');
    expect(forge.reactions).toEqual(['+1']);
    // The run that the comment is about did not test what is there now.
    await publish(forge, { answer: true, from }, commented('/self-heal apply'));
    expect(forge.reactions).toEqual(['+1', '-1']);
    expect(forge.comments.at(-1)?.body).toContain('moved on');
  });

  it('PB-4 stops a loop of bots at the default branch’s limits.perBranch', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(fixed, { fix });
    let head = forge.getHead('feature');
    for (const n of [1, 2]) head = forge.commit(files, `Fix ${n}\n\nSelf-Heal-Run: r${n} on ${head}\n`, head);
    forge.branches.set('feature', head);
    await publish(forge, { from }, ended(forge, 'pull_request'));
    await publish(forge, { answer: true, from }, commented('/self-heal apply'));
    expect(forge.comments.at(-1)?.body).toContain('limits.perBranch (2)');
    expect(forge.getHead('feature')).toBe(head);
  });

  it('PB-4 skips the red tests by an expiring entry in agents.yaml, and runs the tests again', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(asked, {});
    await publish(forge, { from }, ended(forge, 'pull_request'));
    await publish(forge, { answer: true }, commented('/self-heal retry'));
    expect(forge.reruns).toEqual([4242]);
    await publish(forge, { answer: true, from }, commented('/self-heal skip 30d\nplease'));
    expect(forge.getFiles('feature')['agents.yaml']).toMatch(
      /^# ours\nversion: 1\nlimits: \{ perBranch: 2 \}\nquarantine:\n {2}- test: shop\.spec\.ts › buys\n {4}until: \d{4}-\d\d-\d\d\n$/,
    );
  });

  it('PB-4 refuses everything to somebody who may not push', async () => {
    const forge = await new ForgeStub(files).github();
    const from = artifact(fixed, { fix });
    await publish(forge, { from }, ended(forge, 'pull_request'));
    for (const word of ['apply', 'retry', 'skip 3d'])
      await publish(forge, { answer: true, from }, commented(`/self-heal ${word}`, 'stranger'));
    expect(forge.reactions).toEqual(['-1', '-1', '-1']);
    expect(forge.reruns).toEqual([]);
    expect(forge.getFiles('feature')).toEqual(files);
  });

  it('PB-5 an artifact whose fix is refused is published, but not committed', async () => {
    const forge = await new ForgeStub(files).github();
    for (const patch of [
      fix.replaceAll('src/new.ts', '.github/workflows/own.yml'),
      fix.replaceAll('"Tanks"', '"Tank"'),
    ]) {
      const { exitCode, said } = await publish(
        forge,
        { from: artifact(fixed, { fix: patch }) },
        ended(forge, 'push'),
      );
      expect(exitCode).toBe(0);
      expect(said).toContain('not published');
    }
    expect([...forge.branches.keys()]).toEqual(['main', 'feature']);
  });

  /** An artifact whose run has nothing fixed but a file of this content. */
  const adding = (content: string, over: Partial<Report> = {}) =>
    artifact(
      { ...fixed, ...over },
      {
        fix: `diff --git a/src/new.ts b/src/new.ts\nnew file mode 100644\n${index(null, content)}--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1,${content.split('\n').length - 1} @@\n${content.replaceAll(/^(?=.)/gm, '+')}`,
      },
    );

  it('PB-5 commits only the fix that its comment shows, byte for byte', async () => {
    const forge = await new ForgeStub(files).github();
    const event = ended(forge, 'pull_request');
    const other = adding('export const sendsTheKeyOut = true;\n');
    await publish(forge, { from: artifact(fixed, { fix }) }, event);
    await publish(forge, { answer: true, from: other }, commented('/self-heal apply'));
    expect(forge.comments.at(-1)?.body).toContain('does not show the whole fix');
    expect(forge.reactions).toEqual(['-1']);
    expect(forge.getFiles('feature')).toEqual(files);
  });

  it.each([
    ['is too long to be shown', () => adding(`${'x'.repeat(99)}\n`.repeat(900))],
    ['has text that nobody sees', () => adding('const a = 1; // \u202E 2\n')],
    ['has text out of view', () => adding(`const a = 1;${' '.repeat(200)}send(key);\n`)],
    ['may hold a secret', () => adding(`const key = 'ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}';\n`)],
    ['no attempt has kept', () => adding('failed();\n', asked)],
  ])('PB-5 neither offers nor commits a fix that %s', async (_, made) => {
    const forge = await new ForgeStub(files).github();
    const from = made();
    await publish(forge, { from }, ended(forge, 'pull_request'));
    expect(forge.comments[0]?.body).not.toContain('/self-heal apply');
    await publish(forge, { answer: true, from }, commented('/self-heal apply'));
    expect(forge.getFiles('feature')).toEqual(files);
    expect(forge.writes.length).toBeLessThan(9);
  });

  it.each([
    ['a variation selector', 'const a = 1; // \ufe00\n'],
    ['gaps', `const a = 1;${' '.repeat(119)}/*${' '.repeat(119)}*/send(key);\n`],
    ['a possible secret', `const key = 'ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}';\n`],
  ])('PB-5 proposes no fix of the main branch that has %s', async (_, content) => {
    const forge = await new ForgeStub(files).github();
    const { said } = await publish(forge, { from: adding(content) }, ended(forge, 'push'));
    expect(said).toContain('not published');
    expect([...forge.branches.keys()]).toEqual(['main', 'feature']);
  });

  it('PB-5 nothing in a pull request closes an issue or refers to one', async () => {
    const forge = await new ForgeStub(files).github();
    const summary = String.raw`Fixes GH-13, closes https://github.com/own/shop/issues/14, \#12, other/own#5`;
    const attempts = [aReportAttempt({ claim: { status: 'fixed', summary } })];
    const from = artifact({ ...fixed, causes: [aReportCause({ headline: summary, attempts })] }, { fix });
    await publish(forge, { from }, ended(forge, 'push'));
    const body = forge.proposals[0]?.body ?? '';
    expect(body).toContain('13');
    expect(body).not.toMatch(/fixes:? +GH-|closes:? +http/i);
    expect(body.replaceAll(/`[^`]*`/g, '')).not.toMatch(/GH-\d|https:\/\/github\.com|#\d/);
  });

  it('PB-1 publishes the run that was started last, wherever it is in the artifact', async () => {
    const forge = await new ForgeStub(files).github();
    const root = tempDir('artifact');
    writeStoredRun(path.join(root, 'z'), { ...fixed, startedAt: '2026-01-01T00:00:00.000Z' });
    writeStoredRun(path.join(root, 'a'), aReport({ startedAt: '2026-01-02T00:00:00.000Z' }));
    const { said } = await publish(forge, { from: root }, ended(forge, 'push'));
    expect(said).toContain('main is green');
  });

  it('PB-5 commits a file with a non-ASCII name under that name', async () => {
    const forge = await new ForgeStub(files).github();
    const named = fix.replaceAll('src/new.ts', 'src/größe.ts');
    await publish(forge, { from: artifact(fixed, { fix: named }) }, ended(forge, 'push'));
    expect(forge.getFiles('self-heal/fix-main')['src/größe.ts']).toBe('export const added = true;\n');
  });

  it('PB-5 no text becomes an instruction in a commit message', async () => {
    const forge = await new ForgeStub(files).github();
    const headline =
      '[skip ci] closes #12 GH-3 @ann ***NO_CI*** https://x.test/issues/1\n\nCo-authored-by: a <b@c>';
    const from = artifact({ ...fixed, causes: [aReportCause({ headline })] }, { fix });
    await publish(forge, { from }, ended(forge, 'push'));
    const message = forge.getMessage('self-heal/fix-main');
    expect(message).toContain(
      '- skip ci closes 12 GH 3 ann NO_CI https x.test issues 1 Co authored by a b c\n',
    );
  });

  it('PB-4 escapes a name that agents.yaml would read as a variable', async () => {
    const forge = await new ForgeStub(files).github();
    const test = {
      ...asked.tests[0],
      title: ['shop.spec.ts', 'renders ${name} and $${x}'],
    } as Report['tests'][number];
    const from = artifact({ ...asked, tests: [test] }, {});
    for (const days of [10, 20]) {
      await publish(forge, { from }, ended(forge, 'pull_request'));
      await publish(forge, { answer: true, from }, commented(`/self-heal skip ${days}d`));
    }
    const read = parseAgentsFile(forge.getFiles('feature')['agents.yaml'] ?? '', {});
    expect(read.ok && read.value.quarantine?.map(({ test }) => test)).toEqual([
      'shop.spec.ts › renders ${name} and $${x}',
    ]);
  });

  it('PB-5 EV-9 no annotation of the check contains the token, not even where a long text is cut', async () => {
    const forge = await new ForgeStub(files).github();
    const token = 'ghs_secretOfTheJob0123456789';
    const headline = `${token} ${'x'.repeat(455)} ${token}`;
    const leaking = { ...fixed, causes: [aReportCause({ headline, source: 'src/shop.ts:2:1' })] };
    await publish(forge, { from: artifact(leaking, {}) }, ended(forge, 'pull_request'));
    const said = JSON.stringify(forge.checks);
    expect(said).toContain('[masked: value of GITHUB_TOKEN');
    expect(said).not.toContain('ghs_secret');
  });

  it('PB-5 no output contains the token, even if the forge repeats it', async () => {
    const forge = await new ForgeStub(files).github();
    const { exitCode, said } = await publish(
      forge,
      { from: artifact(fixed, { fix }) },
      {
        ...ended(forge, 'push'),
        repository: { full_name: 'other/ghs_secretOfTheJob0123456789', default_branch: 'main' },
      },
    );
    expect(exitCode).toBe(2);
    expect(said).toMatch(/GET http\S+\/repos\/other\//);
    expect(said).not.toContain('secretOfTheJob');
  });
});

it('PB-1 reports a missing artifact, token or CI system', async () => {
  const forge = await new ForgeStub(files).github();
  const event = ended(forge, 'push');
  const empty = tempDir('empty');
  const from = artifact(fixed, {});
  expect(await publish(forge, { from: empty }, event)).toMatchObject({ exitCode: 2 });
  expect(await publish(forge, {}, event)).toMatchObject({ exitCode: 2 });
  expect(await publish(forge, { from }, event, { GITHUB_TOKEN: '' })).toMatchObject({ exitCode: 2 });
  expect(await publish(forge, { from }, event, { GITHUB_ACTIONS: '' })).toMatchObject({
    exitCode: 2,
  });
  expect(forge.writes).toEqual([]);
  expect(await selfHealPublish(forge, ['--from', empty], event)).toMatchObject({ exitCode: 2, stdout: '' });
  const published = await selfHealPublish(forge, ['--from', from], event);
  expect(published).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('main') as unknown });
});

describe('on GitLab', () => {
  const mergeRequest = (forge: ForgeStub) => ({
    CI_MERGE_REQUEST_IID: '7',
    CI_COMMIT_SHA: forge.getHead('feature'),
  });

  it('PB-1 PB-2 a merge request gets one note, a status, and suggestions', async () => {
    const forge = await new ForgeStub(files).gitlab();
    forge.diff = { path: 'tests/shop.spec.ts', patch: '@@ -1,2 +1,2 @@\n test(\n+  expect(title)\n' };
    const from = artifact(asked, { attempt: testsPatch });
    for (const _ of [1, 2])
      expect(await publish(forge, { from }, 'gitlab', mergeRequest(forge))).toMatchObject({
        exitCode: 0,
      });
    expect(forge.comments).toHaveLength(1);
    expect(forge.checks[0]).toMatchObject({ head: forge.getHead('feature'), conclusion: 'failed' });
    expect(forge.suggestions.map(({ body }) => body)).toEqual([
      expect.stringMatching(/^tests\/shop\.spec\.ts:2\n.*\n```suggestion:-0\+0\n/),
    ]);
    expect(forge.tokens).toEqual(new Set(['glpat-secretOfTheJob012345']));
  });

  it('PB-3 PB-4 the main branch gets one merge request, and a job applies the fix to its branch', async () => {
    const forge = await new ForgeStub(files).gitlab();
    const from = artifact(fixed, { fix });
    const other = artifact(fixed, { fix: fix.replace('added = true', 'added = key') });
    const main = { CI_COMMIT_BRANCH: 'main', CI_COMMIT_SHA: forge.getHead('main') };
    for (const _ of [1, 2]) await publish(forge, { from }, 'gitlab', main);
    expect(forge.proposals).toMatchObject([{ branch: 'self-heal/fix-main' }]);
    expect(forge.getFiles('self-heal/fix-main')['src/new.ts']).toBe('export const added = true;\n');
    const job = mergeRequest(forge);
    // Nothing is shown yet, and then not this.
    expect(await publish(forge, { apply: true, from }, 'gitlab', job)).toMatchObject({ exitCode: 1 });
    await publish(forge, { from }, 'gitlab', job);
    expect(await publish(forge, { apply: true, from: other }, 'gitlab', job)).toMatchObject({ exitCode: 1 });
    expect(forge.getFiles('feature')).toEqual(files);
    expect(await publish(forge, { apply: true, from }, 'gitlab', job)).toMatchObject({ exitCode: 0 });
    expect(forge.getFiles('feature')['src/shop.ts']).toContain('Thanks');
    expect(await publish(forge, { apply: true, from }, 'gitlab', job)).toMatchObject({ exitCode: 1 });
  });
});
