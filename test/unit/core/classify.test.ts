import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { classify, unknownWarning } from '../../../src/core/classify/classify.js';
import { rules } from '../../../src/core/classify/rules.js';
import { noiseRules } from '../../../src/core/classify/rules/noise.js';
import { retryRules } from '../../../src/core/classify/rules/retry.js';
import type { Category, Facts, RetryAxis } from '../../../src/core/diagnosis.js';
import type { Evidence, NetworkEntry } from '../../../src/core/evidence.js';
import { headlineOf } from '../../../src/core/headline.js';
import { readClassifyInput } from '../../../src/evidence/classify-input.js';
import { aDiagnosed, anError, anEvidence } from '../../rig/builders.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

/** A failure in the form that `self-heal classify --jsonl` reads, with what is right. */
interface Recorded {
  readonly id: string;
  readonly category: Category;
  /** `code_error` by default. */
  readonly retry?: RetryAxis;
  readonly alternatives?: readonly Category[];
  /** The deciding line, if it is not the whole error. */
  readonly said?: string;
  /** The line of the user's own code. */
  readonly place?: string;
  /** The other facts, where the record is about them. */
  readonly facts?: Partial<Facts>;
  /** The failing line of the test, and the line that heads its cause. */
  readonly at?: number;
  readonly headline?: string;
}

const text = readFileSync(path.join(import.meta.dirname, 'recorded-failures.jsonl'), 'utf8');
const read = readClassifyInput(text, { format: 'jsonl', rootDir: '/project' });
const records = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);
const recorded = (read.ok ? read.value : []).flatMap(({ evidence }, at) => {
  const record = records[at];
  return record ? [{ record, evidence }] : [];
});

describe('recorded failures', () => {
  it.each(recorded.map((one) => [one.record.id, one] as const))(
    'CS-1 CS-2 CS-3 CS-4 CS-5 CS-7 CS-8 CS-10 CS-11 EV-5 EV-6 RP-1 %s',
    (_, { record, evidence: given }) => {
      const { category, retry, alternatives, why, facts } = classify(given);
      const { retry: axis = 'code_error', said = why[0]?.evidence, place = null } = record;
      expect({ category, retry, alternatives, said: why[0]?.evidence, place: facts.source }).toEqual({
        category: record.category,
        retry: axis,
        alternatives: record.alternatives ?? [],
        said,
        place,
      });
      if (record.facts) expect(facts).toMatchObject(record.facts);
      if (record.headline !== undefined) expect(headline(given, record.at)).toBe(record.headline);
    },
  );

  it('CS-9 each rule decides one of them', () => {
    const deciding = new Set(recorded.map((one) => classify(one.evidence).why[0]?.rule));
    expect(rules.map(({ id }) => id).filter((id) => !deciding.has(id))).toEqual([]);
  });

  it('CS-8 their reasons are the strongest first, and within the length of a line', () => {
    for (const { evidence: given } of recorded) {
      const { why, confidence } = classify(given);
      const sure = why.map((reason) => reason.confidence);
      // What the server said comes first, for it is why the request failed.
      if (why[0]?.source !== 'server') expect(sure).toEqual(sure.toSorted((a, b) => b - a));
      expect(confidence).toBe(sure[0] ?? 0);
      expect(Math.max(0, ...why.map((reason) => reason.evidence.length))).toBeLessThanOrEqual(301);
    }
  });
});

/** The line that heads the cause of a failure at a line of its test. */
function headline(given: Evidence, line = 1): string {
  const location = { file: '/project/tests/a.spec.ts', line, column: 3 };
  const evidence = { ...given, errors: given.errors.map((error) => ({ ...error, location })) };
  return headlineOf(aDiagnosed({ evidence, diagnosis: classify(evidence) }));
}

describe('rules', () => {
  const all = [...rules, ...retryRules, ...noiseRules];

  it('CS-9 no two rules have the same id, and none keeps a state', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.filter(({ pattern }) => /[gy]/.test(pattern.flags))).toEqual([]);
  });

  it('EV-11 no pattern takes more than linear time over its own words', () => {
    const isSlow = ({ pattern }: (typeof all)[number]) => {
      const started = process.cpuUsage().user;
      for (const word of wordsOf(pattern)) pattern.test(word.repeat(6000 / word.length));
      return process.cpuUsage().user - started > 400_000;
    };
    // The figure is that of the whole process, which may compile or collect meanwhile: what is slow is slow each time.
    const slow = [1, 2, 3].reduce((left) => left.filter(isSlow), all);
    expect(slow.map(({ id }) => id)).toEqual([]);
  });
});

/** The words in a pattern's source, alone and followed by a space. */
function wordsOf({ source }: RegExp): string[] {
  const words = source.split(/\\?[^\w'".:/ ]+/).filter((word) => word.trim().length > 1);
  return [...new Set(words)].flatMap((word) => [word, `${word} `]);
}

it('CS-6 warns of an unknown failure with exactly these words', () => {
  expect(unknownWarning).toBe('Error type unknown, using default agent');
  expect(classify(failing('Error: something odd'))).toMatchObject({
    category: 'unknown',
    warning: unknownWarning,
    why: [],
    alternatives: [],
  });
  expect(classify(failing(locatorTimeout)).warning).toBeNull();
});

it.each([
  ['GitHub Actions', '2024-03-05T10:11:12.1234567Z '],
  ['a clock', '[10:11:12] '],
  ['a container', 'shop-web-1  | '],
  ['Playwright for a server', '[WebServer] '],
  ['Playwright for its own calls', '  pw:api '],
  ['pytest', 'E       '],
  ['one of several browsers', '[chrome #01-8] '],
  ['a task runner', '@shop/web:test: '],
  ['Next for an error', '⨯ '],
  ['PHP', '[Mon Nov  2 23:58:11 2026] '],
  ['PHP in an error log', '[24-Nov-2026 00:00:21 UTC] '],
  ['Next for the page', '[browser] '],
])('CS-1 ignores what %s puts before each line of a log', (_, prefix) => {
  for (const [said, category] of [
    ['- rendered on server: <!---->\n- expected on client: div', 'runtime-error'],
    ["    Locator: locator('#sum')\n    Expected: visible\n    Error: element(s) not found", 'ui-error'],
    ['  - navigating to "http://localhost:3000/", waiting until "load"', 'network-error'],
    ['FATAL:  the schema is locked', 'database-error'],
    ["Unexpected identifier 'cart'", 'build-error'],
  ] as const) {
    const passedOn = said.replace(/^/gm, prefix);
    expect([passedOn, classify(failing(passedOn)).category]).toEqual([passedOn, category]);
  }
});

describe('what green neighbors show too', () => {
  const serverOutput = 'error: column "vat" of relation "orders" does not exist';
  const ofOthers = [serverOutput];
  const own = request({ method: 'GET', resourceType: 'document', status: 200 });
  const common = (over: Partial<NetworkEntry> = {}) => ({ ...request(over), common: true });
  const open = common({ status: null, failure: 'no answer until the test ended' });
  const script = common({ url: 'http://localhost:3000/calendar.js', resourceType: 'script', status: 404 });
  const thrown = logged('ReferenceError: Calendar is not defined', { type: 'pageerror' });
  it.each<[string, Category, Partial<Evidence>]>([
    [
      'an answer decides if the server says why',
      'database-error',
      { serverOutput, network: [own, common()] },
    ],
    ['or its body', 'database-error', { network: [own, common({ responseBody: serverOutput })] }],
    ['an answer decides nothing if nothing says why', 'ui-error', { network: [own, common()] }],
    ['nor a refusal', 'ui-error', { serverOutput, ofOthers, network: [own, common({ status: 404 })] }],
    ['nor a call without an answer', 'ui-error', { serverOutput, ofOthers, network: [open] }],
    ['an unloaded script explains nothing', 'runtime-error', { network: [script], console: [thrown] }],
    ['an exception decides nothing', 'ui-error', { console: [{ ...thrown, common: true }] }],
  ])('CS-7 %s', (_, category, over) => {
    expect(classify(failing(locatorTimeout, over)).category).toBe(category);
  });
});

it('CS-7 the server’s own error is the cause of several errors of a test', () => {
  const errors = [anError(locatorTimeout), anError('error: relation "orders" does not exist')];
  expect(classify(anEvidence({ errors })).category).toBe('database-error');
});

describe('EV-11 evidence of any size', () => {
  const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length));
  const pieces = [
    'a',
    'at /',
    '(a)/',
    'a.ts:1:2',
    '"\\',
    "getByText('",
    '<a ',
    'Error: ',
    'Expected: "',
    '\n',
    '1|',
    ' ',
  ];
  it.each(pieces)('EV-11 classifies a megabyte of %j by the part that it reads', (piece) => {
    const long = megabyte(piece);
    const found = classify(
      failing(`${locatorTimeout}\n${long}`, {
        console: [logged(long, { type: 'pageerror', stack: long })],
        network: [request({ responseBody: long }), request({ url: `http://localhost:3000/${long}` })],
        serverOutput: long,
        ariaSnapshot: long,
      }),
    );
    expect(found.category).not.toBe('unknown');
  });

  it('EV-11 reads the beginning and the end of a long text', () => {
    const long = `${megabyte('noise\n')}error TS2304: Cannot find name 'cart'.`;
    expect(classify(failing('', { serverOutput: long })).category).toBe('build-error');
  });
});
