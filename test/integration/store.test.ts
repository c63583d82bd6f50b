import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createStore } from '../../src/store/create-store.js';
import type { FileContent, FixToRemember, Store } from '../../src/store/store.js';
import { checkDatabase, readStateText } from '../../src/state-folder.js';
import { openStore } from '../../src/store/open-store.js';
import type { Database } from '../../src/store/tables.js';
import { anAttempt, anEnd, aQuestion } from '../rig/builders.js';
import { compiledSrc } from '../rig/compiled-src.js';
import { quickOrLong } from '../rig/long.js';
import { postgresPrograms, startPostgres, type Postgres } from '../rig/postgres.js';
import { tempDir } from '../rig/temp-dir.js';

const programs = postgresPrograms();
if (!programs) process.stderr.write('PostgreSQL is not installed: the store is tested on SQLite alone\n');

const signature = 'shop:Error:00000001';

const question = aQuestion({ signature });

let postgres: Postgres | null = null;
let databases = 0;

beforeAll(async () => {
  if (programs) postgres = await startPostgres(programs);
});
afterAll(async () => postgres?.stop());

async function open(location: string): Promise<Database> {
  const opened = await openStore(location, '/');
  if (!opened.ok) throw new Error(`${opened.error.message}: ${opened.error.detail}`);
  onTestFinished(() => opened.value.destroy());
  return opened.value;
}

async function ledgerAt(location: string, project = 'shop'): Promise<Store> {
  return createStore(await open(location), project, tick());
}

/** A clock that advances by a millisecond each time it is read. */
function tick(): () => number {
  let now = Date.parse('2026-01-01T00:00:00Z');
  return () => (now += 1);
}

const byAgent = { agent: 'debugger', runner: 'claude', category: 'ui-error' } as const;

const contentOf = (text: string): FileContent => ({
  mode: 0o644,
  bytes: Buffer.from(text).toString('base64'),
});
const textIn = (content: FileContent | null | undefined) =>
  Buffer.from(content?.bytes ?? '', 'base64').toString();

async function tryOnce(
  ledger: Store,
  over: Parameters<typeof anAttempt>[0] = {},
  runId = 'run1',
): Promise<string> {
  const id = randomUUID();
  await ledger.startAttempt({ id, runId, causeId: 'c1', signature, n: over?.n ?? 1, ...byAgent });
  await ledger.finishAttempt(id, anAttempt(over));
  return id;
}

const kinds = [
  ['SQLite', async () => path.join(tempDir(), '.self-heal', 'ledger.db')],
  ['PostgreSQL', async () => postgres!.newDatabase(`store${(databases += 1)}`)],
] as const;

describe.each(kinds)('the store on %s', (kind, place) => {
  const here = it.skipIf(kind === 'PostgreSQL' && !programs);

  here('ME-8 a later run inherits the count of attempts; another signature does not', async () => {
    const location = await place();
    const first = await ledgerAt(location);
    await tryOnce(first);
    await tryOnce(first, { files: [] });
    await first.close();
    const later = await ledgerAt(location);
    expect((await later.recordFailure(signature, 'run2')).tries).toEqual({ count: 2, failedFixes: 1 });
    const other = await later.recordFailure('other:Error:00000001', 'run2');
    expect(other.tries).toEqual({ count: 0, failedFixes: 0 });
  });

  here.each<[string, Parameters<typeof anAttempt>[0], number]>([
    ['that was not judged', { end: anEnd('unusable'), exit: 'unusable' }, 0],
    ['that led to another error', { end: anEnd('changed') }, 0],
    ['that only led to an error that was not healed', { end: anEnd('taken-out') }, 1],
  ])('ME-2 ME-4 HN-1 an attempt %s counts: %j, %i', async (_, attempt, count) => {
    const ledger = await ledgerAt(await place());
    await tryOnce(ledger, attempt);
    expect((await ledger.recordFailure(signature, 'run2')).tries).toEqual({ count, failedFixes: count });
  });

  here(
    'ME-8 does not count an attempt that never finished, and counts one that finished twice once',
    async () => {
      const ledger = await ledgerAt(await place());
      const start = { runId: 'run1', causeId: 'c1', signature, n: 1, ...byAgent };
      await ledger.startAttempt({ id: 'never finished', ...start });
      const id = await tryOnce(ledger);
      await ledger.finishAttempt(id, anAttempt());
      expect((await ledger.recordFailure(signature, 'run2')).tries.count).toBe(1);
    },
  );

  here(
    'HN-6 ME-3 a heal that broke other tests counts as one failed attempt, and is no earlier fix',
    async () => {
      const ledger = await ledgerAt(await place());
      await tryOnce(ledger);
      await tryOnce(ledger, { n: 2, end: anEnd('green') });
      const reason = 'broke another test';
      await ledger.recordRevert({ runId: 'run1', causeId: 'c1', signature, reason });
      const { tries, failedAttempts, fix } = await ledger.recordFailure(signature, 'run2');
      expect([tries, fix]).toEqual([{ count: 1, failedFixes: 1 }, null]);
      expect(failedAttempts.at(-1)).toMatchObject({ n: 2, end: anEnd('taken-out', 'broke another test') });
    },
  );

  here('ME-3 lists failed attempts oldest first, with what became of their changes', async () => {
    const ledger = await ledgerAt(await place());
    await tryOnce(ledger, { n: 1, end: anEnd('still-failing', 'first'), patch: 'attempts/1.patch' });
    await tryOnce(ledger, { n: 2, end: anEnd('changed') });
    expect((await ledger.recordFailure(signature, 'run2')).failedAttempts).toMatchObject([
      { n: 1, end: anEnd('still-failing', 'first'), patch: '../run1/attempts/1.patch' },
      { n: 2, end: { kind: 'changed' }, patch: null },
    ]);
  });

  here('ME-7 skip quarantines the tests for a time; another answer releases them', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const ledger = createStore(await open(await place()), 'shop', () => now);
    const { id } = (await ledger.escalate(question, 'run1'))!;
    expect(await ledger.answerEscalation(id, { choice: 'skip', guidance: null })).toMatchObject({
      state: 'skipped',
    });
    now += 29 * 24 * 60 * 60_000;
    expect(await ledger.listQuarantines()).toMatchObject([{ testId: 't1', escalationId: id }]);
    now += 24 * 60 * 60_000;
    expect(await ledger.listQuarantines()).toEqual([]);
    // A second skip starts a new quarantine.
    await ledger.answerEscalation(id, { choice: 'skip', guidance: null, days: 1 });
    expect(await ledger.listQuarantines()).toMatchObject([{ testId: 't1' }]);
    await ledger.answerEscalation(id, { choice: 'simplify', guidance: null });
    expect(await ledger.listQuarantines()).toEqual([]);
  });

  here('HN-8 a fix that a person undid counts as not held, and is listed as a failed attempt', async () => {
    const ledger = await ledgerAt(await place());
    await tryOnce(ledger, { end: anEnd('green') });
    await ledger.recordUndo('run1');
    const { failedAttempts, fix } = await ledger.recordFailure(signature, 'run2');
    expect(failedAttempts).toMatchObject([{ end: anEnd('taken-out', 'a person undid it') }]);
    expect(fix).toBeNull();
  });

  here('ME-8 a healed failure starts with a new count, and its fix is known when it comes back', async () => {
    const ledger = await ledgerAt(await place());
    await tryOnce(ledger);
    await tryOnce(ledger, {
      end: anEnd('green'),
      claim: { status: 'fixed', summary: 'spelt it right' },
    });
    expect((await ledger.recordFailure(signature, 'run1')).fix).toBeNull();
    const back = await ledger.recordFailure(signature, 'run2');
    await ledger.recordFailure(signature, 'run2');
    expect(back).toMatchObject({
      tries: { count: 0 },
      failedAttempts: [],
      fix: { runId: 'run1', times: 1, agent: 'debugger', summary: 'spelt it right' },
    });
  });

  here(
    'HL-6 a failure that the fix for another cause healed starts with a new count, healed once in a run',
    async () => {
      const ledger = await ledgerAt(await place());
      await tryOnce(ledger);
      await ledger.recordHealByOtherFix({ signature, runId: 'run1' });
      await ledger.recordHealByOtherFix({ signature, runId: 'run1' });
      const { tries, fix } = await ledger.recordFailure(signature, 'run2');
      expect([tries.count, fix?.times]).toEqual([0, 1]);
    },
  );

  here('ME-5 keeps one question per signature, even if several are asked at the same time', async () => {
    const location = await place();
    const [one, two] = [await ledgerAt(location), await ledgerAt(location)];
    const asked = await Promise.all([one.escalate(question, 'run1'), two.escalate(question, 'run2')]);
    expect(asked[0]!.id).toBe(asked[1]!.id);
    expect(await one.listEscalations('pending')).toHaveLength(1);
    expect((await one.recordFailure(signature, 'run3')).openEscalation).toMatchObject({
      ...question,
      state: 'pending',
    });
  });

  here('ME-7 an answer resets the count and is passed to the next agent', async () => {
    const ledger = await ledgerAt(await place());
    for (let n = 0; n < 3; n += 1) await tryOnce(ledger);
    const { id } = (await ledger.escalate(question, 'run1'))!;
    const resolved = await ledger.answerEscalation(id, { choice: 'guide', guidance: 'It is Thanks.' });
    expect(resolved).toMatchObject({ state: 'resolved', choice: 'guide', guidance: 'It is Thanks.' });
    expect(await ledger.recordFailure(signature, 'run2')).toMatchObject({
      tries: { count: 0, failedFixes: 0 },
      guidance: 'It is Thanks.',
      openEscalation: null,
    });
  });

  const edits = (after: string) => [{ path: 'src/a.ts', before: contentOf('old'), after: contentOf(after) }];
  const aFix = (after: string, over: Partial<FixToRemember> = {}): FixToRemember => ({
    runId: '20260101-100000-aaaa',
    causeId: 'c1',
    reading: null,
    signatures: [signature],
    agent: 'debugger',
    proven: 'proven',
    edits: edits(after),
    replaces: null,
    ...over,
  });
  const told = async (ledger: Store) =>
    (await ledger.listRememberedFixes(signature)).map((fix) => textIn(fix.edits[0]?.after));

  here('ME-8 remembers the newest three fixes of a signature, of at most 200 kB', async () => {
    const ledger = await ledgerAt(await place());
    for (const after of ['1', '2', '3', '4']) await ledger.rememberFix(aFix(after));
    await ledger.rememberFix(aFix('x'.repeat(200_000)));
    expect(await told(ledger)).toEqual(['4', '3', '2']);
    const [newest] = await ledger.listRememberedFixes(signature);
    expect(newest).toMatchObject({ agent: 'debugger', proven: 'proven', runId: '20260101-100000-aaaa' });
    await ledger.rememberFix(aFix('5', { proven: 'green-once', replaces: newest?.id ?? '' }));
    expect(await told(ledger)).toEqual(['5', '4', '3']);
    await ledger.rememberFix(aFix('5', { replaces: newest?.id ?? '' }));
    expect(await told(ledger)).toEqual(['5', '3']);
    expect(await ledger.listRememberedFixes('shop:Error:00000002')).toEqual([]);
  });

  here('ME-8 HN-8 a fix that did not hold is remembered again once proven, an undone one never', async () => {
    const ledger = await ledgerAt(await place());
    const once = { proven: 'green-once' } as const;
    await ledger.rememberFix(aFix('1', once));
    await ledger.refuseFix((await ledger.listRememberedFixes(signature))[0]?.id ?? '', [signature]);
    await ledger.rememberFix(aFix('1', once));
    expect(await told(ledger)).toEqual([]);
    await ledger.rememberFix(aFix('1'));
    expect(await told(ledger)).toEqual(['1']);
    await ledger.recordUndo('20260101-100000-aaaa');
    await ledger.rememberFix(aFix('1'));
    expect(await told(ledger)).toEqual([]);
  });

  here('ME-8 ME-7 tries no remembered fix again once a person asked for another one', async () => {
    const ledger = await ledgerAt(await place());
    await ledger.rememberFix(aFix('1'));
    const { id } = (await ledger.escalate(question, 'run1'))!;
    await ledger.answerEscalation(id, { choice: 'guide', guidance: 'Mend the sum.' });
    expect(await told(ledger)).toEqual([]);
  });

  here('ME-8 HN-10 a row that self-heal would not have written is not tried', async () => {
    const location = await place();
    const ledger = await ledgerAt(location);
    await ledger.rememberFix(aFix('1'));
    const db = await open(location);
    const { id, edits: written, ...row } = await db.selectFrom('fixes').selectAll().executeTakeFirstOrThrow();
    const [edit] = edits('2');
    const withEdits = (crafted: unknown) => ({ edits: JSON.stringify(crafted) });
    const paths = [
      '../a',
      '/etc/passwd',
      '.git/config',
      '.self-heal/x',
      'node_modules/a.js',
      'a\u001b[2J',
      '',
    ];
    const hostile: object[] = [
      ...paths.map((file) => withEdits([{ ...edit, path: file }])),
      withEdits([{ ...edit, after: { mode: 0o4755, bytes: '' } }]),
      withEdits([{ ...edit, after: { mode: 0o644, bytes: '<script>' } }]),
      withEdits([{ ...edit, after: 'text' }]),
      withEdits({}),
      { edits: 'no JSON' },
      { agent: 'a\n/approve' },
      { agent: '' },
      { runId: '../../x' },
      { savedAt: 'yesterday' },
      { proven: 'by magic' },
      // Another fix under the name of the first one.
      { id, signature: 'shop:Error:00000002', ...withEdits(edits('evil')) },
    ];
    for (const [n, crafted] of hostile.entries()) {
      await db.deleteFrom('fixes').execute();
      const at = { ...row, edits: written, ...crafted };
      const ownId = createHash('sha256').update(at.edits).digest('hex').slice(0, 32);
      await db
        .insertInto('fixes')
        .values({ id: ownId, ...at })
        .execute();
      const signatures = [signature, 'shop:Error:00000002'];
      const tried = (await Promise.all(signatures.map((one) => ledger.listRememberedFixes(one)))).flat();
      expect(tried, `${n}: ${JSON.stringify(crafted)}`).toEqual([]);
    }
  });

  here('EV-9 masks what it stores', async () => {
    const ledger = await ledgerAt(await place());
    await tryOnce(ledger, { end: anEnd('still-failing', 'postgres://ann:hunter2@db refused') });
    await ledger.escalate({ ...question, problem: 'password="hunter2" is wrong' }, 'run1');
    const known = JSON.stringify(await ledger.recordFailure(signature, 'run2'));
    expect(known).toContain('postgres://ann');
    expect(known).not.toContain('hunter2');
  });

  here('ME-10 loses no count if eight processes open a new store at the same time', async () => {
    const location = await place();
    const worker = workerIn(tempDir());
    const workers = Array.from({ length: 8 }, (_, n) =>
      spawn(process.execPath, [worker, location, `w${n}`, '10']),
    );
    const ends = await Promise.all(
      workers.map(async (child) => {
        const errors: string[] = [];
        child.stderr.on('data', (chunk) => errors.push(String(chunk)));
        child.stdout.resume();
        const [code] = (await once(child, 'close')) as [number];
        return { code, errors: errors.join('') };
      }),
    );
    expect(ends).toEqual(workers.map(() => ({ code: 0, errors: '' })));
    expect((await (await ledgerAt(location)).recordFailure(signature, 'later')).tries.count).toBe(80);
  });

  here('ME-10 refuses a store of another version and leaves it as it is', async () => {
    const location = await place();
    const db = await open(location);
    await tryOnce(createStore(db, 'shop', tick()));
    for (const version of [99, 3]) {
      await sql`update store_version set version = ${version}`.execute(db);
      const opened = await openStore(location, '/');
      expect(opened).toMatchObject({ ok: false, error: { kind: 'store-unreadable' } });
      expect(!opened.ok && opened.error.message).toContain(String(version));
    }
    const { rows } = await sql`select store_version.version, attempts.n from store_version, attempts`.execute(
      db,
    );
    expect(rows).toMatchObject([{ version: 3, n: 1 }]);
  });
});

it('ME-10 HN-10 never fails to read a journal that another process deletes at any moment', async () => {
  const file = path.join(tempDir(), 'ledger.db');
  const other = spawn(process.execPath, [
    '-e',
    `const { rmSync, writeFileSync } = require('node:fs');
    for (;;) { writeFileSync(process.argv[1], 'x'); rmSync(process.argv[1]); }`,
    `${file}-journal`,
  ]);
  onTestFinished(() => void other.kill());
  let seen = 0;
  while (seen < 500) {
    checkDatabase(file);
    if (readStateText(`${file}-journal`) !== '') seen += 1;
  }
});

it('ME-10 a new SQLite store can be set up while another process writes: it has no write-ahead log', async () => {
  const db = await open(path.join(tempDir(), 'ledger.db'));
  expect((await sql`pragma journal_mode`.execute(db)).rows).toEqual([{ journalMode: 'delete' }]);
});

describe('a store that cannot be used', () => {
  it.each([
    [
      'a file that is not a database',
      () => 'this is no database, and it is long enough to be sure of it. '.repeat(100),
    ],
    ['a damaged database', () => damagedStore()],
    ['a database of something else', () => foreignStore()],
  ])('ME-10 %s is an error, and is left as it is', async (_, made) => {
    const file = path.join(tempDir(), 'ledger.db');
    const bytes = await made();
    writeFileSync(file, bytes);
    expect(await openStore(file, '/')).toMatchObject({ ok: false, error: { kind: 'store-unreadable' } });
    expect(readFileSync(file).equals(Buffer.from(bytes))).toBe(true);
  });

  it('ME-9 an invalid folder or an unreachable server is reported without the password', async () => {
    const file = path.join(tempDir(), 'file');
    writeFileSync(file, '');
    expect(await openStore(path.join(file, 'ledger.db'), '/')).toMatchObject({
      error: { kind: 'store-unusable' },
    });
    const nowhere = await openStore('postgres://ann:hunter2@127.0.0.1:1/shop', '/');
    expect(nowhere).toMatchObject({ error: { kind: 'store-unusable' } });
    expect(JSON.stringify(nowhere)).not.toContain('hunter2');
  });
});

const kills = quickOrLong(5, 100);

it(`ME-8 ${kills} kills at any moment lose no finished attempt, and count none twice`, async () => {
  const file = path.join(tempDir(), 'ledger.db');
  const worker = workerIn(tempDir());
  let before = 0;
  for (let round = 0; round < kills; round += 1) {
    const acknowledged = await killAfter(worker, [file, `r${round}`], (round * 7 + 3) % 10);
    const db = await open(file);
    const [row] = await db.selectFrom('signatures').select('count').execute();
    const finished = await db
      .selectFrom('attempts')
      .select('id')
      .where('finishedAt', 'is not', null)
      .execute();
    await db.destroy();
    const count = row?.count ?? 0;
    expect(count).toBe(finished.length);
    // The attempt in flight may have been written but not yet acknowledged.
    expect(count - before - acknowledged).toBeOneOf([0, 1]);
    before = count;
  }
  expect(before).toBeGreaterThanOrEqual(kills);
}, 300_000);

/** Kills the worker after `lines` lines of output, and returns how many attempts it said were finished. */
async function killAfter(worker: string, args: readonly string[], lines: number): Promise<number> {
  const child = spawn(process.execPath, [worker, ...args, '100000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let read = 0;
  let finished = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'finished') finished += 1;
    if (read++ === lines) child.kill('SIGKILL');
  }
  await ended;
  return finished;
}

/** A program that stores attempts for the same failure again and again, and prints each step once it is done. */
function workerIn(dir: string): string {
  const file = path.join(dir, 'worker.mjs');
  const src = compiledSrc();
  writeFileSync(
    file,
    `import { openStore } from ${JSON.stringify(path.join(src, 'store/open-store.js'))};
     import { createStore } from ${JSON.stringify(path.join(src, 'store/create-store.js'))};
     const [location, runId, times] = process.argv.slice(2);
     process.stdout.write('begins\\n');
     const opened = await openStore(location, '/');
     if (!opened.ok) throw new Error(opened.error.message + ' ' + opened.error.detail);
     process.stdout.write('open\\n');
     const ledger = createStore(opened.value, 'shop', Date.now);
     const attempt = ${JSON.stringify(anAttempt())};
     for (let n = 1; n <= Number(times); n += 1) {
       const start = { runId, causeId: 'c1', signature: ${JSON.stringify(signature)}, category: 'ui-error', n, agent: 'debugger' };
       const id = [runId, process.pid, n].join();
       await ledger.startAttempt({ id, ...start });
       process.stdout.write('started\\n');
       await ledger.finishAttempt(id, attempt);
       process.stdout.write('finished\\n');
     }
     await ledger.close();`,
  );
  return file;
}

async function damagedStore(): Promise<Buffer> {
  const file = path.join(tempDir(), 'whole.db');
  const opened = await openStore(file, '/');
  if (opened.ok) await opened.value.destroy();
  const { default: Libsql } = await import('libsql');
  const db = new Libsql(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const bytes = readFileSync(file);
  return bytes.fill(0xaa, 4096, bytes.length - 100);
}

async function foreignStore(): Promise<Buffer> {
  const file = path.join(tempDir(), 'other.db');
  const { default: Libsql } = await import('libsql');
  const db = new Libsql(file);
  db.exec('create table songs (title text)');
  db.close();
  return readFileSync(file);
}
