/** Commands in the forms in which a person thinks of them: `/usr/bin/git -C . push` is `git push`. */
import { own } from '../lookup.js';
import type { Invocation } from './invocation.js';

/** Options in front of a subcommand that take the next word as their value. */
const valued: Readonly<Record<string, string | undefined>> = {
  git: '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source',
  docker: '-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey',
  podman: '-H --host -c --connection --log-level --root --runroot --storage-driver --url --identity',
  kubectl:
    '-n --namespace --context --cluster -s --server --kubeconfig --user --token --as --as-group --request-timeout -v --v --cache-dir --certificate-authority --client-certificate --client-key',
  helm: '-n --namespace --kube-context --kubeconfig',
  npm: '--prefix -w --workspace -C --registry --userconfig --globalconfig --loglevel --cache',
  pnpm: '-C --dir -F --filter --reporter --loglevel',
  yarn: '--cwd',
  cargo: '-C --config -Z --color --manifest-path',
  go: '-C',
  systemctl: '-H --host -M --machine -t --type -p --property --root -n --lines -o --output',
  aws: '--profile --region --endpoint-url --output --query --cli-read-timeout --ca-bundle --color',
  gcloud: '--project --account --configuration --format --verbosity --zone --region',
  az: '--subscription -o --output --query',
  gh: '-R --repo --hostname',
  pip: '--log --proxy --cache-dir --cert --python --timeout --retries',
  'apt-get': '-o -c -t --option --config-file --target-release',
  apt: '-o -c -t',
  hg: '-R --repository --cwd --config --encoding',
  poetry: '-C --directory -P --project',
  uv: '--directory --project --cache-dir --config-file --color',
  make: '-C -f --directory --file -j -I -o -W',
};

const same: Readonly<Record<string, string | undefined>> = { pip3: 'pip', nerdctl: 'docker' };
const standard = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/;

/** As the command writes it; for a program of the system by its name alone, whatever directory the command names. */
export function writtenForm({ path, args }: Invocation): string {
  return [standard.exec(path)?.[1] ?? path, ...args].join(' ');
}

/** Every way to say the same, for rules that nobody must get around: too many are better than too few. */
export function allForms(invocation: Invocation): string[] {
  const { path, program, args } = invocation;
  const forms = new Set([[path, ...args].join(' '), [program, ...args].join(' ')]);
  const add = (name: string, words: readonly string[]) => {
    for (const rest of withoutGlobals(name, words)) forms.add([name, ...rest].join(' '));
  };
  add(program, args);
  const other = own(same, program);
  if (other !== undefined) add(other, args);
  if (program === 'git') for (const words of aliased(args)) forms.add(`git ${words}`);
  const module = /^(?:python|pypy)/.test(program) ? args.indexOf('-m') : -1;
  const [name, ...rest] = module === -1 ? [] : args.slice(module + 1);
  if (name !== undefined) add(name, rest);
  return [...forms];
}

/** The words from the subcommand on. The first options of an unknown program may or may not take a value. */
function withoutGlobals(program: string, args: readonly string[]): (readonly string[])[] {
  const known = own(valued, program)?.split(' ');
  const strip = (takesValue: (option: string) => boolean) => {
    let index = 0;
    while (index < args.length && /^[-+]./.test(args[index] ?? ''))
      index += takesValue(args[index] ?? '') ? 2 : 1;
    return args.slice(index);
  };
  if (known !== undefined) return [strip((option) => known.includes(option))];
  return [strip(() => false), strip((option) => !option.includes('='))];
}

/** `git -c alias.p=push p origin` is `git push origin`. */
function aliased(args: readonly string[]): string[] {
  const [rest = []] = withoutGlobals('git', args);
  const [verb, ...words] = rest;
  return args.flatMap((arg, index) => {
    const [, name, value = ''] = /^(?:-c)?alias\.([^=]+)=([\s\S]*)$/.exec(arg) ?? [];
    const isSetting = args[index - 1] === '-c' || arg.startsWith('-c');
    return isSetting && name === verb && !value.startsWith('!') ? [[value, ...words].join(' ')] : [];
  });
}
