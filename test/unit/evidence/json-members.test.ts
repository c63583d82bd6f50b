import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachJsonMember, type JsonMember } from '../../../src/evidence/json-members.js';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function members(text: string | Buffer, size = 7, max = 1_000_000) {
  const found: JsonMember[] = [];
  const end = await eachJsonMember(chunksOf(Buffer.from(text), size), max, (member) => found.push(member));
  return { found, ...end };
}

describe('eachJsonMember', () => {
  it('EV-11 hands out array elements and other members, wherever the chunks end', async () => {
    const value = fc.record({
      list: fc.array(fc.jsonValue(), { maxLength: 4 }),
      'other ü': fc.oneof(fc.string(), fc.integer(), fc.dictionary(fc.string(), fc.jsonValue())),
    });
    await fc.assert(
      fc.asyncProperty(
        value,
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom(0, 2),
        async (object, size, indent) => {
          const { found, complete } = await members(JSON.stringify(object, null, indent), size);
          const of = (key: string) =>
            found.filter((member) => member.key === key).map(({ json }) => JSON.parse(json) as unknown);
          const normal: typeof object = JSON.parse(JSON.stringify(object));
          expect(of('list')).toEqual(normal.list);
          expect(of('other ü')).toEqual([normal['other ü']]);
          expect(complete).toBe(true);
        },
      ),
    );
  });

  it('EV-12 gives what a torn object holds, and says that it is torn', async () => {
    const { found, complete } = await members('{"console":[{"text":"a"},{"text":"b"},{"te');
    expect(found.map(({ json }) => json)).toEqual(['{"text":"a"}', '{"text":"b"}']);
    expect(complete).toBe(false);
  });

  it('EV-11 leaves out a piece that is too long and goes on', async () => {
    const { found, tooLong } = await members(JSON.stringify({ a: ['x'.repeat(500), 1], b: 2 }), 64, 100);
    expect(found.map(({ json }) => json)).toEqual(['1', '2']);
    expect(tooLong).toBe(1);
  });

  it('EV-12 never rejects, whatever the bytes', async () => {
    const byte = fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\a1 ')), fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(byte, { maxLength: 200 }), async (bytes) => {
        await expect(members(Buffer.from(bytes))).resolves.toBeDefined();
      }),
    );
  });
});
