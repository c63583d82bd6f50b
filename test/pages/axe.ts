import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { AxeResults } from 'axe-core';

const axe = createRequire(import.meta.url).resolve('axe-core');

/** What axe has against the page as it is now: WCAG 2.2 A and AA, and best practices, each with the elements. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Not a script of the page, which its policy would refuse.
  await page.evaluate(await readFile(axe, 'utf8'));
  const { violations } = await page.evaluate(
    async () => await (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
