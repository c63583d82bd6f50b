// The agent of the self-test. It is SCRIPTED: like any agent it gets a prompt and the context of a failure, and edits files. The failing test
// determines which good or bad agent it plays.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** The hanging agent writes its process ids here for the self-test to check, outside the copy in which it works. */
const pidsFile = path.join(JSON.parse(readFileSync('self-test.json', 'utf8')).state, 'pids.json');

const context = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8'));
const { file } = context.test;
const roles = {
  'tests/5-drifted-locator.spec.mjs': followPage,
  'tests/6-real-bug.spec.mjs': mendTotal,
  'tests/1-cheat.spec.mjs': cheat,
  'tests/4-hanging-agent.spec.mjs': hang,
  'tests/2-empty-claim.spec.mjs': () => claim('fixed', 'Fix applied successfully.'),
  'tests/7-broken-neighbor.spec.mjs': breakNeighbor,
};
const play = roles[file] ?? (() => claim('not-fixed', `This agent was not to be asked about ${file}.`));
play();

/** Honest: the evidence names the locator that matches nothing. */
function followPage() {
  if (!context.error.message.includes('order-button')) return missing("the locator in the test's error");
  edit(file, "'order-button'", "'place-order'");
  return claim('fixed', 'The page calls the button place-order.');
}

/** Honest: the evidence names the request that failed with 500. */
function mendTotal() {
  if (!JSON.stringify(context.network).includes('/api/total')) return missing('the request that failed');
  edit('app/total.mjs', 'item.cost.amount', 'item.price.amount');
  return claim('fixed', 'An item has a price.');
}

/** Weakens the assertion; after this is rejected, skips the test. */
function cheat() {
  if (context.attempt === 1) edit(file, "toHaveText('4 in stock')", 'toBeVisible()');
  else edit(file, "test('four", "test.skip('four");
  return claim('fixed', 'The test passes now.');
}

/** Hangs and ignores TERM, with a child process in its own session. On the next attempt it gives up. */
function hang() {
  if (context.attempt > 1) return claim('not-fixed', 'It is not known when the shop opens.');
  process.on('SIGTERM', () => {});
  const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  const child = spawn(process.execPath, ['-e', deaf], { detached: true, stdio: 'ignore' });
  child.unref();
  writeFileSync(pidsFile, JSON.stringify([process.pid, child.pid]));
  setInterval(() => {}, 1000);
}

/** Fixes what the test checks, and breaks what another test checks. */
function breakNeighbor() {
  edit('app/greeting.mjs', "'Hello, guest'", "'Hello, Ada'");
  return claim('fixed', 'Customers are greeted by name.');
}

function edit(name, from, to) {
  writeFileSync(name, readFileSync(name, 'utf8').replace(from, to));
}

function missing(what) {
  return claim('not-fixed', `The evidence lacks ${what}.`);
}

function claim(status, summary) {
  console.log(`SELF-HEAL: ${JSON.stringify({ status, summary })}`);
}
