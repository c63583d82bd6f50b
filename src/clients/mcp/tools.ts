import { z } from 'zod';
import { choices, choiceText } from '../../model/choice.js';
import { proofDepths } from '../../model/verification.js';
import { blame, type CallOptions, heal, type Report, SelfHealError, verify } from '../../index.js';
import { listFailures, requireOneFailure } from '../inspect/find-failure.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { findRun, readReport } from '../../run/find-run.js';
import { findRunDir } from '../../run/run-folder.js';
import { createRedactor } from '../../secrets/redactor.js';
import { withStore } from '../../store/with-store.js';
import { dropUndefined } from '../../without-undefined.js';
import { listFailureFiles } from '../inspect/failure-files.js';
import {
  recordAnswer,
  findEscalation,
  createNoSuchEscalationProblem,
  listPendingEscalations,
  proveChosenPatch,
  type TypedAnswer,
} from '../answer-escalation.js';
import {
  type ToolAnswer,
  answeredShape,
  createFailureAnswer,
  failureShape,
  createVerificationAnswer,
  verificationAnswerShape,
  createQuestionsAnswer,
  questionsShape,
  createRunAnswer,
  runShape,
} from './answers.js';

/** The signal and the listener with which a client interrupts and follows a run. */
export type ToolHost = Pick<CallOptions, 'signal' | 'onEvent'>;

export interface Tool<Input extends z.ZodRawShape = z.ZodRawShape> {
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodRawShape;
  /** True if it neither changes files (not even `.self-heal`) nor runs the project's code. The other tools run its tests, which may do anything. */
  readonly isReadOnly: boolean;
  readonly run: (
    args: z.infer<z.ZodObject<Input>>,
    hosting: ToolHost,
  ) => Promise<Result<ToolAnswer, Problem>>;
  /** Creates the answer again from an earlier run, for its next pages; absent if the tool simply runs again. */
  readonly rebuild?: (runId: string) => Promise<Result<ToolAnswer, Problem>>;
}

/** Checks a tool against the type of its own input. */
function defineTool<Input extends z.ZodRawShape>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

/** A value from a client must never become an option of a program. Playwright would ignore filters after `--`, so such a value is refused. */
const valueShape = z.string().regex(/^(?!-)/, 'must not begin with -');
const valuesShape = z.array(valueShape).optional();
const filter = valuesShape.describe(
  "Playwright's test filters: regular expressions on the path, or file:line",
);
const project = valuesShape.describe('only these Playwright projects');

/** All tools, by name. */
export const tools: Readonly<Record<string, Tool>> = {
  run_tests: defineTool({
    description:
      'Run the Playwright tests of this project. Returns the red ones grouped by cause, each confirmed by a second run with a trace, with its class and the change to look at. No agent is started and nothing is edited.',
    input: { filter, project, grep: valueShape.optional() },
    output: runShape,
    isReadOnly: false,
    run: ({ filter = [], project, grep }, hosting) => {
      const options = { dryRun: true, tests: filter, ...dropUndefined({ project, grep }) };
      return awaitAnswer(createRunAnswer, heal({ ...options, ...hosting }));
    },
    rebuild: async (runId) => readStoredAnswer(runId, createRunAnswer),
  }),
  get_failure: defineTool({
    description:
      'Get the evidence of a failure: error, step, console, requests, server output, class and why, blame, and the paths of its files and its Playwright trace.',
    input: {
      failure: valueShape.describe('a cause (c1), the number of a failure, file:line, or part of the title'),
      run: valueShape.optional().describe('a run; the last one if absent'),
    },
    output: failureShape,
    isReadOnly: true,
    run: ({ failure, run }) => getFailure(failure, run ?? null),
  }),
  check_fix: defineTool({
    description:
      'Prove a fix before you call it done. Checks that the changes since the last red run weaken no test, that the red tests are green with the change and red without it (which this reverts and then restores), and with depth full that nothing else broke. Lists what is proven and what is not. Edit nothing while it runs.',
    input: {
      depth: z
        .enum(proofDepths)
        .optional()
        .describe('quick: only the tests that were red; full (default): also the rest of the suite'),
      filter: valuesShape.describe(
        'the tests that the change should fix; default: the tests that the last red run left red',
      ),
      base: valueShape.optional().describe('a commit to compare with instead'),
      review: z
        .boolean()
        .optional()
        .describe('have another agent review, in a new session, whether the change is honest'),
    },
    output: verificationAnswerShape,
    isReadOnly: false,
    run: ({ depth, filter, base, review }, hosting) =>
      awaitAnswer(createVerificationAnswer, verify({ depth, tests: filter, base, review, ...hosting })),
    rebuild: async (runId) => readStoredAnswer(runId, createVerificationAnswer),
  }),
  blame: defineTool({
    description:
      'Find the smallest change that broke a red test, by running it with changes reverted. Takes several runs of the test.',
    input: {
      test: valueShape
        .optional()
        .describe('a cause (c1) or a test filter; default: the tests that the last run left red'),
      base: valueShape.optional().describe('a commit at which the test passed'),
    },
    output: runShape,
    isReadOnly: false,
    run: ({ test, base }, hosting) => awaitAnswer(createRunAnswer, blame({ test, base, ...hosting })),
    rebuild: async (runId) => readStoredAnswer(runId, createRunAnswer),
  }),
  open_questions: defineTool({
    description:
      'List the questions that only a person can answer, with the attempts so far and the ready patches.',
    input: {},
    output: questionsShape,
    isReadOnly: true,
    run: async () => {
      const all = await withStore({ runsCode: true }, listPendingEscalations);
      return 'kind' in all ? err(all) : ok(createQuestionsAnswer(all));
    },
  }),
  answer_question: defineTool({
    description:
      "Record the person's answer to an open question. Ask the person first: the decision is theirs, not yours. A chosen patch (tests, app or whole) is applied and proven.",
    input: {
      id: valueShape,
      choice: z.enum(choices),
      guidance: z.string().optional().describe('for guide: what the next agent has to know'),
      allow: z.enum(['tests']).optional().describe('for guide: the next agent may change the tests'),
      days: z.int().min(1).max(9999).optional().describe('for skip: how long the quarantine lasts'),
    },
    output: answeredShape,
    isReadOnly: false,
    run: answerQuestion,
  }),
};

const interrupted: Problem = {
  kind: 'usage',
  message: 'the run was interrupted',
  remedy: 'Call the tool again.',
};

/** Waits for a run. Returns a problem for the client; rethrows a bug. */
async function awaitAnswer(
  toAnswer: (report: Report) => ToolAnswer | null,
  run: Promise<Report>,
): Promise<Result<ToolAnswer, Problem>> {
  try {
    return createAnswer(toAnswer, await run);
  } catch (error) {
    if (!(error instanceof SelfHealError) || error.kind === 'bug') throw error;
    const { kind, message, remedy, detail } = error;
    return err({ kind, message, remedy, ...(detail !== null && { detail }) });
  }
}

function createAnswer(
  toAnswer: (report: Report) => ToolAnswer | null,
  report: Report,
): Result<ToolAnswer, Problem> {
  const result = report.outcome === 'interrupted' ? null : toAnswer(report);
  return result ? ok(result) : err(interrupted);
}

async function readStoredAnswer(
  runId: string,
  toAnswer: (report: Report) => ToolAnswer | null,
): Promise<Result<ToolAnswer, Problem>> {
  const report = await readReport(findRunDir(process.cwd(), runId));
  const result = report && toAnswer(report);
  const noRun: Problem = {
    kind: 'run-missing',
    message: `there is no run ${runId}`,
    remedy: 'Call the tool without a cursor.',
  };
  return result ? ok(result) : err(noRun);
}

async function getFailure(word: string, run: string | null): Promise<Result<ToolAnswer, Problem>> {
  const cwd = process.cwd();
  const storedRun = await findRun(cwd, run);
  if (!storedRun.ok) return storedRun;
  // The run may come from another machine, which did not know this machine's secrets.
  const redactor = await createRedactor({ env: process.env, projectRoot: cwd });
  const all = redactor.deep(listFailures(storedRun.value));
  const found = requireOneFailure(word, all);
  if (!found.ok) return found;
  return ok(
    createFailureAnswer(
      storedRun.value.runId,
      found.value,
      await listFailureFiles(storedRun.value, found.value, cwd),
    ),
  );
}

async function answerQuestion(
  { id, ...typed }: TypedAnswer & { readonly id: string },
  hosting: ToolHost,
): Promise<Result<ToolAnswer, Problem>> {
  const answered = await withStore({ runsCode: true }, async (store) => {
    if (store === null) return err(createNoSuchEscalationProblem(id));
    const escalation = await findEscalation(store, id);
    return escalation.ok ? recordAnswer(store, escalation.value, typed, { json: true }) : escalation;
  });
  if ('kind' in answered) return err(answered);
  if (!answered.ok) return answered;
  const { id: fullId, state, choice } = answered.value.escalation;
  const line = `${fullId} ${state}${choice === null ? '' : `: ${choiceText[choice]}`}`;
  const data = { id: fullId, state, run: null };
  const proven = await proveChosenPatch(answered.value, hosting);
  if (proven === null) return ok({ data, text: line });
  const result = proven.ok ? createAnswer(createRunAnswer, proven.value) : proven;
  return result.ok
    ? ok({ data: { ...data, run: result.value.data }, text: `${line}\n\n${result.value.text}` })
    : result;
}
