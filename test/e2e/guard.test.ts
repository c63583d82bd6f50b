import { describe, expect, it } from 'vitest';
import { agentsYaml, editingAgent, pageFiles, scratchProject, shopFiles } from '../rig/scratch-project.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };

describe('the guard in a run', () => {
  it('HN-3 BL-6 a weakened test does not enter: it is left out, and a person is asked, with what the test checks no longer', async () => {
    const assertion = "await expect(page.getByText('Thanks')).toBeVisible();";
    const cheating = {
      'fixer.mjs': editingAgent([['tests/shop.spec.ts', assertion, '']]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    };
    const project = await scratchProject({ ...pageFiles, ...broken, ...cheating });
    const { exitCode, stderr, report, events } = await project.selfHeal(['run']);
    expect(exitCode).toBe(3);
    expect(await project.read('tests/shop.spec.ts')).toBe(pageFiles['tests/shop.spec.ts']);
    expect(report?.causes).toMatchObject([
      {
        verdict: 'escalated',
        attempts: [
          {
            end: { kind: 'offered', side: 'tests' },
            cut: [{ file: 'tests/shop.spec.ts' }],
            notes: [
              { says: expect.stringContaining('expect(getByText("Thanks")).toBeVisible()') as unknown },
            ],
          },
        ],
      },
    ]);
    expect(report?.totals.agentRuns).toBe(1);
    const retests = events.filter((event) => event.type === 'suite.started' && event.purpose === 'retest');
    expect(retests).toEqual([]);
    expect(stderr).toContain('left out of the fix: tests/shop.spec.ts');
    expect(await project.read('.self-heal/latest/attempts/1.cut.patch')).toContain('-      await expect(');
  });

  it('HN-4 accepts an honest locator change for a ui-error, and reports what the new locator finds', async () => {
    const renamed = {
      'page.html': '<button id="purchase" onclick="this.textContent = \'Thanks\'">Buy</button>',
      'fixer.mjs': editingAgent([['tests/shop.spec.ts', "locator('#buy')", "getByRole('button')"]]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    };
    const project = await scratchProject({ ...pageFiles, ...renamed });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.causes[0]).toMatchObject({
      category: 'ui-error',
      verdict: 'healed',
      attempts: [
        {
          notes: [
            {
              file: 'tests/shop.spec.ts',
              says: 'locator("#buy") was changed to getByRole("button"), which finds button "Thanks"',
            },
          ],
        },
      ],
    });
    expect(exitCode).toBe(0);
  });

  it.each([
    ['some of them', "getByRole('listitem').filter({ hasText: 'Ann' })", 'offered', 3],
    ['all of them', "getByRole('list', { name: 'Anns' }).getByRole('listitem')", 'green', 0],
  ])('HN-4 a new locator for a count that finds %s is judged by the page', async (_, now, kind, code) => {
    const spec = 'tests/shop.spec.ts';
    const counts = {
      'page.html':
        '<ul aria-label="All"><li>Ann</li><li>Ann B</li><li>Bob</li></ul><ul aria-label="Anns"><li>x</li><li>y</li></ul>',
      [spec]: pageFiles[spec]
        .replace("await page.locator('#buy').click();", '')
        .replace("page.getByText('Thanks')).toBeVisible()", "page.locator('.row')).toHaveCount(2)"),
      'fixer.mjs': editingAgent([[spec, "locator('.row')", now]]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    };
    const project = await scratchProject({ ...pageFiles, ...counts });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.causes[0]?.attempts).toMatchObject([{ end: { kind } }]);
    expect(exitCode).toBe(code);
    expect((await project.read(spec)).includes(now)).toBe(code === 0);
  });

  it('HN-4 leaves out what an agent changed in the tests and in protected files for other classes, and heals with the rest', async () => {
    const spec = 'tests/shop.spec.ts';
    const project = await scratchProject({
      ...pageFiles,
      'page.html': '<button id="buy">Buy</button><script src="buy.js"></script>',
      'buy.js': 'buy.onclick = () => { buy.textContent = thanks(); };\n',
      'fixer.mjs': editingAgent([
        ['buy.js', 'thanks()', "'Thanks'"],
        ['playwright.config.ts', 'export', '// mine\nexport'],
        [spec, 'toBeVisible()', 'toBeAttached()'],
        ['package.json', '"scratch"', '"scratch", "scripts": { "prepare": "x" }'],
      ]),
      'package.json': '{ "name": "scratch" }\n',
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    });
    const config = await project.read('playwright.config.ts');
    const { exitCode, report, stderr } = await project.selfHeal(['run']);
    const [cause] = report?.causes ?? [];
    expect([exitCode, cause?.category, cause?.verdict]).toEqual([0, 'runtime-error', 'healed']);
    const [attempt] = cause?.attempts ?? [];
    expect(attempt?.cut.map(({ file }) => file).toSorted()).toEqual([
      'package.json',
      'playwright.config.ts',
      spec,
    ]);
    expect(attempt?.files.map(({ path: file }) => file)).toEqual(['buy.js']);
    expect(JSON.parse(await project.read('package.json'))).toEqual({ name: 'scratch' });
    expect(stderr).toContain(`left out of the fix: ${spec}`);
    expect(await project.read('.self-heal/latest/attempts/1.cut.patch')).toContain('toBeAttached');
    expect(await project.read(spec)).toBe(pageFiles[spec]);
    expect(await project.read('playwright.config.ts')).toBe(config);
    expect(await project.read('buy.js')).toContain("'Thanks'");
  });

  it('HN-4 ME-7 a fix that needs a protected file is proven and asked about, and an answer applies it', async () => {
    const server = (file: string) => `
    import { defineConfig } from '@playwright/test';
    process.env.PAGE = '${file}';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`;
    const config = 'playwright.config.ts';
    const project = await scratchProject({
      ...shopFiles,
      [config]: server('missing.html'),
      'tests/shop.spec.ts': shopFiles['tests/shop.spec.ts'].replace("'page.html'", 'process.env.PAGE!'),
      'fixer.mjs': editingAgent([[config, 'missing.html', 'page.html']]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.causes[0]?.attempts).toMatchObject([
      { end: { kind: 'offered', side: 'whole' }, cut: [{ file: config }], files: [{ path: config }] },
    ]);
    expect(exitCode).toBe(3);
    expect(await project.read(config)).toBe(server('missing.html'));
    const id = report?.escalations[0]?.id ?? '';
    const shown = await project.selfHeal(['escalations', 'show', id]);
    expect(shown.stdout).toContain("+    process.env.PAGE = 'page.html';");
    const answer = await project.selfHeal(['escalations', 'resolve', id, '--choice', 'whole']);
    expect(answer.report?.causes, answer.stderr).toMatchObject([{ verdict: 'healed' }]);
    expect(answer.exitCode).toBe(0);
    expect(await project.read(config)).toBe(server('page.html'));
  });

  it('HN-3 rejects a fix that works only for the input of the test, because it is red with another input', async () => {
    const greeting = {
      'page.html': '<input id="name"><button>Go</button><p id="said"></p><script src="greet.js"></script>',
      'greet.js':
        "const greet = (name) => 'Hi';\ndocument.querySelector('button').onclick = () => {\n  said.textContent = greet(document.querySelector('#name').value);\n};\n",
      'tests/shop.spec.ts': pageFiles['tests/shop.spec.ts']
        .replace(
          "locator('#buy').click()",
          "locator('#name').fill('Ada');\n      await page.getByRole('button').click()",
        )
        .replace("page.getByText('Thanks')).toBeVisible()", "page.locator('#said')).toHaveText('Hello Ada')"),
      'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
        const isTold = readFileSync(0, 'utf8').includes('## Rejected');
        const fix = isTold ? "'Hello ' + name" : "name === 'Ada' ? 'Hello Ada' : 'Hi'";
        writeFileSync('greet.js', readFileSync('greet.js', 'utf8').replace("'Hi'", fix));
        console.log('SELF-HEAL: {"status":"fixed","summary":"greets"}');`,
      'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    };
    const project = await scratchProject({ ...pageFiles, ...greeting });
    const { exitCode, report, events } = await project.selfHeal(['run']);
    expect(report?.causes[0]?.attempts).toMatchObject([
      {
        end: { kind: 'rejected', violations: [{ rule: 'input-hard-coded', file: 'greet.js', line: 1 }] },
      },
      { end: { kind: 'green' } },
    ]);
    expect(exitCode).toBe(0);
    const others = events.filter(
      (event) => event.type === 'suite.started' && event.purpose === 'other-input',
    );
    // What is red is run once more, and the honest fix in one run.
    expect(others).toHaveLength(3);
    expect(await project.read('greet.js')).toContain("'Hello ' + name");
    expect(await project.read('tests/shop.spec.ts')).toBe(greeting['tests/shop.spec.ts']);
  });
});
