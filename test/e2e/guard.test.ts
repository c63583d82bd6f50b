import { beforeAll, describe, expect, it } from 'vitest';
import {
  agentsYaml,
  causeOf,
  type Finished,
  pageFiles,
  scratchProject,
  type ScratchProject,
} from '../rig/scratch-project.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

type Edit = readonly [file: string, from: string, to: string];

/** A page that is broken, what its test does there, and what an agent does about it. */
interface Fault {
  readonly page: string;
  readonly steps: string;
  readonly more?: Record<string, string>;
  readonly edits: readonly Edit[];
}

const spec = (name: string) => `tests/${name}.spec.ts`;
const page = (name: string) => `pages/${name}.html`;
const config = 'playwright.config.ts';
const faults: Record<string, Fault> = {
  weakened: {
    page: '<button>Tanks</button>',
    steps: "expect(readFileSync('pages/weakened.html', 'utf8').includes('Thanks')).toBe(true);",
    edits: [[spec('weakened'), '.toBe(true)', '.toBeDefined()']],
  },
  renamed: {
    page: '<button id="purchase" onclick="this.textContent = \'Thank you\'">Buy</button>',
    steps:
      "await page.locator('#order').click();\n      await expect(page.getByText('Thank you')).toBeVisible();",
    edits: [[spec('renamed'), "locator('#order')", "getByRole('button')"]],
  },
  'cut patch': {
    page: '<button id="pay">Pay</button><script src="pay.js"></script>',
    steps: "await page.locator('#pay').click();\n      await expect(page.getByText('Paid')).toBeVisible();",
    more: { 'pages/pay.js': 'pay.onclick = () => { pay.textContent = paid(); };\n' },
    edits: [
      ['pages/pay.js', 'paid()', "'Paid'"],
      [config, 'export', '// mine\nexport'],
      [spec('cut patch'), 'toBeVisible()', 'toBeAttached()'],
      ['package.json', '"scratch"', '"scratch", "scripts": { "prepare": "x" }'],
    ],
  },
  'painted over': {
    page: `<p id="out"></p><script>const orders = []; out.textContent = orders[0].name + ', Sent';</script>`,
    steps: "await expect(page.getByText('Sent')).toBeVisible();",
    edits: [[page('painted over'), '<p id="out"></p>', '<p id="out">Sent</p>']],
  },
  'protected file': {
    page: '<p>Refunded</p>',
    steps: "expect(process.env.PAGE, 'the page').toBe('refund.html');",
    edits: [[config, 'missing.html', 'refund.html']],
  },
};

/** Only what looks at its page in a browser starts one. */
const testOf = (name: string) => {
  const steps = faults[name]?.steps ?? '';
  const goes = `await page.goto(pathToFileURL(path.resolve('${page(name)}')).href);`;
  return `
    import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    import path from 'node:path';
    import { pathToFileURL } from 'node:url';
    test('${name}', async (${steps.includes('page.') ? '{ page }' : ''}) => {
      ${steps.includes('page.') ? goes : ''}
      ${steps}
    });`;
};

const agent = `import { readFileSync, writeFileSync } from 'node:fs';
const { test } = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8'));
for (const [file, from, to] of ${JSON.stringify(faults)}[test.titlePath.at(-1)].edits)
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');`;

const names = Object.keys(faults);
const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = pageFiles;
const files: Record<string, string> = {
  ...shared,
  [config]: shared[config]
    .replace('workers: 1', 'workers: 3, fullyParallel: true')
    .replace('export', "process.env.PAGE = 'missing.html';\n    export"),
  'package.json': '{ "name": "scratch" }\n',
  ...Object.fromEntries(names.map((name) => [spec(name), testOf(name)])),
  ...Object.fromEntries(names.map((name) => [page(name), faults[name]?.page ?? ''])),
  ...Object.assign({}, ...names.map((name) => faults[name]?.more ?? {})),
  'fixer.mjs': agent,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

let project: ScratchProject;
let run: Finished;
beforeAll(async () => {
  project = await scratchProject(files, tempDirOfFile('guard'));
  run = await project.selfHeal(['run']);
});

describe('the guard in a run', () => {
  it('HN-3 BL-6 leaves out a weakened test, and tells a person which checks it lost', async () => {
    const file = spec('weakened');
    expect(causeOf(run, 'weakened')).toMatchObject({
      verdict: 'escalated',
      attempts: [
        {
          end: { kind: 'offered', side: 'tests' },
          cut: [{ file }],
          notes: [{ says: expect.stringContaining('.toBe(true)') as unknown }],
        },
      ],
    });
    expect(await project.read(file)).toBe(files[file]);
    const { id } = causeOf(run, 'weakened');
    const retests = run.events.filter(
      (event) => event.type === 'suite.started' && event.purpose === 'retest' && event.causeId === id,
    );
    expect(retests).toEqual([]);
    expect(run.stderr).toContain(`left out of the fix: ${file}`);
  });

  it('HN-4 accepts an honest locator change for a ui-error, and names it', () => {
    const file = spec('renamed');
    const says = "page.locator('#order') was changed to page.getByRole('button')";
    expect(causeOf(run, 'renamed')).toMatchObject({
      category: 'ui-error',
      verdict: 'healed',
      attempts: [{ notes: [{ file, says }] }],
    });
  });

  it('HN-4 heals with the part of a change that touches neither tests nor protected files', async () => {
    const { category, verdict, attempts } = causeOf(run, 'cut patch');
    expect([category, verdict]).toEqual(['runtime-error', 'healed']);
    const [attempt] = attempts;
    const cut = ['package.json', config, spec('cut patch')];
    expect(attempt?.cut.map(({ file }) => file).toSorted()).toEqual(cut);
    expect(attempt?.files.map(({ path }) => path)).toEqual(['pages/pay.js']);
    expect(
      await project.read(`.self-heal/latest/${attempt?.patch?.replace('.patch', '.cut.patch')}`),
    ).toContain('toBeAttached');
    for (const file of cut) expect(await project.read(file)).toBe(files[file]);
    expect(await project.read('pages/pay.js')).toContain("'Paid'");
  });

  it('HN-3 RP-2 points the reviewer to a reason for the failure that is still present', () => {
    const says = expect.stringContaining('still says: Uncaught TypeError') as unknown;
    const notes = [{ file: spec('painted over'), says }];
    expect(causeOf(run, 'painted over')).toMatchObject({ verdict: 'healed', attempts: [{ notes }] });
  });

  it('HN-4 ME-7 a proven fix that changes a protected file waits for a person, whose answer applies it', async () => {
    const cause = causeOf(run, 'protected file');
    expect(cause.attempts[0]).toMatchObject({
      end: { kind: 'offered', side: 'whole' },
      cut: [{ file: config }],
      files: [{ path: config }],
    });
    expect(run.exitCode).toBe(3);
    const id = run.report?.escalations.find(({ causeId }) => causeId === cause.id)?.id ?? '';
    const shown = await project.selfHeal(['escalations', 'show', id]);
    expect(shown.stdout).toContain("+    process.env.PAGE = 'refund.html';");
    const answer = await project.selfHeal(['escalations', 'resolve', id, '--choice', 'whole']);
    expect(answer.report?.causes, answer.stderr).toMatchObject([{ verdict: 'healed' }]);
    expect(answer.exitCode).toBe(0);
    expect(await project.read(config)).toBe(files[config]?.replace('missing', 'refund'));
  });
});
