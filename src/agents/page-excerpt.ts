import type { AgentContext } from './context.js';

const linesAround = 8;

/**
 * Returns the part of the accessibility snapshot around what a locator found, or that best matches what it looked for; empty if no locator
 * failed.
 */
export function pageExcerpt(given: Pick<AgentContext, 'ariaSnapshot' | 'diagnosis' | 'error'>): string[] {
  const { ariaSnapshot, diagnosis, error } = given;
  const { category, facts } = diagnosis;
  if (category !== 'ui-error' || !ariaSnapshot || facts.locator === null) return [];
  const words = [...new Set(facts.locator.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [])];
  const lines = ariaSnapshot.split('\n');
  const scores = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word)).length);
  const received = /^\s*Received(?: \w+)?:\s*"(.+)"$/m.exec(error.message)?.[1];
  const found = received === undefined ? -1 : lines.findIndex((line) => line.includes(received));
  const best = found >= 0 ? found : Math.max(0, scores.indexOf(Math.max(...scores)));
  return lines.slice(Math.max(0, best - linesAround), best + linesAround + 1);
}
