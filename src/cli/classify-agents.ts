import { z } from 'zod';
import { agentTroubleOf, type AgentTrouble } from '../core/agent-trouble.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

const recordShape = z.object({ id: z.union([z.string(), z.number()]).nullish(), stderr: z.string() });

/** `self-heal classify --agent`: whether an agent program's failure asks for waiting, for less to read, or for a person (AG-6). */
export function classifyAgents(
  text: string,
  { jsonl, json }: { jsonl?: boolean; json?: boolean },
): number | Problem {
  if (!jsonl)
    return print([json ? JSON.stringify(agentTroubleOf(text), null, 2) : asText(agentTroubleOf(text))]);
  const lines: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const read = readRecord(line);
    if (!read.ok) return unreadable(index + 1, read.error);
    const { kind, rule } = agentTroubleOf(read.value.stderr);
    lines.push(JSON.stringify({ id: read.value.id ?? null, category: kind, rule }));
  }
  return print(lines);
}

function readRecord(line: string): Result<z.infer<typeof recordShape>, string> {
  try {
    const shaped = recordShape.safeParse(JSON.parse(line));
    return shaped.success ? ok(shaped.data) : err(z.prettifyError(shaped.error));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

function asText({ kind, rule, remedy }: AgentTrouble): string {
  return [`${kind}${rule === null ? '' : ` (${rule})`}`, ...(remedy === null ? [] : [`  → ${remedy}`])].join(
    '\n',
  );
}

function print(lines: readonly string[]): number {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return 0;
}

function unreadable(line: number, detail: string): Problem {
  return {
    kind: 'input-unreadable',
    message: `line ${line} is no failure of an agent program`,
    detail,
    remedy: 'Give one JSON object a line, with "id" and "stderr".',
  };
}
