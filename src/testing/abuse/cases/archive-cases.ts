/** Archives that unpack to too much or to the wrong place, and searches that do not end. */
import type { Runtime } from '../../../index.js';
import { type AbuseCase, demand } from '../case.js';
import { endlessTar, type TarMember, tar, zipBomb } from '../hostile-archives.js';
import { permitted, refusal, stillWorks } from '../inside.js';

const mebibyte = 1024 * 1024;

/** An answer within this time shows that nothing hung. */
const promptMs = 15_000;

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; elapsedMs: number }> {
  const started = performance.now();
  const value = await work();
  const elapsedMs = Math.round(performance.now() - started);
  demand(elapsedMs < promptMs, `it took ${elapsedMs} ms`);
  return { value, elapsedMs };
}

async function plainArchiveWorks(runtime: Runtime): Promise<void> {
  const { files } = await runtime.files.upload(tar([{ name: 'sub/plain', content: 'x' }]), 'good', {
    format: 'tar',
  });
  if (files !== 1) throw new Error(`A plain archive gave ${files} files.`);
  await permitted(runtime, 'test -f good/sub/plain');
}

const hostile: Readonly<Record<string, readonly TarMember[]>> = {
  'an absolute path': [{ name: '/tmp/abs', content: 'x' }],
  'a path upwards': [{ name: '../up', content: 'x' }],
  'a path upwards in the middle': [{ name: 'a/../../up', content: 'x' }],
  'a link that is written through': [
    { name: 'link', type: '2', target: '/tmp' },
    { name: 'link/through', content: 'x' },
  ],
  'a hard link to outside': [{ name: 'hard', type: '1', target: '../../etc/passwd' }],
  'a character device': [{ name: 'device', type: '3' }],
  'a block device': [{ name: 'device', type: '4' }],
};

export const archiveCases: readonly AbuseCase[] = [
  {
    id: '13.zip-bomb',
    title: 'an upload that unpacks to more than a thousand times its size',
    expected: 'blocked',
    async attack(runtime) {
      const bomb = zipBomb(256 * mebibyte);
      const { value } = await timed(() =>
        refusal('the bomb', runtime.files.upload(bomb, 'bomb', { format: 'zip' })),
      );
      return `refused with ${value}`;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '13.endless-tar',
    title: 'an upload of a tar with files without end',
    expected: 'blocked',
    async attack(runtime) {
      const upload = () => runtime.files.upload(endlessTar(), 'many', { format: 'tar' });
      const code = await refusal('the archive', upload());
      return `refused with ${code}`;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '13.nested',
    title: 'an archive in an archive, and a file that only claims to be one',
    expected: 'bounded',
    async attack(runtime) {
      const inner = tar([{ name: 'deep', content: 'x' }]).toString('latin1');
      await runtime.files.upload(tar([{ name: 'inner.tar', content: inner }]), 'nested', { format: 'tar' });
      const names = (await runtime.files.list('nested')).map(({ name }) => name);
      demand(names.join() === 'inner.tar', `it was unpacked to ${names.join()}`);
      const code = await refusal(
        'noise',
        runtime.files.upload(Buffer.alloc(4096, 'x'), 'noise', { format: 'zip' }),
      );
      return `unpacked one level only; noise is refused with ${code}`;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '13.download',
    title: 'a download of a directory with a file of 1 TiB that has no content',
    expected: 'bounded',
    async attack(runtime) {
      await permitted(runtime, 'mkdir d && truncate -s 1T d/huge');
      const { value } = await timed(async () => {
        const { content } = await runtime.files.download('d', { format: 'tar' });
        let received = 0;
        for await (const chunk of content) {
          received += chunk.length;
          if (received > 64 * mebibyte) break;
        }
        return received;
      });
      return `it streams, and ends when the reader does (${Math.round(value / mebibyte)} MiB taken)`;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '19.archive-members',
    title: 'members with paths to outside, links that are written through, devices',
    expected: 'blocked',
    async attack(runtime) {
      const codes = new Set<string>();
      for (const [what, members] of Object.entries(hostile))
        codes.add(await refusal(what, runtime.files.upload(tar(members), 'in', { format: 'tar' })));
      const { output } = await runtime.run('ls -d /tmp/abs /tmp/through /workspace/up up ../up 2>/dev/null');
      demand(output === '', `files were made outside of the target: ${output}`);
      return `${Object.keys(hostile).length} kinds, refused with ${[...codes].join(', ')}`;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '19.setuid-member',
    title: 'a member with the set-user-id bit',
    expected: 'blocked',
    async attack(runtime) {
      const upload = runtime.files.upload(tar([{ name: 'suid', mode: 0o6755, content: 'x' }]), 'in', {
        format: 'tar',
      });
      const outcome = await upload.then(
        () => 'unpacked without the bit',
        () => 'refused',
      );
      const { output } = await runtime.run('find in -perm /6000');
      demand(output === '', 'the bit was set on a file of the workspace');
      return outcome;
    },
    neighbour: plainArchiveWorks,
  },
  {
    id: '14.regex-bomb',
    title: 'a regular expression that backtracks for ever',
    expected: 'bounded',
    async attack(runtime) {
      await runtime.write('bait', `${'a'.repeat(5000)}!\n`);
      const patterns = ['(a+)+$', '(a|aa)+$', '(.*a){25}b', '^(([a-z])+.)+[A-Z]([a-z])+$'];
      const outcomes = await Promise.all(
        patterns.map((pattern) =>
          timed(() =>
            runtime.files.grep(pattern).then(
              () => 'answered',
              (error: { code: string }) => error.code,
            ),
          ),
        ),
      );
      const slowest = Math.max(...outcomes.map(({ elapsedMs }) => elapsedMs));
      return `${[...new Set(outcomes.map(({ value }) => value))].join(', ')} within ${slowest} ms`;
    },
    neighbour: async (runtime) => {
      if ((await runtime.files.grep('a+!')).length !== 1)
        throw new Error('An ordinary search found nothing.');
    },
  },
  {
    id: '14.glob-bomb',
    title: 'a pattern of braces that multiplies',
    expected: 'bounded',
    async attack(runtime) {
      await runtime.write('file', 'x');
      const patterns = [
        '{a,b}'.repeat(40),
        `${'*'.repeat(500)}b`,
        '**/'.repeat(500),
        '{'.repeat(2000),
        `${'*a'.repeat(200)}b`,
      ];
      const outcomes = await Promise.all(
        patterns.map((pattern) =>
          timed(() =>
            runtime.files.glob(pattern).then(
              () => 'answered',
              (error: { code: string }) => error.code,
            ),
          ),
        ),
      );
      const slowest = Math.max(...outcomes.map(({ elapsedMs }) => elapsedMs));
      return `${[...new Set(outcomes.map(({ value }) => value))].join(', ')} within ${slowest} ms`;
    },
    neighbour: async (runtime) => {
      if ((await runtime.files.glob('f*')).length !== 1)
        throw new Error('An ordinary pattern found nothing.');
    },
  },
  {
    id: '14.deep-tree',
    title: 'a thousand directories in one another, and links in circles',
    expected: 'bounded',
    async attack(runtime) {
      const deep = 'd/'.repeat(1000);
      await permitted(runtime, `ln -s loop2 loop1; ln -s loop1 loop2; ln -s . self; mkdir -p ${deep}`);
      const { elapsedMs } = await timed(async () => {
        await runtime.files.list('.', { depth: 64 });
        await runtime.files.glob('**/nothing');
        await runtime.files.grep('nothing');
      });
      const code = await refusal('a link in a circle', runtime.read('loop1'));
      await runtime.files.remove('d', { recursive: true });
      return `walked and removed in ${elapsedMs} ms; a circle is refused with ${code}`;
    },
    neighbour: stillWorks,
  },
];
