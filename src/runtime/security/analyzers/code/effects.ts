/**
 * Calls that act on the machine, each as the command that does the same. So our knowledge of commands holds for code
 * in every language.
 */

import { own } from '../lookup.js';
import { unknownText } from '../paths/place.js';
import type { Call } from './reader.js';
import type { Value } from './value.js';

export type Effect =
  | { readonly kind: 'command'; readonly argv: readonly string[] }
  | { readonly kind: 'shell'; readonly source: string }
  | { readonly kind: 'code'; readonly source: string }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly text: string | undefined;
      readonly append: boolean;
    }
  | { readonly kind: 'print'; readonly text: string };

type Acts = (call: Call, language: string) => Effect | undefined;

const fileOwners =
  /^(?:os|fs|fsp|promises|shutil|File|FileUtils|Files|Deno|Bun|Path|path|pathlib|sh|shell|IO|Dir|Kernel|FS|syscall|unix|ioutil|node:fs|node:fs\/promises|fs\/promises|fs-extra|shelljs)$/;

const actions: Readonly<Record<string, Acts | undefined>> = {
  ...same(
    'rmtree rm_rf rm_r remove_tree removeSync rimraf RemoveAll remove_dir_all remove_entry remove_entry_secure rmSync rm emptyDir emptyDirSync outputRemove deltree removeTree rmdir_r delete_tree removedirs remove_dir rimrafSync deleteSync deleteDir deleteRecursively deleteDirectory cleanDirectory delete_recursively removeDirectory RemoveDir unlink_all del',
    (call) => command(['rm', '-rf'], subjects(call)),
  ),
  ...same(
    'unlink unlinkSync remove rmdir rmdirSync removeFile remove_file Remove Unlink safe_unlink send2trash rm_f',
    (call) => command(['rm', '-f'], subjects(call)),
  ),
  ...same('delete delete_all deleteIfExists', (call) =>
    isFileCall(call) ? command(['rm', '-f'], subjects(call)) : undefined,
  ),
  ...same('rename renames renameSync move moveSync mv Rename rename_file', (call) =>
    command(['mv'], subjects(call), 2),
  ),
  replace: (call) => (call.chain[0] === 'os' ? command(['mv'], subjects(call), 2) : undefined),
  ...same('copy copy2 copyfile copytree copyFile copyFileSync cp cpSync cp_r copySync CopyFile', (call) =>
    command(['cp', '-r'], subjects(call), 2),
  ),
  ...same('symlink symlinkSync link linkSync ln_s ln_sf Symlink symlink_to', (call) =>
    command(['ln', '-s'], subjects(call), 2),
  ),
  ...same('chmod chmodSync lchmod Chmod chmod_R', ({ args, on, chain }) => {
    const words = on === undefined || args.length > 1 ? texts(args) : [...texts(args), on.text];
    const mode = words.find((word) => /^(?:0o?)?\d+$|^0x|^[ugoa]*[+=]/.test(word)) ?? '';
    const paths = words.filter((word) => word !== mode);
    return {
      kind: 'command',
      argv: ['chmod', ...(chain.at(-1)?.endsWith('_R') ? ['-R'] : []), octal(mode), ...paths],
    };
  }),
  ...same('chown chownSync lchown Chown', ({ args }) => ({
    kind: 'command',
    argv: ['chown', 'root', ...texts(args).filter((word) => /[/~]/.test(word))],
  })),
  ...same(
    'writeFile writeFileSync file_put_contents WriteFile createWriteStream truncate truncateSync Create outputFile outputFileSync binwrite',
    ({ args }) => written(args[0], args[1], false),
  ),
  ...same('appendFile appendFileSync AppendFile', ({ args }) => written(args[0], args[1], true)),
  ...same('write_text write_bytes', ({ args, on }) => written(on, args[0], false)),
  write: (call) => (isFileCall(call) ? written(call.args[0], call.args[1], false) : printed(call)),
  ...same('open fopen OpenFile openSync', ({ args, on }) => {
    const [path, mode] = on !== undefined && args.length < 2 && /^[/~.]/.test(on.text) ? [on, args[0]] : args;
    const inMode = /^[<+>]/.test(path?.text ?? '') || /^[<+>]+$/.test(mode?.text ?? '');
    if (inMode) {
      const [first, second] = texts(args.filter(({ text }) => !/^[<+>:\w()-]+$/.test(text)));
      const target =
        /^[+>]+\s*(\S.*)$/.exec(first ?? '')?.[1] ??
        (args.some(({ text }) => />/.test(text)) ? (second ?? first) : undefined);
      return target === undefined
        ? undefined
        : {
            kind: 'write',
            path: target,
            text: undefined,
            append: args.some(({ text }) => text.includes('>>')),
          };
    }
    return mode !== undefined && /^[rbt]*[wax+]|^[a-z]*\+/.test(mode.text) && mode.text.length < 5
      ? { kind: 'write', path: path?.text ?? '', text: undefined, append: mode.text.includes('a') }
      : undefined;
  }),
  ...same('kill killpg', ({ args }) => ({
    kind: 'command',
    argv: ['kill', '-9', ...texts(args).filter((word) => /^-?1$/.test(word))],
  })),
  run_path: (call) => command(['python3'], subjects(call), 1),
  ...same('reboot', () => ({ kind: 'command', argv: ['reboot'] })),
  ...same(
    'system popen popen2 popen3 execSync execFile execFileSync spawn spawnSync shell_exec passthru proc_open getoutput getstatusoutput check_output check_call Popen execv execve execvp execvpe execl execlp execle spawnl spawnlp spawnv spawnvp posix_spawn Command capture2 capture2e capture3 capture3e create_subprocess_shell create_subprocess_exec execute exec_command pcntl_exec execa execaCommand os_execute syscall subprocess getoutput2',
    ({ args }) => started(args),
  ),
  ...same('run call', (call) =>
    /^(?:subprocess|sh|exec|os|cmd|Process|Command)$/.test(call.chain[0] ?? '')
      ? started(call.args)
      : undefined,
  ),
  exec: ({ args }, language) =>
    /^(?:python|pypy|ipython|a code cell)/.test(language)
      ? { kind: 'code', source: args[0]?.text ?? '' }
      : started(args),
  ...same(
    'eval Function instance_eval class_eval loadstring load assert create_function runInThisContext runInNewContext compile',
    ({ args }) => ({ kind: 'code', source: args.at(-1)?.text ?? '' }),
  ),
  ...same('print puts log say printf println info print_r', printed),
};

/** Functions of files and programs that Perl, Ruby and their kind call without brackets. */
export function isActing(name: string): boolean {
  return Object.hasOwn(actions, name) || /^(?:glob|require|read|binread|readlines|echo)$/.test(name);
}

export function effectOf(call: Call, language: string): Effect | undefined {
  const name = (call.chain.at(-1) ?? '').replace(/[!?]$/, '');
  return own(actions, name)?.(call, language);
}

function same(names: string, acts: Acts): Record<string, Acts> {
  return Object.fromEntries(names.split(' ').map((name) => [name, acts]));
}

function isFileCall({ chain }: Call): boolean {
  return chain.slice(0, -1).some((name) => fileOwners.test(name)) || chain.length === 1;
}

function texts(values: readonly (Value | undefined)[]): string[] {
  return values.flatMap(
    (value) => value?.items?.map(({ text }) => text) ?? (value === undefined ? [] : [value.text]),
  );
}

/** What a method acts on: its arguments, or the path it is a method of. */
function subjects({ args, on }: Call): string[] {
  const named = texts(args);
  return on !== undefined && /^(?:[/~.]|\0\/)/.test(on.text) ? [on.text, ...named] : named;
}

function command(start: readonly string[], words: readonly string[], most = 16): Effect | undefined {
  const paths = words.filter((word) => word !== unknownText && !/^(?:true|false|True|False)$/.test(word));
  return paths.length === 0 ? undefined : { kind: 'command', argv: [...start, ...paths.slice(0, most)] };
}

function written(path: Value | undefined, text: Value | undefined, append: boolean): Effect | undefined {
  if (path === undefined) return undefined;
  return { kind: 'write', path: path.text, text: text?.text, append };
}

/** A command as one text, as a list of words, or as a program and its words. */
function started(args: readonly Value[]): Effect | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  const list = first.items ?? (second?.items === undefined ? undefined : [first, ...second.items]);
  if (list !== undefined) return { kind: 'command', argv: list.map(({ text }) => text) };
  const words = args.filter(({ text }) => text !== unknownText && !/^[rw]$/.test(text));
  // The words of a program one by one, unless the first is a whole command line.
  if (words.length > 1 && !/\s/.test(first.text))
    return { kind: 'command', argv: words.map(({ text }) => text) };
  return { kind: 'shell', source: first.text };
}

function printed({ args }: Call): Effect {
  return { kind: 'print', text: `${args.map(({ text }) => text).join(' ')}\n` };
}

function octal(mode: string): string {
  if (/^[1-9]\d*$/.test(mode) && (Number(mode) > 7777 || /[89]/.test(mode))) return Number(mode).toString(8);
  return mode.replace(/^0o/, '');
}
