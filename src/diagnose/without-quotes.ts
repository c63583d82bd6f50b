const frameLine = /^[ \t]*>?[ \t]*\d{1,6}[ \t]*[|│┃].*$/gm;
const titleLine = /^[ \t]*(?:\d{1,4}\) |● |\[[\w -]{1,40}\] › ).*›.*$/gm;
const titleBeforeError =
  /^[ \t]*(?:\d{1,4}\) |● |\[[\w -]{1,40}\] › )[^\n]{0,600}›[^\n]{0,600}?(?=\s(?:\w{1,40}Error|Error|error): |\s(?:page|frame|locator|elementHandle|browserType|apiRequestContext)\.\w{1,40}: |\sexpect\(|$)/;
const customMessage = /^(?:Error: )?(?!expect\()[^\n]{0,600}(?=\n\n(?:Error: )?expect\()/;
const statusPair = /^[ \t]*expected[ \t]*: (\d{3})[ \t]*\n[ \t]*(?:received|actual)[ \t]*: (\d{3})[ \t]*$/im;
const comparedValue =
  /^([ \t]*(?:Expected|Received|Locator)(?![\w ]*status)[\w ]{0,20}:)[ \t]*(?:"(?:[^"\\]|\\.){0,4000}"|.*?(?= (?:Expected|Received|Timeout|Error|Call log)\b[\w ]{0,20}: ?|$))/gm;
const diffPattern =
  /^- Expected[^\n]*\n\+ Received[^\n]*\n[^]{0,6000}?(?=^Call log|^Timeout|^[ \t]+at |(?![^]))/gm;
const comparison = /^[ \t]*(?:- )?(?:Expected|Received|Locator|expected[ \t]*:)/m;
const unexpectedValue = /\b(unexpected value) ".*/g;
const tagPattern = /<\/?([a-z][\w-]{0,60})((?:[ \t][^<>\n]{0,500})?)\/?>?/g;
/** The text of an element that a locator resolved to: `resolved to <p>Saved</p>`. */
const elementText = /((?:resolved to|\d\)) <[a-z][\w-]{0,60}(?:[ \t][^<>\n]{0,500})?>)[^<\n]{1,500}(?=<\/)/g;
const locatorCall =
  /\b(getBy[A-Z]\w{0,20}|get_by_\w{1,20}|locator|frameLocator|frame_locator|filter|querySelector(?:All)?)\((?:[^()\n'"`/]|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`|\/(?:[^/\\\n]|\\.)*\/\w*)*\)/g;
const snapshotName = /^([ \t]*Snapshot name:) .*$/gm;
const quotedSelector = /\b(waiting for(?: selector)?) ["'].*/g;
const httpStatuses = new Set(
  '200 201 202 204 301 302 303 304 307 308 400 401 403 404 405 409 410 415 422 429 500 501 502 503 504'.split(
    ' ',
  ),
);

/**
 * Removes quoted parts from an error's text, because a quoted word must not decide (CS-8): code frames, test titles, selectors, elements, expected
 * and received values. Marks a comparison of two HTTP statuses as such.
 */
export function removeQuotes(message: string): string {
  let text = message;
  // Quotes inside a comparison must stay escaped, because plain quotes delimit the compared values.
  if (!comparison.test(text)) text = unescape(text);
  if (/[|│┃]/.test(text)) text = text.replace(frameLine, readMarkedStatusLine);
  if (text.includes('›')) text = removeTitles(text);
  if (text.includes('expect')) text = text.replace(customMessage, '');
  if (comparison.test(text)) text = removeValues(text);
  if (text.includes('Snapshot name:')) text = text.replace(snapshotName, '$1');
  if (text.includes('unexpected value')) text = text.replace(unexpectedValue, '$1');
  if (text.includes('<') && /resolved to|intercepts| aka |\u2026<\//.test(text))
    text = text.replace(elementText, '$1').replace(tagPattern, removeAttributes);
  if (/ocator\(|getBy|get_by|querySelector/.test(text)) text = text.replace(locatorCall, '$1()');
  return text.includes('waiting for') ? text.replace(quotedSelector, '$1') : text;
}

/** Unescapes JSON strings in the text; outside of quotes, only a `\\n` that cannot be part of a path. */
function unescape(text: string): string {
  if (text.includes('\\"'))
    return text.replace(/\\(?:(n)|(["']))/g, (_whole, line: string, quote: string) => (line ? '\n' : quote));
  return text.includes('\\n') ? text.replace(/\\n(?=\s|\\|[A-Z>❯×]|$)/g, '\n') : text;
}

/** Removes test titles on their own lines, or the title before the error in a one-line text. */
function removeTitles(text: string): string {
  return text.trim().includes('\n') ? text.replace(titleLine, '') : text.replace(titleBeforeError, '');
}

/** Returns the marked line of a code frame, without its string literals, if it reads a response's status; else an empty string. */
export function readMarkedStatusLine(line: string): string {
  if (!/^[ \t]*>/.test(line) || !/\.status\b|\.statusCode\b|\.ok\(\)|toBeOK/.test(line)) return '';
  const code = line
    .replace(/^[ \t]*>[ \t]*\d+[ \t]*[|│┃][ \t]*/, '')
    .replace(/'[^'\n]*'|"[^"\n]*"|`[^`\n]*`/g, "''");
  return `> ${code}`;
}

function removeValues(text: string): string {
  const pair = statusPair.exec(text);
  const [, expected = '', received = ''] = pair ?? [];
  const areStatuses = expected !== received && httpStatuses.has(expected) && httpStatuses.has(received);
  const cleaned = text.replace(comparedValue, '$1').replace(diffPattern, '');
  return areStatuses ? `${cleaned}\nExpected status-like ${expected}, received ${received}` : cleaned;
}

function removeAttributes(tag: string, name: string, attributes: string): string {
  if (tag.startsWith('</')) return '';
  return attributes.includes('webpack-dev-server-client-overlay')
    ? '<webpack-dev-server-client-overlay>'
    : `<${name}>`;
}
