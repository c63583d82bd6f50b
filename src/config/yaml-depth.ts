import type { CST } from 'yaml';

/** How deep collections nest in a text, found without recursion so that no text can exhaust the stack. */
export function yamlDepth(tokens: readonly CST.Token[]): number {
  const open: [token: CST.Token, depth: number][] = tokens.map((token) => [token, 0]);
  let deepest = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next;
    deepest = Math.max(deepest, depth);
    for (const child of childrenOf(token)) open.push([child, depth + 1]);
  }
  return deepest;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value ? [token.value] : [];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) =>
    [key, value].filter((child) => child !== null && child !== undefined),
  );
}
