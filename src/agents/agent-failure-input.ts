import { z } from 'zod';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** What one agent program wrote when it failed. */
export interface AgentFailureRecord {
  /** What the record calls itself, or null. */
  readonly id: string | null;
  readonly text: string;
}

const recordShape = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  stderr: z.string(),
});

/** Reads what `self-heal classify --agent` is given: a text, or one `{"id": …, "stderr": "…"}` a line. */
export function readAgentFailures(
  text: string,
  format: 'text' | 'jsonl',
): Result<readonly AgentFailureRecord[], Problem> {
  if (format === 'text') return ok([{ id: null, text }]);
  const records: AgentFailureRecord[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const shaped = recordShape.safeParse(parseJson(line));
    if (!shaped.success) return err(unreadable(index + 1, z.prettifyError(shaped.error)));
    const { id, stderr } = shaped.data;
    records.push({ id: id === undefined || id === null ? null : String(id), text: stderr });
  }
  return ok(records);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function unreadable(line: number, detail: string): Problem {
  return {
    kind: 'input-unreadable',
    message: `line ${line} is not a failure of an agent program`,
    remedy: 'write each as a JSON object with at least {"stderr": "…"}',
    detail,
  };
}
