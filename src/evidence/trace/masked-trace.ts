import { createWriteStream } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import type { ZipFile as ZipInput } from 'yauzl';
import { ZipFile } from 'yazl';
import { withoutSignals } from '../../fenced.js';
import { jsonOf } from '../../json-of.js';
import type { Redactor } from '../../secrets/redactor.js';
import { readingOf } from '../../secrets/reading.js';
import { isSecretField, isSecretHeader } from '../../secrets/secret-fields.js';
import { bounds } from '../bounded-text.js';
import { masked, typedValue } from './dom.js';
import {
  eachBoundedLine,
  entriesOf,
  firstBytes,
  inflated,
  withZip,
  type ZipEntry,
} from '../../playwright/zip.js';

/** More is not worth the time that masking it takes. */
const mostBytes = 192 * 1024 * 1024;
const mostEntries = 20_000;
/** Pictures and fonts, by their first bytes. */
const binaries = ['\xff\xd8\xff', '\x89PNG', 'GIF8', 'RIFF', 'wOFF', 'wOF2', '\0\x01\0\0', 'OTTO'];

/**
 * Copies a trace without the secrets in it, so that Playwright's own tools still read it (EV-9). What is neither text nor a picture is left
 * out. Rejects if the trace is too large.
 */
export async function copyMasked(from: string, to: string, redactor: Redactor): Promise<void> {
  const typed = await typedSecrets(from);
  redactor.learn(typed);
  await copyTrace(from, to, {
    lines: (line) => maskedLine(line, { redactor, typed }),
    // An agent that prints it must not appear to send a completion signal itself.
    text: (text) => withoutSignals(redactor.text(text)),
  });
}

/** Copies a trace with other texts; a line for which there is none is left out. */
export async function copyTrace(
  from: string,
  to: string,
  change: { readonly lines: (line: string) => string | null; readonly text: (text: string) => string },
): Promise<void> {
  await withEntries(from, async (zip, entries) => {
    const out = new ZipFile();
    const written = pipeline(out.outputStream, createWriteStream(to));
    for (const entry of entries) {
      const content = /\.(?:trace|network|stacks)$/.test(entry.name)
        ? await changedLines(zip, entry, change.lines)
        : await changedFile(zip, entry, change.text);
      if (content !== null) out.addBuffer(content, entry.name);
    }
    out.end();
    await written;
  });
}

async function withEntries<T>(
  file: string,
  work: (zip: ZipInput, entries: readonly ZipEntry[]) => Promise<T>,
): Promise<T> {
  return withZip(file, async (zip) => {
    const entries = await entriesOf(zip, () => true, mostEntries);
    const size = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
    if (size > mostBytes)
      throw new Error(`it has ${Math.round(size / 1024 / 1024)} MB, which is too much to mask`);
    return work(zip, entries);
  });
}

async function changedLines(
  zip: ZipInput,
  { entry }: ZipEntry,
  change: (line: string) => string | null,
): Promise<Buffer> {
  const lines: string[] = [];
  await eachBoundedLine(inflated(zip, entry, mostBytes), bounds.traceLine, ({ bytes, isComplete }) => {
    const line = isComplete ? change(bytes.toString('utf8')) : null;
    if (line !== null) lines.push(`${line}\n`);
  });
  return Buffer.from(lines.join(''));
}

/** Returns the file's content with other text, or null to leave it out. A part of a file could not be recognized, so large files are left out. */
async function changedFile(
  zip: ZipInput,
  { entry }: ZipEntry,
  change: (text: string) => string,
): Promise<Buffer | null> {
  if (entry.uncompressedSize > bounds.traceLine) return null;
  const bytes = await firstBytes(zip, entry, bounds.traceLine);
  const start = bytes.toString('latin1', 0, 16);
  if (binaries.some((signature) => start.startsWith(signature))) return bytes;
  return isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(change(bytes.toString('utf8'))) : null;
}

/** Masks what a line says in its fields, and then whatever its text reveals. What would no longer be JSON is masked text by text. */
function maskedLine(
  line: string,
  { redactor, typed }: { readonly redactor: Redactor; readonly typed: ReadonlySet<string> },
): string | null {
  const event = jsonOf(line);
  if (event === undefined) return null;
  const known = withoutTyped(event);
  const text = redactor.text(withoutFilled(known === event ? line : JSON.stringify(known), typed));
  return withoutSignals(jsonOf(text) === undefined ? JSON.stringify(redactor.deep(known)) : text);
}

/** Returns what was typed into fields for secrets: the log of an action repeats it without saying where it went. */
async function typedSecrets(trace: string): Promise<ReadonlySet<string>> {
  const typed = new Set<string>();
  await withEntries(trace, async (zip, entries) => {
    for (const { entry } of entries.filter((entry) => entry.name.endsWith('.trace')))
      await eachBoundedLine(inflated(zip, entry, mostBytes), bounds.traceLine, ({ bytes, isComplete }) => {
        if (isComplete) addTyped(jsonOf(bytes.toString('utf8')), typed);
      });
  });
  return typed;
}

/** Adds what an event of a trace says was typed into fields for secrets. */
export function addTyped(event: unknown, typed: Set<string>): void {
  withoutTyped(event, (secret) => typed.add(secret));
}

/** `Fill "…"` and `fill("…")`, also as a string of JSON. */
const filled =
  /\b(?<action>(?:fill|type|sequentially)[ (](?<quote>\\{0,3}"))(?<text>[^\n]{1,256}?)\k<quote>/gi;

/** Masks what was typed into fields for secrets where a text says that it was typed, however short it is. */
export function withoutFilled(text: string, typed: ReadonlySet<string>): string {
  return text.replace(filled, (all, action: string, quote: string, value: string) =>
    typed.has(value) || typed.has(readingOf(value).text) ? `${action}${masked}${quote}` : all,
  );
}

/** Masks what only its field shows to be secret: the values of headers and cookies, and what was typed into fields for secrets. */
function withoutTyped(value: unknown, onSecret: (secret: string) => void = () => undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((item) => withoutTyped(item, onSecret));
    return all.every((item, at) => item === value[at]) ? value : all;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const isHeader = typeof fields['name'] === 'string' && isSecretHeader(fields['name']);
  const isField = [fields['value'], fields['text'], fields[typedValue]].some(isText) && isSecretField(fields);
  const changed = Object.entries(fields).map(([name, field]): [string, unknown] => {
    const isSecret = (isHeader || isField) && (name === 'value' || name === 'text' || name === typedValue);
    if (!isSecret || !isText(field)) return [name, withoutTyped(field, onSecret)];
    if (isField) onSecret(field);
    return [name, masked];
  });
  return changed.every(([name, field]) => field === fields[name]) ? value : Object.fromEntries(changed);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
