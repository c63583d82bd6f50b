// Measures what one PostgreSQL server can do for workers (SC-2): how many causes a second are sent, claimed and completed, how many agents are
// counted and heartbeats written, and how much disk space a cause takes. From these, docs/scale.md estimates what 1,000 workers need; the
// measurement uses a tenth.
// Usage: node bench/claims.mjs [--jobs 2000] [--workers 100] [--connections 16] [--kb 40]; exits 1 if a cause is taken twice or not at all.
import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { postgresPrograms, startPostgres } = await import(await bundleSrc('../test/rig/postgres.ts'));
const { openQueue } = await import(await bundleSrc('queue/open-queue.ts'));
const { openStore } = await import(await bundleSrc('store/open-store.ts'));
const { workerTable } = await import(await bundleSrc('queue/worker-table.ts'));
const { jobId } = await import(await bundleSrc('queue/queue-name.ts'));

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '2000' },
    workers: { type: 'string', default: '100' },
    connections: { type: 'string', default: '16' },
    kb: { type: 'string', default: '40' },
  },
});
const count = Number(values.jobs);
const machines = Number(values.workers);
const name = 'causes-bench';

const postgres = await startPostgres(postgresPrograms());
try {
  const url = await postgres.newDatabase('claims');
  const places = [];
  for (let n = 0; n < Number(values.connections); n += 1) {
    const db = (await openStore(url, '/')).value;
    places.push({ db, queue: await openQueue(db, name), table: workerTable(db, 'bench', name) });
  }
  const [{ db, table }] = places;
  /** Runs a step `times` times, spread over all connections; returns how many run in a second. */
  const rate = async (times, step) => {
    let next = 0;
    const began = performance.now();
    await Promise.all(
      places.map(async (place) => {
        while (next < times) await step(place, next++);
      }),
    );
    return Math.round(times / ((performance.now() - began) / 1000));
  };

  const ids = Array.from({ length: count }, (_, n) => jobId(name, `cause ${n}`));
  // Random, since packed evidence does not compress any further.
  const packed = randomBytes((Number(values.kb) * 1024 * 3) / 4).toString('base64');
  const sent = await rate(count, ({ queue }, n) => queue.send(ids[n], { packed }));
  const size = await sql`select pg_total_relation_size(inhrelid) as bytes from pg_inherits`.execute(db);
  const perJob = size.rows.reduce((sum, { bytes }) => sum + Number(bytes), 0) / count / 1024;
  const taken = [];
  const claimed = await rate(count, async ({ queue }) => taken.push((await queue.take())?.id));
  const done = await rate(count, ({ queue }, n) => queue.done(taken[n], { packed: 'x' }));
  await table.coordinate('bench');
  const agents = await rate(count, (place, n) =>
    place.table.claimAgent({ id: `agent ${n}`, worker: null }, { agentRuns: count, costUsd: Infinity }),
  );
  const { agentRuns } = await table.spent();
  const row = (n) => ({
    id: `w${n}`,
    name: `host-${n}`,
    queue: name,
    commit: 'c',
    config: 'c',
    version: '1',
    state: 'waiting',
    causeId: null,
    jobId: null,
    beat: 0,
  });
  for (let n = 0; n < machines; n += 1) await table.register(row(n));
  const beats = await rate(count, (place, n) => place.table.beat({ ...row(n % machines), beat: n }));
  const empty = await rate(count, ({ queue }) => queue.take());
  const listed = await rate(200, (place) => place.table.workers());

  const isExact = new Set(taken).size === count && !taken.includes(undefined) && agentRuns === count;
  const figures = { sent, claimed, done, agents, beats, empty, listed };
  console.log(`a second, over ${places.length} connections, ${values.kb} KB a cause:`);
  for (const [what, each] of Object.entries(figures)) console.log(`  ${what}: ${each}`);
  console.log(`  on the disk: ${perJob.toFixed(0)} KB a cause`);
  console.log(isExact ? 'each cause was taken once, each agent counted once' : 'NOT exact');
  console.log(
    JSON.stringify({ load: loadavg()[0], jobs: count, workers: machines, ...figures, perJob, isExact }),
  );
  if (!isExact) process.exitCode = 1;
  for (const place of places) {
    await place.queue.close();
    await place.db.destroy();
  }
} finally {
  await postgres.stop();
}
