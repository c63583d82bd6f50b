// Measures how many cheats the guard rejects or names for the reviewer, how many honest fixes it accepts, how many of those have a note, and
// what a judgement costs. The cases are those of the tests (fixtures/guard); the blind ones were written before anybody looked at how the guard
// judges them.
// Usage: node bench/honesty.mjs [--says] [--notes]
import process from 'node:process';
import { auction, auctionRequest, auctionUndecided } from '../fixtures/guard/auction.mjs';
import { blindCheats } from '../fixtures/guard/blind-cheats.mjs';
import { blindHonestFixes } from '../fixtures/guard/blind-honest-fixes.mjs';
import { booking, bookingRequest } from '../fixtures/guard/booking.mjs';
import { cheats } from '../fixtures/guard/cheats.mjs';
import { clinic, clinicRequest, clinicUndecided } from '../fixtures/guard/clinic.mjs';
import { courier, courierRequest, courierUndecided } from '../fixtures/guard/courier.mjs';
import { ferries, ferriesRequest, ferriesUndecided } from '../fixtures/guard/ferries.mjs';
import { festival, festivalRequest, festivalUndecided } from '../fixtures/guard/festival.mjs';
import { harvest, harvestRequest, harvestUndecided } from '../fixtures/guard/harvest.mjs';
import { helpdesk, helpdeskRequest, helpdeskUndecided } from '../fixtures/guard/helpdesk.mjs';
import { honestFixes } from '../fixtures/guard/honest-fixes.mjs';
import { invoices, invoicesRequest, invoicesUndecided } from '../fixtures/guard/invoices.mjs';
import { keptBack, keptBackRequest } from '../fixtures/guard/kept-back.mjs';
import { lending, lendingRequest, lendingUndecided } from '../fixtures/guard/lending.mjs';
import { marina, marinaRequest, marinaUndecided } from '../fixtures/guard/marina.mjs';
import { orchestra, orchestraRequest, orchestraUndecided } from '../fixtures/guard/orchestra.mjs';
import { polyglot, polyglotRequest, polyglotUndecided } from '../fixtures/guard/polyglot.mjs';
import { parish, parishRequest, parishUndecided } from '../fixtures/guard/parish.mjs';
import { requestOf } from '../fixtures/guard/project.mjs';
import { warehouse, warehouseRequest } from '../fixtures/guard/warehouse.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { judge } = await import(await bundleSrc('guard/judge.ts'));

const asCheat = ([, what, edits, , category]) => ['cheat', what, edits, category];
const asBlindCheat = ([, what, edits, category, given]) => ['cheat', what, edits, category, given];
const asFix = ([what, edits, category, given]) => ['fix', what, edits, category, given];

/** Each set with its name, its cases, the request for a case, and the cases that the guard is known to judge wrongly. */
const sets = [
  { name: 'own cases', cases: [...cheats.map(asCheat), ...honestFixes.map(asFix)], requestFor: requestOf },
  {
    name: 'blind cases',
    cases: [...blindCheats.map(asBlindCheat), ...blindHonestFixes.map(asFix)],
    requestFor: requestOf,
  },
  { name: 'kept back', cases: keptBack, requestFor: keptBackRequest },
  { name: 'booking app', cases: booking, requestFor: bookingRequest },
  { name: 'monorepo', cases: warehouse, requestFor: warehouseRequest },
  { name: 'help desk', cases: helpdesk, requestFor: helpdeskRequest, undecided: helpdeskUndecided },
  { name: 'clinic', cases: clinic, requestFor: clinicRequest, undecided: clinicUndecided },
  { name: 'library', cases: lending, requestFor: lendingRequest, undecided: lendingUndecided },
  { name: 'festival', cases: festival, requestFor: festivalRequest, undecided: festivalUndecided },
  { name: 'courier', cases: courier, requestFor: courierRequest, undecided: courierUndecided },
  { name: 'marina', cases: marina, requestFor: marinaRequest, undecided: marinaUndecided },
  { name: 'auction', cases: auction, requestFor: auctionRequest, undecided: auctionUndecided },
  { name: 'box scheme', cases: harvest, requestFor: harvestRequest, undecided: harvestUndecided },
  { name: 'invoices', cases: invoices, requestFor: invoicesRequest, undecided: invoicesUndecided },
  { name: 'parish', cases: parish, requestFor: parishRequest, undecided: parishUndecided },
  { name: 'ferries', cases: ferries, requestFor: ferriesRequest, undecided: ferriesUndecided },
  { name: 'orchestra', cases: orchestra, requestFor: orchestraRequest, undecided: orchestraUndecided },
  { name: 'polyglot', cases: polyglot, requestFor: polyglotRequest, undecided: polyglotUndecided },
];

/** Returns the verdict on a change, and the rules or notes behind it. A change that is to be run with another input counts as rejected. */
async function verdictOn(request) {
  const { violations, notes, otherInput } = await judge(request);
  const said = violations.length > 0 ? violations : notes;
  const words = said.map(({ rule = 'note', file, line, says }) =>
    process.argv.includes('--says') ? `${rule} ${file}:${line} ${says}` : rule,
  );
  if (violations.length > 0) return ['rejected', words];
  if (otherInput !== null) return ['rejected', ['to be run with another input']];
  return [notes.length > 0 ? 'named' : 'silent', words];
}

/** Whether a change touches files of the tests. Cheats there are counted apart from those in the app or its build. */
function isOfTests({ changes, suite: { testFiles, testDir, config } }) {
  const ofTests = (path) => testFiles.includes(path) || path === config || path.startsWith(`${testDir}/`);
  return changes.some(({ path }) => ofTests(path));
}

const share = (part, all) => `${part}/${all}${all > 0 ? ` (${((100 * part) / all).toFixed(1)} %)` : ''}`;

const start = process.cpuUsage();
let count = 0;
const wrong = [];
for (const {
  name,
  cases,
  requestFor,
  undecided: { named: reviewed = [], unseen = [], refused = [] } = {},
} of sets) {
  const counts = new Map();
  for (const [kind, what, edits, category, given] of cases) {
    const request = requestFor(edits, category, given);
    const place = isOfTests(request) ? 'tests' : 'app';
    const [verdict, words] = await verdictOn(request);
    for (const key of [`${kind} ${place}`, `${kind} ${place} ${verdict}`])
      counts.set(key, (counts.get(key) ?? 0) + 1);
    count += 1;
    const line = `${name}: ${kind} ${verdict}: ${what}${words.length > 0 ? ` (${words.join('; ')})` : ''}`;
    if (process.argv.includes('--notes') && (kind === 'fix' ? verdict === 'named' : verdict !== 'rejected'))
      console.log(line);
    else if (
      kind === 'fix'
        ? verdict === 'rejected' && !refused.includes(what)
        : verdict !== 'rejected' && ![...reviewed, ...unseen].includes(what)
    )
      wrong.push(line);
  }
  for (const place of ['tests', 'app']) {
    const [all, rejected, named] = ['', ' rejected', ' named'].map(
      (one) => counts.get(`cheat ${place}${one}`) ?? 0,
    );
    const [fixes, refused, noted] = ['', ' rejected', ' named'].map(
      (one) => counts.get(`fix ${place}${one}`) ?? 0,
    );
    if (all + fixes === 0) continue;
    console.log(
      `${name}, ${place}: cheats rejected ${share(rejected, all)}, rejected or named ${share(rejected + named, all)}; ` +
        `honest fixes passed ${share(fixes - refused, fixes)}, with a note ${share(noted, fixes)}`,
    );
  }
}
const { user, system } = process.cpuUsage(start);
console.log(`${((user + system) / 1_000 / count).toFixed(1)} ms of CPU time a judgement`);
for (const line of wrong) console.log(line);
if (wrong.length > 0) process.exitCode = 1;
