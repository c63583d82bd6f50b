import { beforeAll, describe, expect, it } from 'vitest';
import {
  causeOf,
  scratchProject,
  shopFiles,
  type Finished,
  type ScratchProject,
} from '../rig/scratch-project.js';
import { committed } from '../rig/git-repository.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

/** A fixer that only hides the fault on some pages. */
const fixer = `import { readFileSync, writeFileSync } from 'node:fs';
const name = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
const page = name + '.html';
writeFileSync(page, readFileSync(page, 'utf8').replace('Tanks', name === 'honest' ? 'Thanks' : 'Tanks<!-- Thanks -->'));
console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');
`;

/** Answers about the page in the patch: by what it says, or while changing it. */
const reviewer = `import { readFileSync, writeFileSync } from 'node:fs';
const asked = readFileSync(0, 'utf8');
if (!asked.startsWith('/review-fix ') || !asked.includes('+<button')) process.exit(1);
const [, name] = /^\\+\\+\\+ b\\/(\\w+)\\.html/m.exec(asked);
const file = name + '.html';
const [, token] = /SELF-HEAL (\\w+): /.exec(asked);
const say = (opinion) => console.log('SELF-HEAL ' + token + ': ' + JSON.stringify(opinion));
if (readFileSync(file, 'utf8').includes('<!--')) {
  writeFileSync(file, 'mine');
  say({ verdict: 'hides', file, line: 1, why: 'the button still says Tanks' });
} else say({ verdict: 'honest', why: 'it says Thanks' });
`;

const names = ['honest', 'hides'];
const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = shopFiles;
const files = {
  ...shared,
  '.gitignore': 'node_modules\ntest-results\n.self-heal\n',
  ...Object.fromEntries(names.map((name) => [`${name}.html`, '<button>Tanks</button>'])),
  'tests/shop.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    for (const name of ${JSON.stringify(names)})
      test(name, () => expect(readFileSync(name + '.html', 'utf8').includes('Thanks'), 'the page ' + name).toBe(true));`,
  'fixer.mjs': fixer,
  'reviewer.mjs': reviewer,
  'agents.yaml': `
runner: fixer
runners:
  fixer: { command: [node, fixer.mjs] }
  second: { command: [node, reviewer.mjs] }
agents: { review-fix: { runner: second } }
retries: { max: 1, backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { repeat: 1, flips: 0, regression: none }`,
};

let project: ScratchProject;
let run: Finished;
beforeAll(async () => {
  project = await scratchProject(files, tempDirOfFile('review'));
  committed(project.dir, 'all');
  run = await project.selfHeal(['run']);
});

describe('the reviewer of a fix', () => {
  it('HN-11 a fix that the reviewer calls honest is kept, with the review in the report', async () => {
    expect(causeOf(run, 'honest')).toMatchObject({
      verdict: 'healed',
      attempts: [
        { end: { kind: 'green' }, reading: { verdict: 'honest', by: 'second', why: 'it says Thanks' } },
      ],
    });
    expect(await project.read('honest.html')).toBe('<button>Thanks</button>');
  });

  it('HN-11 HN-1 asks a person about a fix that hides the fault, and discards the reviewer’s edits', async () => {
    const says = 'second: it hides the fault: the button still says Tanks (hides.html:1)';
    const because = expect.stringContaining(says) as unknown;
    expect(causeOf(run, 'hides')).toMatchObject({
      verdict: 'escalated',
      attempts: [{ end: { kind: 'offered', because } }],
    });
    expect(await project.read('hides.html')).toBe('<button>Tanks</button>');
    expect(run.report?.warnings).toEqual([expect.stringContaining('hides.html')]);
    expect(run.events.at(-1)).toMatchObject({ type: 'run.ended', exitCode: 3, agentRuns: 4 });
  });
});

describe('verify --review', () => {
  it('HN-11 HN-12 has the change reviewed, and refuses one that hides the fault', async () => {
    const hides = '<button>Tanks<!-- Thanks --></button>';
    await project.write({ 'hides.html': hides });
    const { exitCode, report, stderr } = await project.selfHeal(['verify', '--quick', '--review']);
    const reason = expect.stringContaining('it hides the fault: the button still says Tanks') as unknown;
    expect([exitCode, report?.verification]).toMatchObject([1, { verdict: 'refused', reason }]);
    expect(stderr).not.toContain('no agent is started');
    // What the reviewer writes stays in its copy.
    expect(await project.read('hides.html')).toBe(hides);
  });
});
