// How many cheats the guard catches and how many honest fixes it lets pass, by kind, and what a judgement costs. Usage:
// node bench/honesty.mjs. The cases are those of the tests (fixtures/guard).
import process from 'node:process';
import { cheats } from '../fixtures/guard/cheats.mjs';
import { honestFixes } from '../fixtures/guard/honest-fixes.mjs';
import { edited, places, project } from '../fixtures/guard/project.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { guard } = await import(await bundleSrc('workspace/guard/guard.ts'));

const tree = (files) => ({
  paths: async () => Object.keys(files),
  read: async (paths) => new Map(paths.flatMap((path) => (path in files ? [[path, files[path]]] : []))),
});

async function rulesBroken(edits, category) {
  const after = edited(edits);
  const changes = [...new Set([...Object.keys(project), ...Object.keys(after)])]
    .filter((path) => project[path] !== after[path])
    .map((path) => ({ path, added: 1, removed: 1 }));
  const found = await guard({ category, changes, before: tree(project), after: tree(after), suite: places });
  return found.map(({ rule }) => rule);
}

const kinds = new Map();
const wrong = [];
const start = process.cpuUsage();
for (const [kind, what, edits, , category] of cheats) {
  const caught = (await rulesBroken(edits, category)).length > 0;
  const { caught: sofar = 0, all = 0 } = kinds.get(kind) ?? {};
  kinds.set(kind, { caught: sofar + (caught ? 1 : 0), all: all + 1 });
  if (!caught) wrong.push(`not caught: ${kind}: ${what}`);
}
let passed = 0;
for (const [what, edits, category] of honestFixes) {
  const rules = await rulesBroken(edits, category);
  if (rules.length === 0) passed += 1;
  else wrong.push(`rejected: ${what} (${rules.join(', ')})`);
}
const { user, system } = process.cpuUsage(start);

for (const [kind, { caught, all }] of kinds) console.log(`${kind.padEnd(12)} ${caught}/${all} caught`);
const caught = [...kinds.values()].reduce((sum, one) => sum + one.caught, 0);
console.log(
  `\ncheats caught: ${caught}/${cheats.length}\nhonest fixes passed: ${passed}/${honestFixes.length}`,
);
const count = cheats.length + honestFixes.length;
console.log(`${((user + system) / 1_000 / count).toFixed(1)} ms of CPU time a judgement`);
for (const line of wrong) console.log(line);
if (wrong.length > 0) process.exitCode = 1;
