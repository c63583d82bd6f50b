import type { z } from 'zod';
import type { AgentUsage } from '../model/attempt.js';
import { jsonOf } from '../json-of.js';
import { createAgentError } from './agent-error.js';
import { findClaim } from './claim.js';
import {
  type AgentResult,
  noMeaning,
  noUsage,
  type LineMeaning,
  type OutputReader,
  type OutputStream,
} from './runner.js';

/** A program's output so far. */
export interface Transcript {
  /** Its messages, which contain the completion signal (AG-3). */
  messages: string;
  /** The last message. */
  final: string;
  /** Its error, or the unclassified text of one; null if there is none, or if the program has recovered. */
  failure: string | AgentResult['error'];
  readonly usage: { -readonly [Name in keyof AgentUsage]: AgentUsage[Name] };
  readonly denials: string[];
}

/** Interprets the output of one program. */
interface LineHandlers<Shape extends z.ZodType> {
  readonly onEvent: (event: z.output<Shape>, transcript: Transcript) => LineMeaning;
  /** Interprets a line that is not an event. By default, such lines mean nothing. */
  readonly onOtherLine?: (line: string, transcript: Transcript, from: OutputStream) => LineMeaning;
}

/** Reads the output of a program that prints JSON lines with this shape. */
export function createJsonLinesReader<Shape extends z.ZodType>(
  program: string,
  shape: Shape,
  { onEvent, onOtherLine = () => noMeaning }: LineHandlers<Shape>,
): OutputReader {
  const transcript: Transcript = {
    messages: '',
    final: '',
    failure: null,
    usage: { ...noUsage },
    denials: [],
  };
  return {
    line: (text, from) => {
      const event = text.startsWith('{') ? shape.safeParse(jsonOf(text)) : null;
      return event?.success ? onEvent(event.data, transcript) : onOtherLine(text, transcript, from);
    },
    result: () => {
      const { messages, final, failure, usage, denials } = transcript;
      const error = typeof failure === 'string' ? createAgentError(failure, program) : failure;
      return { claim: findClaim(messages), final, usage, denials, error };
    },
  };
}

/** Describes a tool call by the tool's name and its first text input. */
export function describeToolCall(tool = 'tool', ...inputs: readonly unknown[]): string {
  return `${tool} ${inputs.find((input) => typeof input === 'string') ?? ''}`.trim();
}

/** Adds a whole message. */
export function addMessage(transcript: Transcript, text = ''): void {
  transcript.messages += `${text}\n`;
  transcript.final = text;
}

/** Counts a turn and its reported usage. */
export function countTurn(
  { usage }: Transcript,
  turn: { readonly [Name in 'costUsd' | 'inputTokens' | 'outputTokens']?: number | undefined },
): void {
  for (const name of ['costUsd', 'inputTokens', 'outputTokens'] as const)
    if (turn[name] !== undefined) usage[name] = (usage[name] ?? 0) + turn[name];
  usage.turns = (usage.turns ?? 0) + 1;
}
