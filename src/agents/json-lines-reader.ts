import type { z } from 'zod';
import type { AgentUsage } from '../model/attempt.js';
import { parseJson } from '../parse-json.js';
import { createAgentError } from './agent-error.js';
import { findClaim } from './claim.js';
import { type AgentResult, type Conversation, noUsage } from './runner.js';

/** A program's output so far. */
export interface Transcript {
  /** Its messages, which contain the completion signal (AG-3). */
  messages: string;
  /** The last message. */
  finalMessage: string;
  /** Its error, or the unclassified text of one; null if there is none, or if the program has recovered. */
  failure: string | AgentResult['error'];
  usage: AgentUsage;
  readonly denials: string[];
}

/** Interprets the output of one program. */
interface LineHandlers<Shape extends z.ZodType> {
  readonly onEvent: (event: z.output<Shape>, transcript: Transcript) => void;
  /** Called with a line that is not an event. */
  readonly onOtherLine?: (line: string, transcript: Transcript) => void;
}

/** Reads the output of a program that prints JSON lines with this shape. */
export function readJsonLines<Shape extends z.ZodType>(
  program: string,
  shape: Shape,
  { onEvent, onOtherLine }: LineHandlers<Shape>,
): Required<Pick<Conversation, 'readLine' | 'result'>> {
  const transcript: Transcript = {
    messages: '',
    finalMessage: '',
    failure: null,
    usage: noUsage,
    denials: [],
  };
  return {
    readLine: (line) => {
      const event = line.startsWith('{') ? shape.safeParse(parseJson(line)) : null;
      if (event?.success) onEvent(event.data, transcript);
      else onOtherLine?.(line, transcript);
    },
    result: () => {
      const { messages, failure, ...others } = transcript;
      const error = typeof failure === 'string' ? createAgentError(failure, program) : failure;
      return { ...others, claim: findClaim(messages), error };
    },
  };
}

/** Adds a whole message. */
export function addMessage(transcript: Transcript, text = ''): void {
  transcript.messages += `${text}\n`;
  transcript.finalMessage = text;
}
