import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configurationUrls } from '../../../src/runtime/microagents/organisation.js';
import { given, makeDirectory, Repository, trustedPlaces } from '../git/repository.js';
import { startGitServer } from '../git/server.js';

function fill(directory: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

const knowledge = '---\ntriggers: [kubernetes, K8s]\n---\nUse kubectl.\n';

describe.each(trustedPlaces)('%s', (place) => {
  test('the kind follows from the front matter, the name from the path', async () => {
    const { directory, runtime } = await given(place);
    fill(join(directory, '.openhands/microagents'), {
      'repo.md': 'Always.\n',
      'deep/er/k8s.md': `\uFEFF${knowledge.replaceAll('\n', '\r\n')}`,
      'fix.md':
        '---\nname: ignored\ntype: repo\ninputs:\n  - name: issue\n    description: its number\n---\nMend ${issue}.',
      'with-tools.md':
        '---\nmcp_tools:\n  stdio_servers:\n    - name: fetch\n      command: uvx\n      args: mcp-server-fetch "--user agent"\n      env: A=1,B=x=y\n---\n',
      'README.md': 'not one',
      'notes.txt': 'not one',
    });
    const { agents, problems, ...loaded } = await runtime.microagents.load({ user: false });
    expect(problems).toEqual([]);
    expect(agents.map(({ name, kind, triggers }) => ({ name, kind, triggers }))).toEqual([
      { name: 'deep/er/k8s', kind: 'knowledge', triggers: ['kubernetes', 'K8s'] },
      { name: 'fix', kind: 'task', triggers: ['/fix'] },
      { name: 'repo', kind: 'repository', triggers: [] },
      { name: 'with-tools', kind: 'repository', triggers: [] },
    ]);
    expect(agents[0]).toMatchObject({
      content: 'Use kubectl.',
      source: 'repository',
      path: `${runtime.workspace}/.openhands/microagents/deep/er/k8s.md`,
      version: '1.0.0',
      agent: 'CodeActAgent',
    });
    expect(agents[1]).toMatchObject({
      content: expect.stringMatching(/^Mend \$\{issue\}\.\n\nAsk for each/),
      inputs: [{ name: 'issue', description: 'its number' }],
    });
    expect(loaded.organisation).toEqual({ url: null, attempts: [] });
  });

  test('triggers match in any case, each microagent once', async () => {
    const { directory, runtime } = await given(place);
    fill(join(directory, '.workcell/microagents'), {
      'k8s.md': knowledge,
      'task.md': '---\ninputs: [{ name: a }]\ntriggers: do it\n---\nx ${a}',
      'always.md': 'first',
      'again.md': 'second',
    });
    const loaded = await runtime.microagents.load({ user: false, organisation: false });
    const matched = (text: string) => loaded.match(text).map(({ agent, trigger }) => [agent.name, trigger]);
    expect(matched('My KUBERNETES, k8s for short')).toEqual([['k8s', 'kubernetes']]);
    expect(matched('please /task now, do it')).toEqual([['task', '/task']]);
    expect(matched('nothing')).toEqual([]);
    expect(loaded.instructions).toBe('second\n\nfirst');
    expect(loaded.organisation).toBeNull();
  });

  test('files of other tools hold always, equal ones once', async () => {
    const { directory, runtime } = await given(place);
    fill(directory, {
      'Agents.md': '# Rules\nRun the tests.\n',
      '.cursorrules': 'No semicolons.',
      '.github/copilot-instructions.md': '---\nnot: front matter\n---\nBe kind.',
      '.openhands_instructions': 'Old words.',
      'empty/AGENTS.md': 'of a folder below',
    });
    symlinkSync('Agents.md', join(directory, 'CLAUDE.md'));
    const { agents, problems } = await runtime.microagents.load({ user: false });
    expect(problems).toEqual([]);
    expect(agents.map(({ name, kind, content }) => ({ name, kind, content }))).toEqual([
      { name: 'cursorrules', kind: 'repository', content: 'No semicolons.' },
      { name: 'repo_legacy', kind: 'repository', content: 'Old words.' },
      { name: 'agents', kind: 'repository', content: '# Rules\nRun the tests.' },
      { name: 'copilot-instructions', kind: 'repository', content: '---\nnot: front matter\n---\nBe kind.' },
    ]);
  });

  test('a bad file is told and hides no good one', async () => {
    const { directory, runtime } = await given(place);
    const bombs = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(9)}]`);
    fill(join(directory, '.workcell/microagents'), {
      'bad-yaml.md': '---\ntriggers: [a\n---\nx',
      'bad-type.md': '---\ntriggers: { a: 1 }\n---\nx',
      'bad-server.md': '---\nmcp_tools: { stdio_servers: [{ name: "a b", command: "x y" }] }\n---\nx',
      'endless.md': '---\ntriggers: [a]\nand so on',
      'bomb.md': `---\nl0: &l0 [x]\n${bombs.join('\n')}\n---\nx`,
      'list.md': '---\n- a\n---\nx',
      'large.md': 'x'.repeat(300 * 1024),
      'binary.md': 'a\0b\xff',
      'long.md': `---\n${'# \n'.repeat(10_000)}---\nx`,
      'keys.md': `---\n${Array.from({ length: 2500 }, (_, index) => `${index}:\n`).join('')}---\nx`,
      'lists.md': `---\ntriggers: ${'['.repeat(1900)}\n---\nx`,
      'questions.md': `---\n${'? '.repeat(1900)}\n---\nx`,
      'proto.md': '---\n__proto__: { polluted: true }\n---\nfine',
      'good.md': 'good',
    });
    symlinkSync('/etc/shadow-that-is-not-there', join(directory, '.workcell/microagents/dangling.md'));
    const { agents, problems } = await runtime.microagents.load({ user: false });
    expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['good', 'proto']));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const files = problems.map(({ path, source }) => `${source} ${path.split('/').at(-1)}`);
    expect(files).toEqual(
      expect.arrayContaining(
        [
          'bad-server',
          'bad-type',
          'bad-yaml',
          'bomb',
          'endless',
          'keys',
          'large',
          'list',
          'lists',
          'long',
          'questions',
        ].map((name) => `repository ${name}.md`),
      ),
    );
    expect(problems.find(({ path }) => path.endsWith('bad-type.md'))?.message).toContain('triggers');
    const said = (name: string) => problems.find(({ path }) => path.endsWith(`/${name}.md`))?.message;
    expect(said('long')).toMatch(/16384 are allowed/);
    expect(said('keys')).toMatch(/more than 4000 parts/);
    expect(said('lists')).toMatch(/more than 32 levels/);
    expect(said('questions')).toMatch(/more than 32 levels/);
  });

  test('a directory of the user is named itself or by what holds it, and must be there', async () => {
    const { runtime } = await given(place);
    const home = makeDirectory();
    fill(home, { 'microagents/mine.md': 'mine' });
    for (const user of [home, join(home, 'microagents')]) {
      const { agents } = await runtime.microagents.load({ user, organisation: false });
      expect(agents.map(({ name, source }) => `${source} ${name}`)).toContain('user mine');
    }
    const absent = { user: join(home, 'absent'), organisation: false };
    await expect(runtime.microagents.load(absent)).rejects.toMatchObject({ code: 'not-found' });
  });

  test('the repository wins over the organisation, and that over the user', async () => {
    const server = await startGitServer('tok-5a4b3c2d1e');
    const source = new Repository(makeDirectory());
    fill(source.path, {
      'microagents/shared.md': 'organisation',
      'microagents/only-organisation.md': 'organisation',
      'microagents/broken.md': '---\nx: [\n---\n',
    });
    source.commit('configuration');
    source.git('push', '-q', '--force', server.directory, 'main');
    const user = makeDirectory();
    fill(user, {
      'microagents/shared.md': 'user',
      'microagents/only-user.md': 'user',
      'microagents/unwanted.md': 'x',
    });
    const { directory, runtime } = await given(place, {
      ...(place === 'cli' ? {} : { network: 'host' }),
      secrets: { ORG_TOKEN: { value: 'tok-5a4b3c2d1e', hosts: [server.host] } },
    });
    fill(directory, {
      'project/.openhands/microagents/shared.md': 'openhands',
      'project/.workcell/microagents/shared.md': 'workcell',
    });
    const loaded = await runtime.microagents.load({
      path: 'project',
      user,
      organisation: { url: server.url, token: 'ORG_TOKEN' },
      disabled: ['unwanted'],
    });
    expect(loaded.agents.map(({ name, source, content }) => [name, source, content])).toEqual([
      ['only-user', 'user', 'user'],
      ['only-organisation', 'organisation', 'organisation'],
      ['shared', 'repository', 'workcell'],
    ]);
    expect(loaded.replaced.map(({ content }) => content)).toEqual(['user', 'organisation', 'openhands']);
    expect(loaded.problems).toMatchObject([{ source: 'organisation' }]);
    expect(loaded.organisation).toEqual({ url: server.url, attempts: [] });
    expect((await runtime.files.list('.')).map(({ name }) => name)).toEqual(['project']);
  });

  test('an organisation that cannot be read is told, and hides nothing', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.git('remote', 'add', 'origin', 'http://127.0.0.1:1/owner/project.git');
    repository.write('AGENTS.md', 'rules');
    const { agents, organisation } = await runtime.microagents.load({ user: false });
    expect(agents.map(({ name }) => name)).toEqual(['agents']);
    expect(organisation).toMatchObject({
      url: null,
      attempts: [
        { url: 'http://127.0.0.1:1/owner/.workcell.git' },
        { url: 'http://127.0.0.1:1/owner/.openhands.git' },
      ],
    });
  });
});

test.each([
  [
    'https://github.com/owner/project.git',
    ['https://github.com/owner/.workcell.git', 'https://github.com/owner/.openhands.git'],
  ],
  [
    'git@github.com:owner/project',
    ['git@github.com:owner/.workcell.git', 'git@github.com:owner/.openhands.git'],
  ],
  [
    'https://gitlab.example.org/a/b/project',
    [
      'https://gitlab.example.org/a/b/workcell-config.git',
      'https://gitlab.example.org/a/b/openhands-config.git',
    ],
  ],
  [
    'https://dev.azure.com/org/project/_git/repo',
    [
      'https://dev.azure.com/org/workcell-config/_git/workcell-config',
      'https://dev.azure.com/org/openhands-config/_git/openhands-config',
    ],
  ],
  ['/srv/project.git', []],
  ['https://example.org/project', []],
  [undefined, []],
])('the configuration for %s', (origin, urls) => {
  expect(configurationUrls(origin)).toEqual(urls);
});
