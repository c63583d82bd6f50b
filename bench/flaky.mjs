// Measures, in a simulated suite of 60 tests, how often the kind of a flake is right (FL-2), and how many runs it takes against the theory: to
// measure a rate, the runs of one count whose size was known before; to prove a fix, the runs that the true rate would need.
// Usage: node bench/flaky.mjs [seeds]; the last line is the outcome as JSON.
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const seeds = Number(process.argv[2] ?? 60);
const [{ findFlakes }, { createFlakeSearch, createRandom, simulatedSuite, sixtyTests }, rates] =
  await Promise.all(
    ['clients/flaky/find-flakes.ts', '../test/rig/simulated-suite.ts', 'model/failure-rate.ts'].map(
      async (file) => import(await bundleSrc(file)),
    ),
  );

/** Each flake: its kind, where it is and when it is red. */
const flakes = {
  'race 5 %': { kind: 'random', rate: 0.05 },
  'race 10 %': { kind: 'random', rate: 0.1 },
  'race 30 %': { kind: 'random', rate: 0.3 },
  'race 50 %': { kind: 'random', rate: 0.5 },
  'polluter in its file': {
    kind: 'order',
    other: ['e.spec.ts', 'polluter'],
    red: (a) => a.before.includes('polluter'),
  },
  'polluter in another file': {
    kind: 'order',
    other: ['a.spec.ts', 'polluter'],
    red: (a) => a.before.includes('polluter'),
  },
  'shared row, red 60 %': {
    kind: 'data',
    rate: 0.6,
    other: ['f.spec.ts', 'partner'],
    red: (a) => a.beside.includes('partner'),
  },
  'four workers only': { kind: 'load', red: (a) => a.slot === 3 },
  'slow beside others, red 30 %': { kind: 'load', rate: 0.3, red: (a) => a.beside.length > 2 },
  'time zone': { kind: 'time', red: (a) => a.env.TZ === 'Pacific/Pago_Pago' },
};

const outcomes = {};
let wrong = 0;
for (const [name, flake] of Object.entries(flakes)) {
  const runs = { right: 0, unmet: 0, target: [], measured: [], proof: [] };
  for (let seed = 1; seed <= seeds; seed += 1) await search(flake, seed, runs);
  const { right, unmet, target, measured, proof } = runs;
  const ratios = measured.length > 0 ? { measured: median(measured), proof: median(proof) } : {};
  outcomes[name] = { right: `${right} of ${seeds - unmet}`, unmet, runs: median(target), ...ratios };
  wrong += seeds - unmet - right;
  const told =
    flake.kind === 'random'
      ? `, to measure ${ratios.measured} and to prove ${ratios.proof} of the theory`
      : '';
  console.log(
    `${name}: ${flake.kind} in ${right} of ${seeds - unmet} (not met: ${unmet}), ${median(target)} runs of it${told}`,
  );
}
console.log(JSON.stringify(outcomes));
// One in fifty may be wrong.
if (wrong > 0.02 * seeds * Object.keys(flakes).length) process.exitCode = 1;

async function search({ kind, rate = 1, other, red = () => true }, seed, runs) {
  const random = createRandom(seed);
  let ran = 0;
  const isRed = (around) => {
    ran += 1;
    return red(around) && random() < rate;
  };
  const more = {};
  if (other) more[other[0]] = [other[1]];
  more['e.spec.ts'] = [...(more['e.spec.ts'] ?? []), 'flake'];
  const suite = simulatedSuite(sixtyTests(more), { flake: isRed }, { jitter: random });
  const found = await findFlakes(await createFlakeSearch(suite), async () => {});
  runs.target.push(ran);
  const one = found.find(({ flake }) => flake.test.titlePath[1] === 'flake')?.flake;
  const others = one?.others.map(({ titlePath }) => titlePath[1]) ?? [];
  const isRight = one?.kind === kind && others.join() === (other?.[1] ?? '') && found.length === 1;
  runs.right += Number(isRight);
  // The suite may have had too few red runs to show the flake.
  runs.unmet += Number(found.length === 0);
  if (!isRight || kind !== 'random') return;
  runs.measured.push(one.red.runs / fixedRuns(rate));
  runs.proof.push(rates.countNeededGreenRuns(one.red) / (Math.log(0.01) / Math.log1p(-rate)));
}

/** Returns the fewest runs that bound a rate as closely as `shownBy` asks, if the test is red as often as expected. */
function fixedRuns(rate) {
  for (let runs = 2; ; runs += 1) {
    const red = Math.round(rate * runs);
    if (red > 0 && red < runs && rates.computeBounds({ red, runs }).low >= red / runs / 3) return runs;
  }
}

function median(numbers) {
  const value = numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
  return Math.round(value * 100) / 100;
}
