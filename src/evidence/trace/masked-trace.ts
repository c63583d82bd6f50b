import { createWriteStream } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import type { ZipFile as ZipInput } from 'yauzl';
import { ZipFile } from 'yazl';
import { removeSignals } from '../../fenced.js';
import { parseJson } from '../../parse-json.js';
import type { Redactor } from '../../secrets/redactor.js';
import { decodeText } from '../../secrets/reading.js';
import { isSecretField, isSecretHeader } from '../../secrets/secret-fields.js';
import { bounds } from '../bounded-text.js';
import { maskedValue, typedValue } from './dom.js';
import {
  readBoundedLines,
  listEntries,
  readFirstBytes,
  inflate,
  withZip,
  type ZipEntry,
} from '../../playwright/zip.js';

/** Masking a larger trace takes too long. */
const MAX_BYTES = 192 * 1024 * 1024;
const MAX_ENTRIES = 20_000;
/** Pictures and fonts, by their first bytes. */
const binaries = ['\xff\xd8\xff', '\x89PNG', 'GIF8', 'RIFF', 'wOFF', 'wOF2', '\0\x01\0\0', 'OTTO'];

/**
 * Copies a trace and masks the secrets in it; Playwright's own tools can still read the copy (EV-9). Leaves out files that are neither text nor
 * pictures. Rejects if the trace is too large.
 */
export async function copyMaskedTrace(from: string, to: string, redactor: Redactor): Promise<void> {
  const typedSecrets = await readTypedSecrets(from);
  redactor.learn(typedSecrets);
  await copyTrace(from, to, {
    lines: (line) => maskLine(line, { redactor, typed: typedSecrets }),
    // An agent that prints the trace must not seem to send a completion signal.
    text: (text) => removeSignals(redactor.text(text)),
  });
}

/** Copies a trace and changes its lines and texts; leaves out a line if `lines` returns null. */
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
        ? await changeLines(zip, entry, change.lines)
        : await changeFile(zip, entry, change.text);
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
    const entries = await listEntries(zip, () => true, MAX_ENTRIES);
    const size = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
    if (size > MAX_BYTES) throw new Error(`it is too large to mask (${Math.round(size / 1024 / 1024)} MB)`);
    return work(zip, entries);
  });
}

async function changeLines(
  zip: ZipInput,
  { entry }: ZipEntry,
  change: (line: string) => string | null,
): Promise<Buffer> {
  const lines: string[] = [];
  await readBoundedLines(inflate(zip, entry, MAX_BYTES), bounds.traceLine, ({ bytes, isComplete }) => {
    const line = isComplete ? change(bytes.toString('utf8')) : null;
    if (line !== null) lines.push(`${line}\n`);
  });
  return Buffer.from(lines.join(''));
}

/** Returns the changed content of a file, or null to leave it out. Leaves out large files, because a part alone could hide a secret. */
async function changeFile(
  zip: ZipInput,
  { entry }: ZipEntry,
  change: (text: string) => string,
): Promise<Buffer | null> {
  if (entry.uncompressedSize > bounds.traceLine) return null;
  const bytes = await readFirstBytes(zip, entry, bounds.traceLine);
  const start = bytes.toString('latin1', 0, 16);
  if (binaries.some((signature) => start.startsWith(signature))) return bytes;
  return isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(change(bytes.toString('utf8'))) : null;
}

/** Masks the secret fields of a line, then the secrets in its text. If that breaks the JSON, masks each string separately. */
function maskLine(
  line: string,
  { redactor, typed }: { readonly redactor: Redactor; readonly typed: ReadonlySet<string> },
): string | null {
  const event = parseJson(line);
  if (event === undefined) return null;
  const withMaskedFields = maskFields(event);
  const text = redactor.text(
    maskFilledText(withMaskedFields === event ? line : JSON.stringify(withMaskedFields), typed),
  );
  const isBroken = parseJson(text) === undefined;
  return removeSignals(isBroken ? JSON.stringify(redactor.deep(withMaskedFields)) : text);
}

/** Returns the values typed into secret fields: the log of an action repeats a value without naming its field. */
async function readTypedSecrets(trace: string): Promise<ReadonlySet<string>> {
  const typed = new Set<string>();
  await withEntries(trace, async (zip, entries) => {
    for (const { entry } of entries.filter((entry) => entry.name.endsWith('.trace')))
      await readBoundedLines(inflate(zip, entry, MAX_BYTES), bounds.traceLine, ({ bytes, isComplete }) => {
        if (isComplete) addTypedSecrets(parseJson(bytes.toString('utf8')), typed);
      });
  });
  return typed;
}

/** Adds the values that an event typed into secret fields. */
export function addTypedSecrets(event: unknown, typed: Set<string>): void {
  maskFields(event, (secret) => typed.add(secret));
}

/** `Fill "…"` and `fill("…")`, also as a string of JSON. */
const fillCall =
  /\b(?<action>(?:fill|type|sequentially)[ (](?<quote>\\{0,3}"))(?<text>[^\n]{1,256}?)\k<quote>/gi;

/** Masks values of secret fields in `fill("…")` and the like, even if they are too short to be masked elsewhere. */
export function maskFilledText(text: string, typed: ReadonlySet<string>): string {
  return text.replace(fillCall, (all, action: string, quote: string, value: string) =>
    typed.has(value) || typed.has(decodeText(value).text) ? `${action}${maskedValue}${quote}` : all,
  );
}

/** Masks the values of headers, cookies and inputs that are secret because of their names. */
function maskFields(value: unknown, onSecret: (secret: string) => void = () => undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((item) => maskFields(item, onSecret));
    return all.every((item, at) => item === value[at]) ? value : all;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const isHeader = typeof fields['name'] === 'string' && isSecretHeader(fields['name']);
  const isField = [fields['value'], fields['text'], fields[typedValue]].some(isText) && isSecretField(fields);
  const changed = Object.entries(fields).map(([name, field]): [string, unknown] => {
    const isSecret = (isHeader || isField) && (name === 'value' || name === 'text' || name === typedValue);
    if (!isSecret || !isText(field)) return [name, maskFields(field, onSecret)];
    if (isField) onSecret(field);
    return [name, maskedValue];
  });
  return changed.every(([name, field]) => field === fields[name]) ? value : Object.fromEntries(changed);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
