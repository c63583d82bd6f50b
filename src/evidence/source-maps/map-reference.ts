const comment = /^(?:\/\/|\/\*)[#@]\s?sourceMappingURL=([^\s'"*\\]+)/;
/** Only comments may follow the reference: an earlier one belongs to a module inside the bundle, or to a string. */
const tail = /^(?:\s|\*\/|\/\/[#@][^\n]{0,500}(?=\n|$))*$/;
const dataUrl = /^data:[^,]{0,200},/;

/** Returns the `sourceMappingURL` at the end of a script, or null. */
export function mapReferenceIn(script: string): string | null {
  const last = script.lastIndexOf('sourceMappingURL=');
  if (last < 0) return null;
  const start = Math.max(script.lastIndexOf('//', last), script.lastIndexOf('/*', last));
  const match = comment.exec(script.slice(Math.max(0, start)));
  return match && tail.test(script.slice(start + match[0].length)) ? (match[1] ?? null) : null;
}

/**
 * Returns the inline map of one module of a bundle with `eval`ed modules (webpack's `eval-source-map`), where `address`
 * is the module's `sourceURL`; null if the script contains no such module.
 */
export function evalReferenceIn(script: string, address: string): string | null {
  const name = `sourceURL=${address}`;
  for (let at = script.indexOf(name); at >= 0; at = script.indexOf(name, at + 1)) {
    if (/^[\w./?-]/.test(script.slice(at + name.length, at + name.length + 1))) continue;
    const map = script.lastIndexOf('sourceMappingURL=', at);
    const previous = script.lastIndexOf('sourceURL=', at - 1);
    if (map < 0 || map < previous) return null;
    return /^sourceMappingURL=([^\s\\'"]+)/.exec(script.slice(map, at))?.[1] ?? null;
  }
  return null;
}

/** Returns the text in a `data:` URL, base64 or percent-encoded; null if it is not such a URL. */
export function textOfDataUrl(url: string): string | null {
  const head = dataUrl.exec(url)?.[0];
  if (head === undefined) return null;
  const body = url.slice(head.length);
  if (/;base64,$/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  try {
    return decodeURIComponent(body);
  } catch {
    return null;
  }
}
