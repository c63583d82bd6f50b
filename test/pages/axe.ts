import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type { AxeResults } from 'axe-core';

const axe = createRequire(import.meta.url).resolve('axe-core');

/** The violations that axe finds on the current page: WCAG 2.2 A and AA and best practices, each with its element. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Evaluated, because the page's policy would refuse a script element.
  await page.evaluate(await readFile(axe, 'utf8'));
  const { violations } = await page.evaluate(
    async () => await (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
