import { beforeAll, describe, expect, it } from 'vitest';
import {
  causeOf,
  scratchProject,
  shopFiles,
  type Finished,
  type ScratchProject,
} from '../rig/scratch-project.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

/** A fixer whose first fix only hides the fault, and whose next one, if it is told so, mends it. */
const fixer = `import { readFileSync, writeFileSync } from 'node:fs';
const page = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1) + '.html';
const isTold = readFileSync(0, 'utf8').includes('still says Tanks');
writeFileSync(page, readFileSync(page, 'utf8').replace('Tanks', isTold ? 'Thanks' : 'Tanks<!-- Thanks -->'));
console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');
`;

/** Answers about the page in the patch: by what it says, or while changing it. */
const reviewer = `import { readFileSync, writeFileSync } from 'node:fs';
const asked = readFileSync(0, 'utf8');
if (!asked.startsWith('/review-fix ') || !asked.includes('+<button')) process.exit(1);
const [, name] = /^\\+\\+\\+ b\\/(\\w+)\\.html/m.exec(asked);
const file = name + '.html';
const say = (opinion) => console.log('SELF-HEAL: ' + JSON.stringify(opinion));
if (name === 'unsure') {
  writeFileSync(file, 'mine');
  say({ verdict: 'unsure', file, line: 1, why: 'a comment' });
} else if (readFileSync(file, 'utf8').includes('<!--')) say({ verdict: 'hides', file, line: 1, why: 'the button still says Tanks' });
else say({ verdict: 'honest', why: 'it says Thanks' });
`;

const names = ['hides', 'unsure'];
const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = shopFiles;
const files = {
  ...shared,
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
retries: { backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { review: review-fix, repeat: 1, flips: 0, regression: none }`,
};

let project: ScratchProject;
let run: Finished;
beforeAll(async () => {
  project = await scratchProject(files, tempDirOfFile('review'));
  run = await project.selfHeal(['run']);
});

describe('a second opinion of a fix', () => {
  it('HN-11 rejects one that hides the fault, and the next agent is told why', async () => {
    const because = expect.stringContaining('hides.html:1') as unknown;
    expect(causeOf(run, 'hides')).toMatchObject({
      verdict: 'healed',
      attempts: [{ end: { kind: 'rejected', because } }, { end: { kind: 'green' }, notes: [] }],
    });
    expect(await project.read('hides.html')).toBe('<button>Thanks</button>');
    expect(run.events.at(-1)).toMatchObject({ type: 'run.ended', exitCode: 0, agentRuns: 6 });
  });

  it('HN-11 HN-1 that is unsure is shown to the reviewer, and what was changed in the copy is discarded', async () => {
    const notes = [{ file: 'unsure.html', line: 1, says: expect.stringContaining('a comment') as unknown }];
    expect(causeOf(run, 'unsure')).toMatchObject({
      verdict: 'healed',
      attempts: [{ end: { kind: 'green' }, notes }],
    });
    expect(run.stderr).toMatch(/review +unsure\.html:1 /);
    expect(await project.read('unsure.html')).toContain('Tanks<!-- Thanks -->');
    expect(run.report?.warnings).toEqual([expect.stringContaining('unsure.html')]);
  });
});
