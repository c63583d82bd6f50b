import type { AgentContext } from './context.js';

const linesAround = 8;

/**
 * Returns the lines of the accessibility snapshot around the text that a locator found, or else around the best match of the locator's words;
 * empty if no locator failed.
 */
export function excerptPage({
  ariaSnapshot,
  diagnosis,
  error,
  customElements = [],
}: Pick<AgentContext, 'ariaSnapshot' | 'diagnosis' | 'error' | 'customElements'>): string[] {
  const { category, facts } = diagnosis;
  if (category !== 'ui-error' || !ariaSnapshot || facts.locator === null) return [];
  const words = [...new Set(facts.locator.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [])];
  const lines = ariaSnapshot.split('\n');
  const scores = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word)).length);
  const received = /^\s*Received(?: \w+)?:\s*"(.+)"$/m.exec(error.message)?.[1];
  const match = received === undefined ? -1 : lines.findIndex((line) => line.includes(received));
  const best = match >= 0 ? match : Math.max(0, scores.indexOf(Math.max(...scores)));
  return [
    ...lines.slice(Math.max(0, best - linesAround), best + linesAround + 1),
    ...(customElements.length > 0 ? ['custom elements:', ...customElements] : []),
  ];
}
