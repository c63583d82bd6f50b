import type { PageElement } from '../core/evidence.js';
import { type AriaLine, ariaLineOf } from '../evidence/aria-line.js';
import type { LocatorName } from './locator-links.js';

/** What is known about the page on which a test failed. */
export interface RedPage {
  readonly elements: readonly PageElement[];
  readonly ariaSnapshot: string;
}

/** Attributes for test ids: Playwright's default, and those common with other tools. */
const testId = /^data-(?:test|cy|qa|pw|e2e|hook|automation)/;

/** Returns the elements of an accessibility snapshot that have a name. */
export function ariaNodes(snapshot: string): AriaLine[] {
  return snapshot.split('\n').flatMap((line) => {
    const node = ariaLineOf(line);
    return node && node.name !== '' ? [node] : [];
  });
}

/** Returns every value of this kind on the page, once for each element that a locator of this kind could find by it. */
export function valuesOnPage({ elements, ariaSnapshot }: RedPage, name: LocatorName): string[] {
  switch (name.kind) {
    case 'test-id':
      return elements.flatMap((one) => attributesOf(one, (key) => testId.test(key)).slice(0, 1));
    case 'role':
      return ariaNodes(ariaSnapshot).flatMap((node) => (node.role === name.role ? [node.name] : []));
    case 'text':
      return elements.flatMap(({ text }) => (text === '' ? [] : [text]));
    case 'label':
      return elements.flatMap(({ label, attributes }) => {
        const told = attributes['aria-label'] ?? label;
        return told === '' ? [] : [told];
      });
    case 'class':
      return elements.flatMap(({ attributes }) => (attributes['class'] ?? '').split(/\s+/).filter(Boolean));
    case 'placeholder':
    case 'alt':
    case 'title':
    case 'id':
      return elements.flatMap((one) => attributesOf(one, (key) => key === name.kind));
    case 'attribute':
      return elements.flatMap((one) => attributesOf(one, (key) => key === name.name));
    default:
      return name satisfies never;
  }
}

function attributesOf({ attributes }: PageElement, isMeant: (key: string) => boolean): string[] {
  return Object.entries(attributes).flatMap(([key, value]) => (isMeant(key) && value !== '' ? [value] : []));
}

/** Whether a locator with this name finds this value: texts match partially and in any case, unless `exact` is set. */
export function isFoundBy(name: LocatorName, value: string): boolean {
  if (!('exact' in name) || name.exact) return value === name.value;
  return value.toLowerCase().includes(name.value.toLowerCase());
}
