import type { PageElement } from '../../core/evidence.js';
import { type DomElement, type DomNode, textOf } from './dom.js';

/** A page with more elements is not read at all: a partial list could not prove that an element is absent. */
const mostElements = 800;
const longestText = 80;
const mostAttributes = 12;
const named = /^(?:id|class|name|type|role|title|alt|placeholder|href|for|aria-label|data-.+)$/;
const unseen = /^(?:script|style|template|meta|link|base|head|html|title|noscript|iframe)$/;

/** Returns what locators can match the elements of a page by, without what a user typed and what is in iframes; null if there are too many. */
export function pageElements(root: DomElement): PageElement[] | null {
  const labels = labelsIn(root);
  const found: PageElement[] = [];
  const look = (element: DomElement, around: string): void => {
    const label = element.tag === 'label' ? short(textOf(element)) : around;
    const told = Object.entries(element.attributes).filter(([name]) => named.test(name));
    const text = short(element.children.filter((one) => typeof one === 'string').join(' '));
    if ((told.length > 0 || text !== '') && !unseen.test(element.tag))
      found.push({
        tag: element.tag,
        text,
        label:
          labels.get(element.attributes['id'] ?? '') ??
          (/^(?:input|select|textarea|button)$/.test(element.tag) ? around : ''),
        attributes: Object.fromEntries(
          told.slice(0, mostAttributes).map(([name, value]) => [name, value.slice(0, 2 * longestText)]),
        ),
      });
    if (element.tag === 'iframe') return;
    for (const child of element.children) if (typeof child !== 'string') look(child, label);
  };
  look(root, '');
  return found.length > mostElements ? null : found;
}

function labelsIn(root: DomElement): Map<string, string> {
  const labels = new Map<string, string>();
  const look = (node: DomNode): void => {
    if (typeof node === 'string') return;
    const { for: id } = node.attributes;
    if (node.tag === 'label' && id) labels.set(id, short(textOf(node)));
    node.children.forEach(look);
  };
  look(root);
  return labels;
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longestText);
}
