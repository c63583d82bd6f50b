import { z } from 'zod';
import { readJsonLines, recordId } from '../evidence/classify-input.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';

const recordShape = z
  .object({ id: recordId, stderr: z.string() })
  .transform(({ id, stderr }) => ({ id, text: stderr }));

/** What one agent program wrote when it failed. */
export type AgentFailureRecord = z.infer<typeof recordShape>;

/** Reads what `self-heal classify --agent` is given: a text, or one `{"id": …, "stderr": "…"}` a line. */
export function readAgentFailures(
  text: string,
  format: 'text' | 'jsonl',
): Result<readonly AgentFailureRecord[], Problem> {
  return format === 'text' ? ok([{ id: null, text }]) : readJsonLines(text, recordShape, '{"stderr": "…"}');
}
