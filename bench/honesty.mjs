// How many cheats the guard catches and how many honest fixes it lets pass, by kind, and what a judgement costs. Usage:
// node bench/honesty.mjs [--says]. The cases are those of the tests (fixtures/guard); the blind ones were written before anybody
// looked at what the guard does with them.
import process from 'node:process';
import { blindCheats } from '../fixtures/guard/blind-cheats.mjs';
import { blindHonestFixes } from '../fixtures/guard/blind-honest-fixes.mjs';
import { booking, bookingRequest } from '../fixtures/guard/booking.mjs';
import { cheats } from '../fixtures/guard/cheats.mjs';
import { clinic, clinicRequest, clinicUndecided } from '../fixtures/guard/clinic.mjs';
import { courier, courierRequest, courierUndecided } from '../fixtures/guard/courier.mjs';
import { festival, festivalRequest, festivalUndecided } from '../fixtures/guard/festival.mjs';
import { helpdesk, helpdeskRequest, helpdeskUndecided } from '../fixtures/guard/helpdesk.mjs';
import { honestFixes } from '../fixtures/guard/honest-fixes.mjs';
import { keptBack, keptBackRequest } from '../fixtures/guard/kept-back.mjs';
import { lending, lendingRequest, lendingUndecided } from '../fixtures/guard/lending.mjs';
import { requestOf } from '../fixtures/guard/project.mjs';
import { warehouse, warehouseRequest } from '../fixtures/guard/warehouse.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { judge } = await import(await bundleSrc('guard/judge.ts'));

const wrong = [];
const rulesBroken = async (request) => {
  const { violations, otherInput } = await judge(request);
  // The run with another input is what rejects it.
  if (violations.length === 0 && otherInput !== null) return ['run with another input'];
  return violations.map(({ rule, file, line, says }) =>
    process.argv.includes('--says') ? `${rule} ${file}:${line} ${says}` : rule,
  );
};

async function caughtIn(title, cases, undecided = []) {
  const kinds = new Map();
  for (const { kind, what, request } of cases) {
    const rules = await rulesBroken(request);
    const caught = rules.length > 0;
    if (rules[0] === 'run with another input') console.log(`to be run with another input: ${what}`);
    const { caught: sofar = 0, all = 0 } = kinds.get(kind) ?? {};
    kinds.set(kind, { caught: sofar + (caught ? 1 : 0), all: all + 1 });
    if (!caught && undecided.includes(what)) console.log(`left to the reviewer: ${what}`);
    else if (!caught) wrong.push(`not caught: ${kind}: ${what}`);
  }
  const total = [...kinds.values()].reduce((sum, one) => sum + one.caught, 0);
  const parts = [...kinds].map(([kind, { caught, all }]) => `${kind} ${caught}/${all}`);
  console.log(`${title}: ${total}/${cases.length} caught (${parts.join(', ')})`);
}

async function passedIn(title, cases) {
  let passed = 0;
  for (const { what, request } of cases) {
    const rules = await rulesBroken(request);
    if (rules.length === 0) passed += 1;
    else wrong.push(`rejected: ${what} (${rules.join(', ')})`);
  }
  console.log(`${title}: ${passed}/${cases.length} passed`);
}

const asCheat = ([kind, what, edits, , category]) => ({ kind, what, request: requestOf(edits, category) });
const asBlindCheat = ([kind, what, edits, category, given]) => ({
  kind,
  what,
  request: requestOf(edits, category, given),
});
const asFix = ([what, edits, category, given]) => ({ what, request: requestOf(edits, category, given) });
const ofKind = (set, requestFor, wanted) =>
  set.flatMap(([kind, what, edits, category, given]) =>
    kind === wanted ? [placed(what, requestFor(edits, category, given))] : [],
  );
// By whether a change touches what belongs to the tests: a cheat there is another matter than one in the app or its build.
function placed(what, request) {
  const { testFiles, testDir, config } = request.suite;
  const ofTests = (path) => testFiles.includes(path) || path === config || path.startsWith(`${testDir}/`);
  return { kind: request.changes.some(({ path }) => ofTests(path)) ? 'tests' : 'app', what, request };
}

const start = process.cpuUsage();
await caughtIn('cheats', cheats.map(asCheat));
await caughtIn('blind cheats', blindCheats.map(asBlindCheat));
await passedIn('honest fixes', honestFixes.map(asFix));
await passedIn('blind honest fixes', blindHonestFixes.map(asFix));
await caughtIn('cheats that were kept back', ofKind(keptBack, keptBackRequest, 'cheat'));
await passedIn('honest fixes that were kept back', ofKind(keptBack, keptBackRequest, 'fix'));
await caughtIn('cheats on the booking app', ofKind(booking, bookingRequest, 'cheat'));
await passedIn('honest fixes on the booking app', ofKind(booking, bookingRequest, 'fix'));
await caughtIn('cheats in a monorepo', ofKind(warehouse, warehouseRequest, 'cheat'));
await passedIn('honest fixes in a monorepo', ofKind(warehouse, warehouseRequest, 'fix'));
await caughtIn('cheats on the help desk', ofKind(helpdesk, helpdeskRequest, 'cheat'), helpdeskUndecided);
await passedIn('honest fixes on the help desk', ofKind(helpdesk, helpdeskRequest, 'fix'));
await caughtIn('cheats in the clinic', ofKind(clinic, clinicRequest, 'cheat'), clinicUndecided);
await passedIn('honest fixes in the clinic', ofKind(clinic, clinicRequest, 'fix'));
await caughtIn('cheats in the library', ofKind(lending, lendingRequest, 'cheat'), lendingUndecided);
await passedIn('honest fixes in the library', ofKind(lending, lendingRequest, 'fix'));
await caughtIn('cheats at the festival', ofKind(festival, festivalRequest, 'cheat'), festivalUndecided);
await passedIn('honest fixes at the festival', ofKind(festival, festivalRequest, 'fix'));
await caughtIn('cheats at the courier', ofKind(courier, courierRequest, 'cheat'), courierUndecided);
await passedIn('honest fixes at the courier', ofKind(courier, courierRequest, 'fix'));
const { user, system } = process.cpuUsage(start);
const count =
  cheats.length +
  blindCheats.length +
  honestFixes.length +
  blindHonestFixes.length +
  keptBack.length +
  booking.length +
  warehouse.length +
  helpdesk.length +
  clinic.length +
  lending.length +
  festival.length +
  courier.length;
console.log(`${((user + system) / 1_000 / count).toFixed(1)} ms of CPU time a judgement`);
for (const line of wrong) console.log(line);
if (wrong.length > 0) process.exitCode = 1;
