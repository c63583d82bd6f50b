import type { Page } from '@playwright/test';
import { internalCall } from './internal-call.js';

const timeoutMs = 500;
const maxSelector = 200;

/** The DOM members that are used here; self-heal is compiled without the browser's types. */
interface PageElement {
  readonly localName: string;
  readonly id: string;
  readonly classList: Iterable<string>;
  readonly parentElement: PageElement | null;
  readonly ownerDocument: { elementFromPoint(x: number, y: number): PageElement | null };
  getBoundingClientRect(): { left: number; top: number; width: number; height: number };
  contains(other: PageElement): boolean;
  closest(selector: string): { readonly control?: PageElement } | null;
}

/**
 * Runs in the page. Returns a selector for what a pointer would hit at the element's center, or null if that is the
 * element itself. For a hit inside a subtree, names the subtree's outermost element that does not contain the target.
 */
function coveredBy(element: PageElement): string | null {
  const { left, top, width, height } = element.getBoundingClientRect();
  let met = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
  if (!met || element.contains(met) || met.contains(element)) return null;
  if (met.closest('label')?.control === element) return null;
  while (met.parentElement && !met.parentElement.contains(element)) met = met.parentElement;
  const classes = [...met.classList].slice(0, 3).map((name) => `.${name}`);
  return [met.localName, met.id ? `#${met.id}` : '', ...classes].join('');
}

/** Returns a selector for what covers the center of the first element that `selector` finds; null if nothing does. */
export async function coveringElement(page: Page, selector: string): Promise<string | null> {
  const look = coveredBy as unknown as () => string | null;
  const covering: unknown = await internalCall(page, () =>
    page.locator(selector).first().evaluate(look, undefined, { timeout: timeoutMs }),
  ).catch(() => null);
  return typeof covering === 'string' ? covering.slice(0, maxSelector) : null;
}
