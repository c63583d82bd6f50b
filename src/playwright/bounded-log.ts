import { createWriteStream } from 'node:fs';
import { Writable } from 'node:stream';

const maxBytes = 16 * 1024 * 1024;

/** A file that takes 16 MB, says that the rest was cut, and never fails: a log is not worth a run. */
export function boundedLog(file: string): Writable {
  const out = createWriteStream(file);
  let left = maxBytes;
  out.on('error', () => {
    left = 0;
  });
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (left <= 0) return done();
      left -= chunk.length;
      out.write(left > 0 ? chunk : '\n[self-heal] the rest was cut\n', () => done());
    },
    final(done) {
      if (out.errored) done();
      else out.end(() => done());
    },
  });
}
