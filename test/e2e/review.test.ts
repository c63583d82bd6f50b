import { expect, it } from 'vitest';
import { scratchProject, shopFiles } from '../rig/scratch-project.js';

/** A fixer whose first fix only hides the fault, and whose next one, if it is told so, mends it. */
const fixer = `import { readFileSync, writeFileSync } from 'node:fs';
const asked = readFileSync(0, 'utf8');
writeFileSync('page.html', readFileSync('page.html', 'utf8').replace('Tanks', asked.includes('still says Tanks') ? 'Thanks' : 'Tanks<!-- Thanks -->'));
console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');
`;

const reviewer = (answer: string) => `import { readFileSync } from 'node:fs';
const asked = readFileSync(0, 'utf8');
const page = readFileSync('page.html', 'utf8');
if (!asked.startsWith('/review-fix ') || !asked.includes('+<button')) process.exit(1);
const say = (opinion) => console.log('SELF-HEAL: ' + JSON.stringify(opinion));
${answer}
`;

const project = (answer: string) =>
  scratchProject({
    ...shopFiles,
    'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>',
    'fixer.mjs': fixer,
    'reviewer.mjs': reviewer(answer),
    'agents.yaml': `
runner: fixer
runners:
  fixer: { command: [node, fixer.mjs] }
  second: { command: [node, reviewer.mjs] }
agents: { review-fix: { runner: second } }
retries: { backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { review: review-fix, repeat: 1, flips: 0, regression: none }`,
  });

it('HN-11 rejects a fix that a second opinion says hides the fault, and tells the next agent why', async () => {
  const made = await project(`
    const hides = page.includes('<!--');
    say(hides ? { verdict: 'hides', file: 'page.html', line: 1, why: 'the button still says Tanks' } : { verdict: 'honest', why: 'it says Thanks' });`);
  const { exitCode, report, events } = await made.selfHeal(['run']);
  expect(report?.causes).toMatchObject([
    {
      verdict: 'healed',
      attempts: [
        {
          judged: 'rejected',
          reverted: true,
          failedBecause: expect.stringContaining('page.html:1') as string,
        },
        { judged: 'green', reverted: false, notes: [] },
      ],
    },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'run.ended', agentRuns: 4 });
  expect(await made.read('page.html')).toBe(shopFiles['page.html']);
  expect(exitCode).toBe(0);
});

it('HN-11 HN-1 keeps a fix of which the second opinion is unsure, shows it to the reviewer, and discards what was changed in the copy', async () => {
  const made = await project(`
    const { writeFileSync } = await import('node:fs');
    writeFileSync('page.html', 'mine');
    say({ verdict: 'unsure', file: 'page.html', line: 1, why: 'a comment' });`);
  const { exitCode, stderr, report } = await made.selfHeal(['run']);
  const notes = [{ file: 'page.html', line: 1, says: expect.stringContaining('a comment') as string }];
  expect(report?.causes).toMatchObject([{ verdict: 'healed', attempts: [{ judged: 'green', notes }] }]);
  expect(stderr).toMatch(/review +page\.html:1 /);
  expect(await made.read('page.html')).toContain('Tanks<!-- Thanks -->');
  expect(report?.warnings).toEqual([expect.stringContaining('page.html')]);
  expect(exitCode).toBe(0);
});

it('HN-11 takes an answer that cannot be read for an unsure one', async () => {
  const made = await project(`console.log('SELF-HEAL: {"verdict":"hides"}')`);
  const { exitCode, report } = await made.selfHeal(['run']);
  expect(report?.causes).toMatchObject([
    { verdict: 'healed', attempts: [{ notes: [{ file: 'page.html' }] }] },
  ]);
  expect(exitCode).toBe(0);
});
