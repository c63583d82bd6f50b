import type { z } from 'zod';
import type { AgentUsage } from '../model/attempt.js';
import { jsonOf } from '../json-of.js';
import { agentErrorFrom } from './agent-error.js';
import { answersIn } from './claim.js';
import {
  type AgentResult,
  noUsage,
  type LineMeaning,
  type OutputReader,
  type OutputStream,
} from './runner.js';

/** What a program has said so far about its work. */
export interface Heard {
  /** Its messages, among which the completion signal is (AG-3). */
  said: string;
  /** Its own account of why it failed; null if it has not, or has overcome the error. */
  failure: string | null;
  readonly usage: { -readonly [Name in keyof AgentUsage]: AgentUsage[Name] };
  readonly denials: string[];
}

/** How the lines of one program are understood. */
interface Understanding<Shape extends z.ZodType> {
  readonly onEvent: (event: z.output<Shape>, heard: Heard) => LineMeaning;
  /** Interprets a line that is not an event; without it, such lines mean nothing. */
  readonly onOther?: (line: string, heard: Heard, from: OutputStream) => LineMeaning;
  /** Called once, after the last line. */
  readonly atEnd?: (heard: Heard) => void;
}

/** What a line means that says nothing. */
export const nothing: LineMeaning = { activity: null, complete: false };

/** Reads the output of a program that prints JSON lines with this shape. */
export function jsonLinesReader<Shape extends z.ZodType>(
  program: string,
  shape: Shape,
  { onEvent, onOther = () => nothing, atEnd }: Understanding<Shape>,
): OutputReader {
  const heard: Heard = { said: '', failure: null, usage: { ...noUsage }, denials: [] };
  return {
    line: (text, from) => {
      const event = text.startsWith('{') ? shape.safeParse(jsonOf(text)) : null;
      return event?.success ? onEvent(event.data, heard) : onOther(text, heard, from);
    },
    result: () => {
      atEnd?.(heard);
      const { said, failure, usage, denials } = heard;
      const error = failure === null ? null : endOf(failure, program);
      return { ...answersIn(said), usage, denials, error };
    },
  };
}

/** A model that answers nothing has worked and changed nothing, which some programs report as an error (copilot, gemini). */
function endOf(failure: string, program: string): AgentResult['error'] {
  const isEmpty = /\bempty response\b|\bno response was returned\b/i.test(failure);
  return isEmpty ? { kind: 'completed' } : agentErrorFrom(failure, program);
}

/** Counts one more turn and what it used, as far as the program says. */
export function countTurn(
  { usage }: Heard,
  turn: { readonly [Name in 'costUsd' | 'inputTokens' | 'outputTokens']?: number | undefined },
): void {
  for (const name of ['costUsd', 'inputTokens', 'outputTokens'] as const)
    if (turn[name] !== undefined) usage[name] = (usage[name] ?? 0) + turn[name];
  usage.turns = (usage.turns ?? 0) + 1;
}
