import type { ConsoleEntry, NetworkEntry } from '../evidence.js';
import { errorBody } from './requests.js';

/** Shorter texts (`error`, `not found`) turn up in unrelated messages. */
const shortestWords = 12;
const saidInJson = /"(?:[^"\\\n]|\\.){12,400}"/g;

/**
 * Makes the test whether what the console says is only an answer said again: a page that throws the text which a failed
 * request brought (`throw new Error(body.error)`) is not where the cause lies (CS-7).
 */
export function echoOf(failed: readonly NetworkEntry[]): (entry: ConsoleEntry) => boolean {
  const said = failed.flatMap(answeredWords);
  return ({ text }) => said.some((words) => text.includes(words));
}

function answeredWords(entry: NetworkEntry): string[] {
  const body = errorBody(entry).trim();
  if (body === '') return [];
  const quoted = body.match(saidInJson) ?? [];
  const words = quoted.length > 0 ? quoted.map((text) => unescaped(text)) : [body];
  return words.filter((text) => text.length >= shortestWords && text.includes(' '));
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
