// Measures how many failures, and how many error outputs of agent programs, are classified in a second on one core, and how many correctly.
// Usage: node bench/classify.mjs [failures.jsonl [agent-stderr.jsonl]]; without a file it uses the sample below. Counts CPU time, so that other
// work on the machine does not matter. Records with labels (`category`, `secondary`, `retry`) are scored: strictly by the first, leniently by
// either.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { createFailureShape, readJsonLines } = await import(await bundleSrc('evidence/classify-input.ts'));
const { classifyAgentError } = await import(await bundleSrc('agents/api-error.ts'));
const { classify } = await import(await bundleSrc('diagnose/classify.ts'));

const wanted = 1_000;
const rounds = 5;
const roundMs = 1_000;

const call = (locator) =>
  `Call log:\n  - waiting for ${locator}\n    - locator resolved to <button class="cta">Pay</button>\n  - attempting click action\n    - waiting for element to be visible, enabled and stable\n`;
const sample = [
  {
    error: {
      message: `TimeoutError: locator.click: Timeout 30000ms exceeded.\n${call("getByRole('button', { name: 'Pay' })")}`,
    },
  },
  {
    error: { message: `Error: locator.fill: Test timeout of 30000ms exceeded.\n${call("locator('#card')")}` },
    console: [
      { type: 'pageerror', text: "TypeError: Cannot read properties of undefined (reading 'total')" },
    ],
  },
  {
    error: {
      message:
        'Error: expect(locator).toHaveText(expected) failed\n\nLocator:  locator(\'#sum\')\nExpected: "12.00"\nReceived: "0.00"\nTimeout:  5000ms',
    },
    network: [
      { method: 'POST', url: 'http://localhost:3000/api/orders', status: 500, resourceType: 'fetch' },
    ],
  },
  {
    error: {
      message:
        "src/cart.ts:12:5 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n12     total: '0',\n       ~~~~~",
    },
  },
  {
    error: {
      message:
        'Error: page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:3000/cart\nCall log:\n  - navigating to "http://localhost:3000/cart", waiting until "load"',
    },
  },
  {
    error: {
      message:
        'PostgresError: new row violates row-level security policy for table "orders"\n    at ErrorResponse (/srv/node_modules/postgres/src/connection.js:788:26)',
    },
  },
  {
    error: {
      message:
        'Invalid `prisma.order.create()` invocation:\n\nUnique constraint failed on the fields: (`number`)',
    },
  },
  { error: { message: 'Test timeout of 30000ms exceeded.' } },
].map((record) => JSON.stringify(record));

const [, , file, agentFile] = process.argv;
const text = file ? readFileSync(file, 'utf8') : sample.join('\n');
const records = readJsonLines(text, createFailureShape(process.cwd()), 'an error');
if (!records.ok) throw new Error(`${records.error.message}: ${records.error.detail}`);

report(
  'failures',
  classify,
  records.value.map(({ evidence }) => evidence),
);
report('agent failures', classifyAgentError, [
  'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  'unexpected status 401 Unauthorized: Invalid API key, url: http://127.0.0.1:4444/v1/responses',
  '{"type":"error","error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
  "TypeError: Cannot read properties of undefined (reading 'session')\n    at run (cli.js:503:17)",
]);

const judged = text
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line, index) => ({ record: JSON.parse(line), evidence: records.value[index].evidence }))
  .filter(({ record }) => record.category)
  .map(judge);
if (judged.length > 0) printJudgement(judged);
if (agentFile) printTable(readFileSync(agentFile, 'utf8'));

function judge({ record, evidence }) {
  const { category, retry, confidence, why } = classify(evidence);
  const strict = category === record.category;
  return {
    record,
    said: `${category} (${why[0]?.rule ?? 'no rule'}, ${confidence}), ${retry}`,
    strict,
    lenient: strict || category === record.secondary,
    retry: record.retry === undefined || retry === record.retry,
  };
}

function printJudgement(all) {
  const classes = [...new Set(all.map(({ record }) => record.category))].toSorted((a, b) =>
    a.localeCompare(b),
  );
  const row = (name, those) => ({
    class: name,
    records: those.length,
    strict: share(those, 'strict'),
    lenient: share(those, 'lenient'),
    retry: share(those, 'retry'),
  });
  console.table(
    [
      ...classes.map((name) =>
        row(
          name,
          all.filter(({ record }) => record.category === name),
        ),
      ),
      row('all', all),
    ],
    ['class', 'records', 'strict', 'lenient', 'retry'],
  );
  for (const { record, said, strict, retry } of all.filter((one) => !one.strict || !one.retry)) {
    const wrong = [strict ? '' : 'class', retry ? '' : 'retry'].filter(Boolean).join(' and ');
    console.log(`${record.id ?? '?'}: ${wrong}: is ${record.category}, ${record.retry}; said ${said}`);
  }
}

function share(those, key) {
  return (those.filter((one) => one[key]).length / those.length).toFixed(3);
}

function report(what, classifyOne, inputs) {
  const speeds = Array.from({ length: rounds + 1 }, () => speedOf(classifyOne, inputs));
  // The first round warms up the compiler.
  const best = Math.max(...speeds.slice(1));
  console.log(
    `${inputs.length} ${what}: ${best.toLocaleString('en')} classifications/s of CPU time (wanted: ${wanted.toLocaleString('en')})`,
  );
  if (best < wanted) process.exitCode = 1;
}

function speedOf(classifyOne, failures) {
  const start = process.cpuUsage();
  let count = 0;
  let usedMs = 0;
  while (usedMs < roundMs) {
    for (const failure of failures) classifyOne(failure);
    count += failures.length;
    const { user, system } = process.cpuUsage(start);
    usedMs = (user + system) / 1_000;
  }
  return Math.round((count / usedMs) * 1_000);
}

function printTable(text) {
  const kinds = ['retryable', 'context_overflow', 'fatal'];
  const records = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
  const taken = records.map((record) => ({ ...record, got: classifyAgentError(record.stderr).kind }));
  console.table(
    Object.fromEntries(
      kinds.map((kind) => [
        kind,
        Object.fromEntries(
          kinds.map((got) => [got, taken.filter((one) => one.category === kind && one.got === got).length]),
        ),
      ]),
    ),
  );
  const right = taken.filter((one) => one.got === one.category).length;
  const lenient = taken.filter((one) => one.got === one.category || one.got === one.secondary).length;
  const share = (count) => (count / taken.length).toFixed(3);
  console.log(
    `${taken.length} agent failures: ${share(right)} right, ${share(lenient)} with the second label`,
  );
}
