import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { z } from 'zod';
import { createAction } from './end-command.js';
import { exitCodes } from '../model/exit-codes.js';
import { classifyAgentError } from '../agents/api-error.js';
import { loadSettings } from '../config/load-settings.js';
import { createClassify } from '../diagnose/classify.js';
import { formatFacts, formatReason, type Diagnosis } from '../model/diagnosis.js';
import { type Problem, describeError } from '../problem.js';
import { ok, type Result } from '../result.js';
import { createRedactor } from '../secrets/redactor.js';
import { createFailureShape, readJsonLines, recordId } from '../evidence/classify-input.js';

/** `self-heal classify`: classifies a failure, and shows the deciding evidence (CL-8). */
export function define(command: Command): Command {
  return command
    .argument('[file]', 'a file with the text of a failure, or - for standard input', '-')
    .option('--jsonl', 'read one JSON failure per line, print one result per line')
    .option('--json', 'print the whole diagnosis as JSON')
    .option('--agent', 'classify the error output of a coding agent: retryable, context_overflow or fatal')
    .action(createAction(runClassify));
}

/** Runs `self-heal classify` with the project's own rules (CS-9); returns the exit code, or the problem with the input. */
async function runClassify(
  file: string,
  { jsonl, json, agent }: { jsonl?: boolean; json?: boolean; agent?: boolean },
): Promise<number | Problem> {
  const whenRead = file === '-' ? readText(process.stdin) : readFile(file, 'utf8');
  const input = await whenRead.catch((error: unknown) => createUnreadableProblem(file, error));
  if (typeof input !== 'string') return input;
  const redactor = await createRedactor({ env: process.env, projectRoot: process.cwd() });
  const outputs = agent ? classifyAgentErrors(input, jsonl) : await classifyFailures(input, jsonl);
  if (!outputs.ok) return outputs.error;
  for (const { diagnosis, line, text } of redactor.deep(outputs.value)) {
    const output = json ? JSON.stringify(diagnosis, null, 2) : text;
    process.stdout.write(`${jsonl ? JSON.stringify(line) : output}\n`);
  }
  return exitCodes.green;
}

/** A diagnosis in each available output format. */
type ClassifyOutputs = Result<readonly { diagnosis: object; line: object; text: string }[], Problem>;

async function classifyFailures(input: string, jsonl = false): Promise<ClassifyOutputs> {
  const shape = createFailureShape(process.cwd());
  const failures = jsonl
    ? readJsonLines(input, shape, '{"error": {"message": "…"}}')
    : ok([shape.parse({ error: input })]);
  if (!failures.ok) return failures;
  const settings = await loadSettings({ cwd: process.cwd(), env: process.env });
  if (!settings.ok) return settings;
  const classify = createClassify(settings.value.classify);
  const outputs = failures.value.map(({ id, evidence }) => {
    const diagnosis = classify(evidence);
    const { category, alternatives, retry, why, advice } = diagnosis;
    const line = { id, category, alternatives, retry, why, ...(advice === undefined ? {} : { advice }) };
    return { diagnosis, line, text: formatDiagnosis(diagnosis) };
  });
  return ok(outputs);
}

function classifyAgentErrors(input: string, jsonl = false): ClassifyOutputs {
  const shape = z.object({ id: recordId, stderr: z.string() });
  const errors = jsonl ? readJsonLines(input, shape, '{"stderr": "…"}') : ok([{ id: null, stderr: input }]);
  if (!errors.ok) return errors;
  const outputs = errors.value.map(({ id, stderr }) => {
    const diagnosis = classifyAgentError(stderr);
    const { kind, reason, evidence } = diagnosis;
    const text = [`${kind} (${reason})`, ...(evidence === null ? [] : [`  ${evidence}`])].join('\n');
    return { diagnosis, line: { id, category: kind, reason, evidence }, text };
  });
  return ok(outputs);
}

function createUnreadableProblem(file: string, error: unknown): Problem {
  const remedy = 'Name a file that contains the text of a failure, or - to read standard input.';
  const detail = describeError(error);
  return { kind: 'input-unreadable', message: `${file} cannot be read`, detail, remedy };
}

function formatDiagnosis({ category, alternatives, retry, why, warning, facts, advice }: Diagnosis): string {
  return [
    `${category}${alternatives.length > 0 ? ` (or ${alternatives.join(', ')})` : ''}, ${retry}`,
    ...(warning && !advice ? [warning] : []),
    ...(advice ? [`No agent can help: ${advice}`] : []),
    ...[...why.map(formatReason), ...formatFacts(facts)].map((line) => `  ${line}`),
  ].join('\n');
}
