/** Variables that make other programs do something else. */
import { judgeCode } from '../code/judge.js';
import type { Scope } from '../shell/scope.js';
import { judgeSetting } from './judge-git-settings.js';

/** Judges `NAME=value`, however the command sets it. */
export function judgeAssignment(name: string, value: string, scope: Scope): void {
  if (/^(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST|HISTCONTROL|HISTIGNORE)$/.test(name)) {
    if (
      name === 'HISTFILE'
        ? /^$|\/dev\/null/.test(value)
        : name === 'HISTIGNORE'
          ? value === '*'
          : value === '0'
    )
      scope.high('Keeps the shell from recording its history.');
  }
  if (/^LD_(?:PRELOAD|AUDIT)$|^DYLD_INSERT_LIBRARIES$/.test(name) && value !== '')
    scope.findings.add(
      /^(?:\/usr\/lib|\/lib|lib\w+\.so)/.test(value) ? 'medium' : 'high',
      `Loads a library into other programs through ${name}.`,
    );
  judgeCodeIn(name, value, scope);
  if (/^(?:GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)$/.test(name))
    scope.medium('Switches off the check of who a server is.');
  if (/^BASH_FUNC_|^command_not_found_handle$/.test(name))
    scope.high(`Makes other programs run code through ${name}.`);
  if (name === 'PATH' && /^(?:\.?(?=:)|\.$|(?:\/tmp|\/dev\/shm|\/var\/tmp)(?:[:/]|$))/.test(value))
    scope.medium('Puts a directory that others may write before the programs of the system.');
}

/** Files that interpreters run or load by themselves. */
const startFiles =
  /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONHOME|PYTHONINSPECT|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|LD_LIBRARY_PATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|PHPRC|PHP_INI_SCAN_DIR|ZDOTDIR|INPUTRC|BUN_INSPECT_PRELOAD|DENO_DIR)$/;
const sharedPlace =
  /^(?:\/tmp|\/dev\/shm|\/var\/tmp|\/dev\/fd|\/proc)|(?:-(?:r|-require|-import|-loader|-experimental-loader|javaagent:?|agentpath:?|M|I)[ =]*|\|\s*)\/(?:tmp|dev\/shm|dev\/fd|proc)/;
/** Commands that other programs start: their values are shell source. */
const commandVariables =
  /^(?:PROMPT_COMMAND|GIT_SSH_COMMAND|GIT_EDITOR|EDITOR|VISUAL|\w*PAGER|BROWSER|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|FCEDIT|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|SVN_SSH|GIT_SEQUENCE_EDITOR|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER|npm_config_script_shell|npm_config_git|MAKESHELL|PIP_EDITOR|SYSTEMD_EDITOR|KUBE_EDITOR|PSQL_EDITOR|TEXEDIT|CMAKE_\w+_COMPILER_LAUNCHER)$/;
/** Texts in which the shell itself carries out `$( )`. */
const expandedVariables = /^(?:BASH_ENV|ENV|PS[0-4]|PROMPT|MAIL|MAILPATH)$/;
/** Options of an interpreter that make it load or run more than its arguments. */
const loading =
  /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader|-javaagent|-agentpath|-agentlib|--eval|-e|-p|--inspect-brk|-M\S*[;=,]|-I)/;

/** Variables that make other programs run something. */
function judgeCodeIn(name: string, value: string, scope: Scope): void {
  if (value === '') return;
  if (startFiles.test(name) && sharedPlace.test(value))
    scope.high(`Makes other programs run code through ${name}.`);
  else if (
    /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5DB|GIT_EXEC_PATH|PYTHONBREAKPOINT|GIT_TEMPLATE_DIR)$/.test(name) ||
    (/^(?:NODE_OPTIONS|RUBYOPT|PERL5OPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAKEFLAGS)$/.test(
      name,
    ) &&
      loading.test(value))
  )
    scope.medium(`Makes other programs run code through ${name}.`);
  if (commandVariables.test(name)) scope.read(value.replace(/^\|/, ''));
  if (expandedVariables.test(name) && /[$`]/.test(value)) scope.read(`: "${value.replaceAll('"', '\\"')}"`);
  if (/^(?:PERL5DB|PERL5OPT)$/.test(name)) judgeCode(value.replace(/^-M\w*;?/, ''), scope, 'perl');
  if (name === 'MAKEFLAGS')
    for (const [, source = ''] of value.matchAll(/\$\(shell ([^)]*)\)/g)) scope.read(source);
  judgeGitVariable(name, value, scope);
}

/** Settings of git that come as variables are settings. */
function judgeGitVariable(name: string, value: string, scope: Scope): void {
  const [, number] = /^GIT_CONFIG_VALUE_(\d+)$/.exec(name) ?? [];
  const key = number === undefined ? undefined : scope.variables.get(`GIT_CONFIG_KEY_${number}`)?.text;
  if (key !== undefined) judgeSetting(key, value, scope);
  const [, other] = /^GIT_CONFIG_KEY_(\d+)$/.exec(name) ?? [];
  const set = other === undefined ? undefined : scope.variables.get(`GIT_CONFIG_VALUE_${other}`)?.text;
  if (set !== undefined) judgeSetting(value, set, scope);
  if (name === 'GIT_CONFIG_PARAMETERS')
    for (const [, setting = '', text = ''] of value.matchAll(/'?([\w.-]+)'?=(?:'?)([^']*)'?/g))
      judgeSetting(setting, text, scope);
}
