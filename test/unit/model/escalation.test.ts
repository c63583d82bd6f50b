import { describe, expect, it } from 'vitest';
import type { Side } from '../../../src/model/choice.js';
import type { Attempt } from '../../../src/model/attempt.js';
import {
  describeBlame,
  describeBlameWithPosition,
  canBeReverted,
  formatBlamePosition,
} from '../../../src/model/blame.js';
import { chooseRetryAxis } from '../../../src/model/cause.js';
import {
  readDecision,
  createGuidance,
  describeOffer,
  describeProblem,
  createQuestion,
} from '../../../src/model/escalation.js';
import { decideCountChange } from '../../../src/model/earlier-runs.js';
import {
  aBlame,
  aBlamedHunk,
  aCause,
  aDiagnosed,
  aDiagnosis,
  anAttempt,
  anEscalation,
  failing,
} from '../../rig/builders.js';

const nothingTried = { attempts: [], agentQuestion: null };
const facts = aDiagnosis().facts;

describe('a question to a person', () => {
  it.each([
    ['never_retry', ['provide-credentials', 'skip']],
    ['env_error', ['guide', 'simplify', 'skip']],
    ['code_error', ['guide', 'simplify', 'skip']],
  ] as const)('ME-5 %s offers %j', (retry, choices) => {
    const lead = aDiagnosed({ diagnosis: aDiagnosis({ retry }) });
    expect(createQuestion(aCause({ lead }), nothingTried).choices).toEqual(choices);
  });

  it.each([
    ['runtime/forbidden', 'code_error', ['guide', 'simplify', 'skip']],
    ['project/licence', 'never_retry', ['provide-credentials', 'skip']],
  ] as const)(
    'CS-11 a refusal (%s) that a blamed change caused has the retry axis %s',
    (rule, needs, choices) => {
      const category = 'network-error';
      const why = [{ rule, category, source: 'error', evidence: '403', confidence: 0.9 }] as const;
      const lead = aDiagnosed({ diagnosis: aDiagnosis({ retry: 'never_retry', why }) });
      const cause = aCause({ lead, blame: aBlame() });
      expect(chooseRetryAxis(cause)).toBe(needs);
      expect(createQuestion(cause, nothingTried)).toMatchObject({ retry: needs, choices });
      expect(chooseRetryAxis(aCause({ lead }))).toBe('never_retry');
    },
  );

  it.each([
    ['debugger', ['red', 'red', 'green', 'green'], 'by debugger, green 2 times with it, red before'],
    ['debugger', ['red', 'green', 'red', 'green'], 'by debugger, green 2 times with it, red without'],
    ['built-in', ['green'], 'by self-heal, green once with it'],
  ] as const)(
    'ME-5 describes a patch of %s with the runs %j as what they have shown',
    (agent, proof, words) => {
      expect(describeOffer({ side: 'app', agent, proof: [...proof] })).toMatch(new RegExp(`: ${words}$`));
    },
  );

  it('BL-4 BL-6 offers the newest ready patch of each side, and says what broke the test', () => {
    const of = (side: Side, over: Partial<Attempt>) =>
      anAttempt({ end: { kind: 'offered', because: '', side, proof: ['red', 'green'] }, ...over });
    const attempts = [
      of('app', { change: '1' }),
      of('tests', { change: '2' }),
      of('app', { change: '3', agent: 'built-in' }),
    ];
    const question = createQuestion(aCause({ blame: aBlame() }), { attempts, agentQuestion: null });
    expect(question.choices).toEqual(['tests', 'app', 'guide', 'simplify', 'skip']);
    expect(question.offers).toMatchObject([
      { side: 'tests', change: '2', agent: 'debugger' },
      { side: 'app', change: '3', agent: 'built-in' },
    ]);
    expect(question.recommendation).toContain('It was green before 3f2a91c');
    expect(createQuestion(aCause({ blame: aBlame() }), nothingTried)).toMatchObject({
      choices: ['guide', 'simplify', 'skip'],
      offers: [],
    });
  });

  it('ME-7 BL-6 an answer chooses a patch that was offered', () => {
    const offer = { side: 'app', agent: 'debugger', change: '3', files: [], patch: null, proof: [] } as const;
    const asked = anEscalation({ choices: ['app', 'guide'], offers: [offer] });
    const chosen = { side: 'app', agent: 'debugger', change: '3', runId: 'run1', takesOut: true };
    expect(readDecision(asked, { choice: 'app', guidance: null })).toEqual({ chosen, allows: null });
    expect(readDecision(asked, { choice: 'tests', guidance: null })).toBeNull();
    expect(readDecision(asked, { choice: 'guide', guidance: 'so' })).toBeNull();
    const open = { chosen: null, allows: 'tests' };
    expect(readDecision(asked, { choice: 'guide', guidance: 'so', allows: 'tests' })).toEqual(open);
  });

  it('ME-5 says why a person is asked', () => {
    const said = createQuestion(aCause(), {
      attempts: [],
      agentQuestion: null,
      reason: 'is this fix what you want?',
    });
    expect(said.problem).toContain('Reason for this question: is this fix what you want?');
  });

  it('ME-5 names each test of the cause, and describes each attempt in a sentence', () => {
    const lead = failing('t1');
    const members = [lead, failing('t2')];
    const attempts = [
      anAttempt({ files: [], exit: 'timed-out' }),
      anAttempt({ agent: null, slashCommand: null, files: [] }),
    ];
    const question = createQuestion(aCause({ lead, members }), { attempts, agentQuestion: null });
    expect(question.tests.map((test) => test.id)).toEqual(['t1', 't2']);
    expect(question.problem).toContain('2 tests fail because of it');
    expect(question.tried).toEqual([
      '/debugger ran out of time and changed no files: still red.',
      'The test was re-run without a change and failed again.',
    ]);
  });

  it.each([
    [{ category: 'database-error', facts: { ...facts, table: 'orders', policy: 'p' } }, 'security rule'],
    [{ category: 'network-error', facts: { ...facts, endpoint: 'POST /api/orders → 500' } }, '/api/orders'],
    [{ category: 'unknown', retry: 'never_retry' }, 'credentials'],
  ] as const)('ME-5 describes the problem in plain words: %j', (over, words) => {
    const said = describeProblem(aDiagnosis(over), { tests: 1, agentQuestion: null });
    expect(said).toContain(words);
    expect(said).not.toMatch(/:\d+|getBy|select /i);
  });
});

it('ME-5 an ellipsis shows where a long question was cut', () => {
  const said = describeProblem(aDiagnosis(), { tests: 1, agentQuestion: 'which word? '.repeat(99) });
  expect(said).toMatch(/The agent asks: (?:which word\? )+[a-z ]*…$/);
});

it.each([
  [{ choice: 'guide', guidance: ' It is Thanks. ' }, 'It is Thanks.'],
  [{ choice: 'guide', guidance: 'New.', allows: 'tests' }, 'New. The tests of this failure may be changed.'],
  [{ choice: 'provide-credentials', guidance: null }, null],
  [{ choice: 'skip', guidance: 'never mind' }, null],
] as const)('ME-7 the answer %j gives the next agent the guidance %j', (answer, guidance) => {
  expect(createGuidance(answer)).toBe(guidance);
});

it.each([
  ['still-failing', 'counts'],
  ['vanished', 'counts'],
  ['green', 'resets'],
  ['changed', 'leaves'],
  ['taken-out', 'counts'],
  ['interrupted', 'leaves'],
] as const)('ME-2 ME-4 the effect on the count of an attempt judged %s: %s', (kind, change) => {
  expect(decideCountChange(kind)).toBe(change);
});

const one = aBlamedHunk({ file: 'src/cart.ts' });

it.each([
  ['added lines', [one], 'green before 3f2a91c; reverting these 4 lines of src/cart.ts turns it green'],
  ['added and removed lines', [{ ...one, old: ['a'] }], 'reverting this change (+4 −1) of src/cart.ts'],
  [
    'two changes of different commits',
    [one, { ...one, file: 'src/b.ts', old: ['a'], commit: null }],
    'green at ba5e000; reverting these 2 changes (+8 −1) of src/cart.ts, src/b.ts (not committed)',
  ],
] as const)('BL-3 describes the blamed change in a sentence: %s', (_, hunks, words) => {
  expect(describeBlame(aBlame({ hunks }))).toContain(words);
});

it('BL-3 does not say that a test was green before unless a run has seen it green', () => {
  const base = { commit: 'ba5e000000', from: 'merge-base' } as const;
  expect(describeBlame(aBlame({ base, hunks: [one] }))).toBe(
    'Reverting these 4 lines of src/cart.ts (3f2a91c) turns it green',
  );
});

it('BL-3 names no hunk or file of changes of several commits that runs have not narrowed down', () => {
  const other = { ...one, file: 'src/b.ts', commit: null };
  const wide = aBlame({ hunks: [one, other], isMinimal: false, outOf: 2, runs: 3 });
  expect(describeBlameWithPosition(wide)).toBe(
    'It is green with all 2 changes since ba5e000 reverted; 3 runs have not narrowed them down to a commit',
  );
});

it('BL-3 BL-4 gives the place of the first line, and allows a revert only of changes in the app', () => {
  expect(formatBlamePosition(aBlame({ hunks: [one] }))).toBe('src/cart.ts:12');
  expect(canBeReverted(aBlame())).toBe(true);
  expect(canBeReverted(aBlame({ hunks: [one, { ...one, inTests: true }] }))).toBe(false);
  expect(canBeReverted(undefined)).toBe(false);
});
