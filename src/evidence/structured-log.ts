import { inspect } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** A line of a log in JSON, after what a program that runs several servers puts before it. */
const entry = /^(?<before>[^{]{0,40})(?<json>\{.*\})\s*$/;
/** Where loggers put an error: pino and bunyan, winston, Elastic's schema. */
const errorFields = ['err', 'error', 'exception'];
/** What every entry has and nobody needs beside it. */
const ofLogger = new Set('level severity time timestamp ts pid hostname name v msg message stack'.split(' '));
/** The numbers of pino and bunyan. */
const levels: Readonly<Record<string, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/**
 * Returns an entry of a log in JSON, as pino, bunyan and winston write it, the way Node prints an error: level, message, other fields, then
 * the stack with its lines and the error's fields. Any other line stays as it is.
 */
export function printedEntry(line: string): string {
  const { before = '', json } = entry.exec(line)?.groups ?? {};
  const fields = json === undefined ? null : parsed(json);
  if (!fields) return line;
  const key = errorFields.find((name) => isObject(fields[name]));
  const error = key === undefined ? fields : (fields[key] as Fields);
  const stack = textOf(error['stack']) ?? (key === undefined ? null : textOf(error['message']));
  const message = textOf(fields['msg']) ?? textOf(fields['message']);
  if (message === null && stack === null) return line;
  const { level, severity } = fields;
  const named = typeof level === 'number' ? levels[level] : (textOf(level) ?? textOf(severity));
  const said = message !== null && !stack?.includes(message) ? message : '';
  const others = printed(rest(fields, key), Infinity);
  const head = [`${named ?? ''}:`, said, others];
  const first = `${before}${head.filter((part) => part !== '' && part !== ':').join(' ')}`;
  if (stack === null) return first;
  const own = key === undefined ? '' : printed(rest(error, 'type'), 100);
  return [first, `${stack}${own === '' ? '' : ` ${own}`}`].filter((one) => one.trim() !== '').join('\n');
}

function parsed(json: string): Fields | null {
  try {
    return JSON.parse(json) as Fields;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function rest(fields: Fields, without: string | undefined): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !ofLogger.has(name) && name !== without),
  );
}

function printed(fields: Fields, breakLength: number): string {
  return Object.keys(fields).length === 0
    ? ''
    : inspect(fields, { depth: 3, breakLength, maxStringLength: 2_000 });
}
