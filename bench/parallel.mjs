// Measures how much longer a run that heals 8 causes with 8 agents, or 20 with 20, takes than one that heals 1 (SC-3). The agents wait 30 s, as for
// their provider; Playwright, which runs one run at a time, adds the rest. No browser; all fixes are fully proven (HN-5).
// Usage: node bench/parallel.mjs [--agents 8] [--agents 20] [--seconds 30], after `npm run build`; the last line is the outcome as JSON.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { scratchProject, selfHeal } from './scratch-project.mjs';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', multiple: true, default: ['8', '20'] },
    seconds: { type: 'string', default: '30' },
  },
});
const agentMs = Number(values.seconds) * 1000;
/** The limits, for an idle machine: above 1, each cause adds one Playwright run. */
const limits = { 8: 1.5, 20: 2.2 };

const one = measure(1);
say(one);
const outcome = values.agents.map((agents) => {
  const limit = limits[agents] ?? Infinity;
  const many = measure(Number(agents));
  const ratio = Math.round((many.seconds / one.seconds) * 100) / 100;
  say(many);
  console.log(`ratio ${ratio}, at most ${limit}`);
  if (ratio > limit || many.healed !== many.causes) process.exitCode = 1;
  return { ...many, ratio };
});
if (one.healed !== 1) process.exitCode = 1;
console.log(JSON.stringify({ agentMs, load: loadavg()[0], one, outcome }));

function say({ causes, healed, runs, seconds, most }) {
  console.log(
    `${causes} causes: ${seconds} s, ${runs} Playwright runs, ${most} agents at the same time, ${healed} healed`,
  );
}

function measure(causes) {
  const { dir, remove } = scratchProject(project(Array.from({ length: causes }, (_, at) => `p${at + 1}`)));
  try {
    const start = performance.now();
    const { SELF_HEAL_RUN_ID: _, ...env } = process.env;
    const { status, stderr } = spawnSync(process.execPath, [selfHeal, 'run', '--agents', String(causes)], {
      cwd: dir,
      env: { ...env, CI: '1' },
      encoding: 'utf8',
    });
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    if (status !== 0) console.error(stderr);
    const [id] = readdirSync(path.join(dir, '.self-heal/runs'));
    const kept = (file) => readFileSync(path.join(dir, '.self-heal/runs', id, file), 'utf8');
    const { playwrightRuns: runs, healed } = JSON.parse(kept('report.json')).totals;
    return { causes, seconds, runs, healed, most: mostAtWork(kept('events.ndjson')) };
  } finally {
    remove();
  }
}

function mostAtWork(events) {
  let [now, most] = [0, 0];
  for (const [, type] of events.matchAll(/"type":"agent\.(started|ended)"/g)) {
    now += type === 'started' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

/** Returns a project in which every part is a line of the same file, so that the patches of all agents have to be merged. */
function project(parts) {
  const spec = (part) => `import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    test('part ${part}', () => {
      expect(readFileSync('shop.txt', 'utf8').includes('${part}: right'), 'part-${part}').toBe(true);
    });`;
  return {
    '.gitignore': 'node_modules\ntest-results\n',
    'playwright.config.ts': `import { defineConfig } from '@playwright/test';
      export default defineConfig({ testDir: 'tests', workers: 2, reporter: [['line']] });`,
    ...Object.fromEntries(parts.map((part) => [`tests/${part}.spec.ts`, spec(part)])),
    'tests/green.spec.ts': `import { test } from '@playwright/test';\ntest('is green', () => {});`,
    'shop.txt': parts.map((part) => `${part}: wrong\n\n\n\n`).join(''),
    'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
      const part = /^Test:.*part (\\w+)/m.exec(readFileSync(0, 'utf8'))[1];
      await new Promise((done) => setTimeout(done, ${agentMs}));
      writeFileSync('shop.txt', readFileSync('shop.txt', 'utf8').replace(part + ': wrong', part + ': right'));`,
    'agents.yaml': `version: 1\nrunner: own\nrunners: { own: { command: [node, fixer.mjs], prompt: stdin } }\n`,
  };
}
