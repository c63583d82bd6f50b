import type { Page } from '@playwright/test';
import type { PageElement } from '../../core/evidence.js';
import { internalCall } from './internal-call.js';

/** A page with more elements is not read at all: a partial list could not prove that an element is absent. */
const maxElements = 800;
const maxText = 80;
const maxAttributes = 12;

/** The DOM members that are used here; self-heal is compiled without the browser's types. */
interface DomElement {
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly textContent: string | null }>;
  readonly labels?: Iterable<{ readonly textContent: string | null }> | null;
  readonly shadowRoot: DomRoot | null;
}

interface DomRoot {
  querySelectorAll(selector: string): Iterable<DomElement>;
}

interface Limits {
  readonly elements: number;
  readonly text: number;
  readonly attributes: number;
}

/** Runs in the page. Collects what locators can match elements by, but not what a user typed into fields. */
function elementsOf(
  root: DomElement & { readonly ownerDocument: DomRoot },
  limits: Limits,
): PageElement[] | null {
  const named = /^(?:id|class|name|type|role|title|alt|placeholder|href|for|aria-label|data-.+)$/;
  const unseen = /^(?:script|style|template|meta|link|head|html|title|noscript)$/;
  const short = (text: string | null) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, limits.text);
  const found: PageElement[] = [];
  const look = (place: DomRoot): boolean => {
    for (const element of place.querySelectorAll('*')) {
      const told = [...element.attributes].filter(({ name }) => named.test(name)).slice(0, limits.attributes);
      const own = [...element.childNodes].filter(({ nodeType }) => nodeType === 3);
      const text = short(own.map(({ textContent }) => textContent ?? '').join(' '));
      const isTold = (told.length > 0 || text !== '') && !unseen.test(element.localName);
      if (isTold && found.length >= limits.elements) return false;
      if (isTold) {
        const attributes: Record<string, string> = {};
        for (const { name, value } of told) attributes[name] = value.slice(0, 2 * limits.text);
        const label = [...(element.labels ?? [])].map((one) => short(one.textContent)).join(' ');
        found.push({ tag: element.localName, text, label, attributes });
      }
      if (element.shadowRoot && !look(element.shadowRoot)) return false;
    }
    return true;
  };
  return look(root.ownerDocument) ? found : null;
}

/** Returns the elements of a page that locators can find; null if there are too many. Rejects if the page does not answer. */
export async function pageElements(page: Page, timeout: number): Promise<PageElement[] | null> {
  const limits: Limits = { elements: maxElements, text: maxText, attributes: maxAttributes };
  const look = elementsOf as unknown as (root: unknown, limits: Limits) => PageElement[] | null;
  return internalCall(page, () => page.locator(':root').evaluate(look, limits, { timeout }));
}
