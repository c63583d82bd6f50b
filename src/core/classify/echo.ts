import type { NetworkEntry } from '../evidence.js';
import { errorBody, quotedByJson } from './requests.js';

/** Shorter texts (`error`, `not found`) turn up in unrelated messages. */
const shortestText = 12;
const saidInJson = /"(?:[^"\\\n]|\\.){12,400}"/g;

/**
 * Makes the test whether a text only repeats a failed request's response: a page that throws the text of a response
 * (`throw new Error(body.error)`), or finds a page of HTML where it reads JSON, is not the cause (CS-7).
 */
export function echoOf(failed: readonly NetworkEntry[]): (text: string) => boolean {
  const said = failed.flatMap((entry) => [...responseTexts(entry), ...quotedByJson(entry.responseBody)]);
  return (text) => said.some((one) => text.includes(one));
}

function responseTexts(entry: NetworkEntry): string[] {
  const body = errorBody(entry).trim();
  if (body === '') return [];
  const quoted = body.match(saidInJson) ?? [];
  const texts = quoted.length > 0 ? quoted.map((text) => unescaped(text)) : [body];
  return texts.filter((text) => text.length >= shortestText && text.includes(' '));
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
