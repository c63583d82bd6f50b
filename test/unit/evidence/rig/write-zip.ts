import { writeFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';

type Contents = Readonly<Record<string, string | Buffer>>;

export function writeZip(path: string, contents: Contents): void {
  writeFileSync(path, zipOf(contents));
}

/** Makes a zip file with only those parts of the format that a reader needs; names are not checked. */
export function zipOf(contents: Contents): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(contents)) {
    const bytes = Buffer.from(content);
    const deflated = deflateRawSync(bytes);
    const common = commonHeader(name, bytes, deflated.length);
    const local = Buffer.concat([u32(0x04034b50), common, Buffer.from(name), deflated]);
    directory.push(u32(0x02014b50), u16(20), common, zeros(10), u32(offset), Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = u16(Object.keys(contents).length);
  const end = [u32(0x06054b50), zeros(4), count, count, u32(size), u32(offset), zeros(2)];
  return Buffer.concat([...parts, ...directory, ...end]);
}

function commonHeader(name: string, bytes: Buffer, deflatedLength: number): Buffer {
  const sizes = [u32(crc32(bytes)), u32(deflatedLength), u32(bytes.length)];
  return Buffer.concat([u16(20), u16(0), u16(8), zeros(4), ...sizes, u16(Buffer.byteLength(name)), zeros(2)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}
