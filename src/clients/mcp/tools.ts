import { z } from 'zod';
import { choices, choiceText } from '../../model/choice.js';
import { proofDepths } from '../../model/verification.js';
import { blame, type CallOptions, heal, type Report, SelfHealError, verify } from '../../index.js';
import { failuresOf, onlyFailure } from '../inspect/find-failure.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { findRun, readReport } from '../../run/find-run.js';
import { runDirOf } from '../../run/run-folder.js';
import { createRedactor } from '../../secrets/redactor.js';
import { withStore } from '../../store/with-store.js';
import { withoutUndefined } from '../../without-undefined.js';
import { failureFilesOf } from '../inspect/failure-files.js';
import {
  recordAnswer,
  escalationOf,
  noSuchEscalation,
  pendingWithPatches,
  proveHosted,
  type TypedAnswer,
} from '../answer-escalation.js';
import {
  type ToolAnswer,
  answeredShape,
  failureAnswer,
  failureShape,
  fixAnswer,
  fixAnswerShape,
  questionsAnswer,
  questionsShape,
  runAnswer,
  runShape,
} from './answers.js';

/** How a client follows a run, and interrupts it. */
export type ToolHost = Pick<CallOptions, 'signal' | 'onEvent'>;

/** A tool: what an agent reads about it, what it takes and returns, and its work. */
export interface Tool<Input extends z.ZodRawShape = z.ZodRawShape> {
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodRawShape;
  /** Whether it changes nothing, not even `.self-heal`, and runs nothing of the project; the others run its tests, which may do anything. */
  readonly isReading: boolean;
  readonly work: (
    args: z.infer<z.ZodObject<Input>>,
    hosting: ToolHost,
  ) => Promise<Result<ToolAnswer, Problem>>;
  /** Builds the answer of an earlier run again, for its next pages; absent if the work itself is done again. */
  readonly again?: (runId: string) => Promise<Result<ToolAnswer, Problem>>;
}

/** Lets each tool take its own input. */
function tool<Input extends z.ZodRawShape>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

/** What a client names is a value, never an option of a program. It is refused, since Playwright ignores the filters behind a `--`. */
const value = z.string().regex(/^(?!-)/, 'must not begin with -');
const texts = z.array(value).optional();
const filter = texts.describe(
  'test files as Playwright takes them: regular expressions on the path, or file:line',
);
const project = texts.describe('only these Playwright projects');

/** All tools, by name. */
export const tools: Readonly<Record<string, Tool>> = {
  run_tests: tool({
    description:
      'Run the Playwright tests of this project. Returns the red ones grouped by cause, each confirmed by a second run with a trace, with its class and the change to look at. No agent is started and nothing is edited.',
    input: { filter, project, grep: value.optional() },
    output: runShape,
    isReading: false,
    work: ({ filter = [], project, grep }, hosting) => {
      const options = { dryRun: true, tests: filter, ...withoutUndefined({ project, grep }) };
      return answeredBy(runAnswer, heal({ ...options, ...hosting }));
    },
    again: async (runId) => stored(runId, runAnswer),
  }),
  get_failure: tool({
    description:
      'Get the evidence of a failure: error, step, console, requests, server output, class and why, blame, and the paths of its files and its Playwright trace.',
    input: {
      failure: value.describe('a cause (c1), the number of a failure, file:line, or part of the title'),
      run: value.optional().describe('a run; the last one if absent'),
    },
    output: failureShape,
    isReading: true,
    work: ({ failure, run }) => getFailure(failure, run ?? null),
  }),
  check_fix: tool({
    description:
      'Prove the changes in the working tree since the last red run, before you call a fix done: tests not weakened, red tests green with the change and red without it (it is taken out for that and put back), and with full nothing else broken. Says what is proven and what not. Never edits. Do not edit while it runs.',
    input: {
      depth: z
        .enum(proofDepths)
        .optional()
        .describe('quick: only the tests that were red; full (default): the whole suite, too'),
      filter: texts.describe(
        'the tests that the change is for; those that the last red run left red if absent',
      ),
      base: value.optional().describe('a commit to compare with instead'),
      review: z
        .boolean()
        .optional()
        .describe('have another agent, in a new session, read whether the change is honest'),
    },
    output: fixAnswerShape,
    isReading: false,
    work: ({ depth, filter, base, review }, hosting) =>
      answeredBy(fixAnswer, verify({ depth, tests: filter, base, review, ...hosting })),
    again: async (runId) => stored(runId, fixAnswer),
  }),
  blame: tool({
    description:
      'Find the smallest change that broke a red test, by running it with changes taken out and put back. Takes several runs of the test.',
    input: {
      test: value.optional().describe('a cause (c1) or a test filter; what the last run left red if absent'),
      base: value.optional().describe('a commit at which the test passed'),
    },
    output: runShape,
    isReading: false,
    work: ({ test, base }, hosting) => answeredBy(runAnswer, blame({ test, base, ...hosting })),
    again: async (runId) => stored(runId, runAnswer),
  }),
  open_questions: tool({
    description:
      'List the questions that only a person can answer, with what was tried and the patches that are ready.',
    input: {},
    output: questionsShape,
    isReading: true,
    work: async () => {
      const all = await withStore({ runsCode: true }, pendingWithPatches);
      return 'kind' in all ? err(all) : ok(questionsAnswer(all));
    },
  }),
  answer_question: tool({
    description:
      'Record the answer of the person to an open question. Ask the person first: the decision is theirs, not yours. A chosen patch (tests, app or whole) is applied and proven.',
    input: {
      id: value,
      choice: z.enum(choices),
      guidance: z.string().optional().describe('for guide: what the next agent has to know'),
      allow: z.enum(['tests']).optional().describe('for guide: the next agent may change the tests'),
      days: z.int().min(1).max(9999).optional().describe('for skip: how long the quarantine lasts'),
    },
    output: answeredShape,
    isReading: false,
    work: answerQuestion,
  }),
};

const interrupted: Problem = {
  kind: 'usage',
  message: 'the run was interrupted',
  remedy: 'Call the tool again.',
};

/** Waits for a run. The client reads why self-heal could not do it; a bug is thrown again. */
async function answeredBy(
  answer: (report: Report) => ToolAnswer | null,
  run: Promise<Report>,
): Promise<Result<ToolAnswer, Problem>> {
  try {
    return answerOf(answer, await run);
  } catch (error) {
    if (!(error instanceof SelfHealError) || error.kind === 'bug') throw error;
    const { kind, message, remedy, detail } = error;
    return err({ kind, message, remedy, ...(detail !== null && { detail }) });
  }
}

function answerOf(
  answer: (report: Report) => ToolAnswer | null,
  report: Report,
): Result<ToolAnswer, Problem> {
  const result = report.outcome === 'interrupted' ? null : answer(report);
  return result ? ok(result) : err(interrupted);
}

async function stored(
  runId: string,
  answer: (report: Report) => ToolAnswer | null,
): Promise<Result<ToolAnswer, Problem>> {
  const report = await readReport(runDirOf(process.cwd(), runId));
  const result = report && answer(report);
  const gone: Problem = {
    kind: 'run-missing',
    message: `there is no run ${runId}`,
    remedy: 'Call the tool without a cursor.',
  };
  return result ? ok(result) : err(gone);
}

async function getFailure(word: string, run: string | null): Promise<Result<ToolAnswer, Problem>> {
  const cwd = process.cwd();
  const storedRun = await findRun(cwd, run);
  if (!storedRun.ok) return storedRun;
  // The run may be another machine's, which did not know the secrets of this one.
  const redactor = await createRedactor({ env: process.env, projectRoot: cwd });
  const all = redactor.deep(failuresOf(storedRun.value));
  const only = onlyFailure(word, all);
  if (!only.ok) return only;
  return ok(
    failureAnswer(storedRun.value.runId, only.value, await failureFilesOf(storedRun.value, only.value, cwd)),
  );
}

async function answerQuestion(
  { id, ...typed }: TypedAnswer & { readonly id: string },
  hosting: ToolHost,
): Promise<Result<ToolAnswer, Problem>> {
  const answered = await withStore({ runsCode: true }, async (store) => {
    if (store === null) return err(noSuchEscalation(id));
    const asked = await escalationOf(store, id);
    return asked.ok ? recordAnswer(store, asked.value, typed, { json: true }) : asked;
  });
  if ('kind' in answered) return err(answered);
  if (!answered.ok) return answered;
  const { id: fullId, state, choice } = answered.value.escalation;
  const line = `${fullId} ${state}${choice === null ? '' : `: ${choiceText[choice]}`}`;
  const data = { id: fullId, state, run: null };
  const proven = await proveHosted(answered.value, hosting);
  if (proven === null) return ok({ data, text: line });
  const result = proven.ok ? answerOf(runAnswer, proven.value) : proven;
  return result.ok
    ? ok({ data: { ...data, run: result.value.data }, text: `${line}\n\n${result.value.text}` })
    : result;
}
