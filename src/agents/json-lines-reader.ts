import type { z } from 'zod';
import type { AgentUsage } from '../model/attempt.js';
import { jsonOf } from '../json-of.js';
import { agentErrorFrom } from './agent-error.js';
import { claimIn } from './claim.js';
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
  /** The last of them. */
  final: string;
  /** Its error, or the text of one that is still to be classified; null if it has none, or has overcome it. */
  failure: string | AgentResult['error'];
  readonly usage: { -readonly [Name in keyof AgentUsage]: AgentUsage[Name] };
  readonly denials: string[];
}

/** Interprets the output of one program. */
interface LineHandlers<Shape extends z.ZodType> {
  readonly onEvent: (event: z.output<Shape>, transcript: Transcript) => LineMeaning;
  /** Interprets a line that is not an event. By default, such lines mean nothing. */
  readonly onOther?: (line: string, transcript: Transcript, from: OutputStream) => LineMeaning;
}

/** Reads the output of a program that prints JSON lines with this shape. */
export function jsonLinesReader<Shape extends z.ZodType>(
  program: string,
  shape: Shape,
  { onEvent, onOther = () => noMeaning }: LineHandlers<Shape>,
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
      return event?.success ? onEvent(event.data, transcript) : onOther(text, transcript, from);
    },
    result: () => {
      const { messages, final, failure, usage, denials } = transcript;
      const error = typeof failure === 'string' ? agentErrorFrom(failure, program) : failure;
      return { claim: claimIn(messages), final, usage, denials, error };
    },
  };
}

/** Describes a tool call by the tool and the first of its inputs that is a text. */
export function toolActivity(tool = 'tool', ...inputs: readonly unknown[]): string {
  return `${tool} ${inputs.find((input) => typeof input === 'string') ?? ''}`.trim();
}

/** Adds a whole message. */
export function addMessage(transcript: Transcript, text = ''): void {
  transcript.messages += `${text}\n`;
  transcript.final = text;
}

/** Counts one more turn, and its usage as far as the program reports it. */
export function countTurn(
  { usage }: Transcript,
  turn: { readonly [Name in 'costUsd' | 'inputTokens' | 'outputTokens']?: number | undefined },
): void {
  for (const name of ['costUsd', 'inputTokens', 'outputTokens'] as const)
    if (turn[name] !== undefined) usage[name] = (usage[name] ?? 0) + turn[name];
  usage.turns = (usage.turns ?? 0) + 1;
}
