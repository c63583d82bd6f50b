import type { Evidence } from '../evidence.js';
import { stripAnsi } from './strip-ansi.js';
import { withoutLinePrefixes } from './evidence-texts.js';

/** Playwright's words for a process of the suite that ended, or never answered: only its output can say why. */
const ofPlaywright =
  /Process from config\.webServer (?:was not able to start|exited early)|Timed out waiting \d+ ?ms from config\.webServer|^Error: Playwright ended |verify\.prepare failed/;
/** What package managers, task runners and shells say of a program that failed under them: never why. */
const wrapper =
  /^(?:> |\$ |npm (?:ERR!|error)|(?:error |Error: )?[Cc]ommand (?:failed|"[^"\n]{0,300}" exited|exited|finished)\b|ERROR: .{0,200} (?:exited|failed) with|.{0,40}\bELIFECYCLE\b|.{0,60}\bERR_PNPM_RECURSIVE|info Visit |.{0,200}\b(?:exited|failed|ended|finished|terminated)(?: (?:early|unexpectedly))?(?: with| \()? ?(?:exit )?(?:code|status|signal)\b|(?:make|gmake)(?:\[\d+\])?: \*\*\*|Error: Process (?:from|completed)|Error: Timed out waiting|Error: Playwright ended|\s*(?:Run|See|Try|For) ['"`\w].{0,200}(?:--help|more information|for details|logs?)\b|.{0,60}A complete log of this run|Tasks: |Failed: |Cached: |Time: |Caused by:?$|Node\.js v\d|exit status \d|Exit code:?)/;
/** A line of a stack, of an excerpt of code or of an error object: it belongs to the message above. */
const belongs =
  /^\s*(?:at |\d{1,5} ?[|│]|>? ?\d{1,5} [|│]|[|│^~]+\s*$|[{}[\]()]+[,;]?$|\w+: .{0,300},$|\w+: (?:'[^']*'|\d+|null|undefined|\[\w+\])$|File "|goroutine \d|from \S+:\d+:in )|node:internal\/|^\s*$/;
const complains =
  /\b(?:error|exception|fatal|panic|fail(?:ed|ure)?|cannot|can't|could not|couldn't|unable|no such|not found|missing|invalid|unknown|denied|refused|required?|must|unsupported|unexpected|undefined|already|expected)\b|(?:Error|Exception)\b/i;

/** Whether a line only says that another process failed. */
function isWrapper(line: string): boolean {
  return wrapper.test(line.trim());
}

/**
 * Returns the line with which a process of the suite said why it ended, if Playwright's own error can't: the first complaint of its output that is
 * no wrapper, or else the last line. Null if Playwright's error says it, or if the process said nothing.
 */
export function lastWords({
  errors,
  serverOutput,
}: Pick<Evidence, 'errors' | 'serverOutput'>): string | null {
  if (!errors.some(({ message }) => ofPlaywright.test(message))) return null;
  const lines = withoutLinePrefixes(stripAnsi(serverOutput.slice(-16_000)))
    .split('\n')
    .filter((line) => !belongs.test(line) && !isWrapper(line) && !ofPlaywright.test(line));
  const said = lines.find((line) => complains.test(line)) ?? lines.at(-1);
  return said?.trim().slice(0, 300) ?? null;
}
