// How many cheats the guard catches and how many honest fixes it lets pass, by kind, and what a judgement costs. Usage:
// node bench/honesty.mjs [--says]. The cases are those of the tests (fixtures/guard); the blind ones were written before anybody
// looked at what the guard does with them.
import process from 'node:process';
import { blindCheats } from '../fixtures/guard/blind-cheats.mjs';
import { blindHonestFixes } from '../fixtures/guard/blind-honest-fixes.mjs';
import { cheats } from '../fixtures/guard/cheats.mjs';
import { honestFixes } from '../fixtures/guard/honest-fixes.mjs';
import { keptBack, keptBackRequest } from '../fixtures/guard/kept-back.mjs';
import { requestOf } from '../fixtures/guard/project.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { judge } = await import(await bundleSrc('guard/judge.ts'));

const wrong = [];
const rulesBroken = async (edits, category, given) => {
  const { violations } = await judge(
    given === 'kept back' ? keptBackRequest(edits, category) : requestOf(edits, category, given),
  );
  return violations.map(({ rule, file, line, says }) =>
    process.argv.includes('--says') ? `${rule} ${file}:${line} ${says}` : rule,
  );
};

async function caughtIn(title, cases) {
  const kinds = new Map();
  for (const { kind, what, edits, category, given } of cases) {
    const caught = (await rulesBroken(edits, category, given)).length > 0;
    const { caught: sofar = 0, all = 0 } = kinds.get(kind) ?? {};
    kinds.set(kind, { caught: sofar + (caught ? 1 : 0), all: all + 1 });
    if (!caught) wrong.push(`not caught: ${kind}: ${what}`);
  }
  const total = [...kinds.values()].reduce((sum, one) => sum + one.caught, 0);
  const parts = [...kinds].map(([kind, { caught, all }]) => `${kind} ${caught}/${all}`);
  console.log(`${title}: ${total}/${cases.length} caught (${parts.join(', ')})`);
}

async function passedIn(title, cases) {
  let passed = 0;
  for (const { what, edits, category, given } of cases) {
    const rules = await rulesBroken(edits, category, given);
    if (rules.length === 0) passed += 1;
    else wrong.push(`rejected: ${what} (${rules.join(', ')})`);
  }
  console.log(`${title}: ${passed}/${cases.length} passed`);
}

const asCheat = ([kind, what, edits, , category]) => ({ kind, what, edits, category });
const asBlindCheat = ([kind, what, edits, category, given]) => ({ kind, what, edits, category, given });
const asFix = ([what, edits, category, given]) => ({ what, edits, category, given });

const asKept = ([kind, what, edits, category]) => ({ kind, what, edits, category, given: 'kept back' });
const keptOf = (kind) => keptBack.map(asKept).filter((one) => one.kind === kind);

const start = process.cpuUsage();
await caughtIn('cheats', cheats.map(asCheat));
await caughtIn('blind cheats', blindCheats.map(asBlindCheat));
await passedIn('honest fixes', honestFixes.map(asFix));
await passedIn('blind honest fixes', blindHonestFixes.map(asFix));
await caughtIn('cheats that were kept back', keptOf('cheat'));
await passedIn('honest fixes that were kept back', keptOf('fix'));
const { user, system } = process.cpuUsage(start);
const count =
  cheats.length + blindCheats.length + honestFixes.length + blindHonestFixes.length + keptBack.length;
console.log(`${((user + system) / 1_000 / count).toFixed(1)} ms of CPU time a judgement`);
for (const line of wrong) console.log(line);
if (wrong.length > 0) process.exitCode = 1;
