import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { z } from 'zod';
import { endWith } from './end.js';
import { exitCodes } from '../core/exit-codes.js';
import { classifyAgentError } from '../core/agent-error.js';
import { loadSettings } from '../config/load-settings.js';
import { createClassify } from '../core/classify/classify.js';
import { factLines, reasonLine, type Diagnosis } from '../core/diagnosis.js';
import { type Problem, reasonOf } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { createRedactor, type Redactor } from '../secrets/redactor.js';
import { classifyFormatOf, readClassifyInput, readJsonLines, recordId } from '../evidence/classify-input.js';

/** `self-heal classify`: classifies a failure, and shows the deciding evidence (CL-8). */
export function define(command: Command): Command {
  return command
    .argument('[file]', 'a file, or - for standard input', '-')
    .option('--jsonl', 'read one JSON failure per line, print one result per line')
    .option('--json', 'print the whole diagnosis as JSON')
    .option('--agent', 'classify the error output of a coding agent: retryable, context_overflow or fatal')
    .action(endWith(runClassify));
}

type AgentDiagnosis = ReturnType<typeof classifyAgentError>;

/** The flags of `self-heal classify`. */
interface ClassifyOptions {
  jsonl?: boolean;
  json?: boolean;
  agent?: boolean;
}

/** Runs `self-heal classify` with the project's own rules (CS-9); returns the exit code, or the problem that prevented reading. */
async function runClassify(file: string, options: ClassifyOptions): Promise<number | Problem> {
  const input = await readInput(file);
  if (!input.ok) return input.error;
  const redactor = await createRedactor({ env: process.env, projectRoot: process.cwd() });
  if (options.agent) return runAgent(input.value, options, redactor);
  const format = options.jsonl ? 'jsonl' : classifyFormatOf(input.value);
  const records = readClassifyInput(input.value, { format, rootDir: process.cwd() });
  if (!records.ok) return records.error;
  const settings = await loadSettings({ cwd: process.cwd(), env: process.env });
  if (!settings.ok) return settings.error;
  const classify = createClassify(settings.value.classify);
  return print(records.value, options, ({ id, evidence }) => {
    const diagnosis = redactor.deep(classify(evidence));
    const { category, alternatives, retry, why, advice } = diagnosis;
    const line = { id, category, alternatives, retry, why, ...(advice === undefined ? {} : { advice }) };
    return { diagnosis, line, text: asText(diagnosis) };
  });
}

function runAgent(input: string, options: ClassifyOptions, redactor: Redactor): number | Problem {
  const records = readAgentFailures(input, options.jsonl ? 'jsonl' : 'text');
  if (!records.ok) return records.error;
  return print(records.value, options, ({ id, text }) => {
    const diagnosis = redactor.deep(classifyAgentError(text));
    const { kind, reason, evidence } = diagnosis;
    return { diagnosis, line: { id, category: kind, reason, evidence }, text: asAgentText(diagnosis) };
  });
}

/** A diagnosis in each available output format. */
interface Forms {
  readonly diagnosis: object;
  readonly line: object;
  readonly text: string;
}

function print<T>(
  records: readonly T[],
  { jsonl, json }: ClassifyOptions,
  formsOf: (one: T) => Forms,
): number {
  const shown = records.map(formsOf).map(({ diagnosis, line, text }) => {
    if (jsonl) return JSON.stringify(line);
    return json ? JSON.stringify(diagnosis, null, 2) : text;
  });
  process.stdout.write(shown.map((one) => `${one}\n`).join(''));
  return exitCodes.green;
}

function asAgentText({ kind, reason, evidence }: AgentDiagnosis): string {
  return [`${kind} (${reason})`, ...(evidence === null ? [] : [`  ${evidence}`])].join('\n');
}

async function readInput(file: string): Promise<Result<string, Problem>> {
  try {
    return ok(file === '-' ? await textOf(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    return err({
      kind: 'input-unreadable',
      message: `${file} cannot be read`,
      detail: reasonOf(error),
      remedy: 'Name a file that contains the text of a failure, or - to read standard input.',
    });
  }
}

function asText({ category, alternatives, retry, why, warning, facts, advice }: Diagnosis): string {
  return [
    `${category}${alternatives.length > 0 ? ` (or ${alternatives.join(', ')})` : ''}, ${retry}`,
    ...(warning && !advice ? [warning] : []),
    ...(advice ? [`No agent can help: ${advice}`] : []),
    ...[...why.map(reasonLine), ...factLines(facts)].map((line) => `  ${line}`),
  ].join('\n');
}

const recordShape = z
  .object({ id: recordId, stderr: z.string() })
  .transform(({ id, stderr }) => ({ id, text: stderr }));

/** The output of an agent program that failed. */
type AgentFailureRecord = z.infer<typeof recordShape>;

/** Reads the input of `self-heal classify --agent`: a text, or one `{"id": …, "stderr": "…"}` per line. */
function readAgentFailures(
  text: string,
  format: 'text' | 'jsonl',
): Result<readonly AgentFailureRecord[], Problem> {
  return format === 'text' ? ok([{ id: null, text }]) : readJsonLines(text, recordShape, '{"stderr": "…"}');
}
