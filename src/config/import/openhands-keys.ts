/** Every key of OpenHands' file that is about where its agents work, and the setting it becomes. */
import { isTable } from '../plain-table.js';
import type { Mapping } from './import-output.js';
import { fromHere, importKwargs, importVolumes } from './openhands-docker.js';
import { mayBeSecret } from './secret-values.js';

export { kubernetesKeys } from './openhands-kubernetes.js';

type Keys = Readonly<Record<string, Mapping>>;

const ofAgent = 'it is about the agent, and no setting of the place where it works';
const ofServer = 'it is about the server of OpenHands, and no setting of the place where an agent works';
const noService = 'there is no backend for the remote-runtime API of OpenHands';

/** Whether OpenHands treats the value as not set. */
function isUnset(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

const to =
  (key: string): Mapping =>
  (value, output) => {
    if (!isUnset(value)) output.set(key, value);
    return undefined;
  };

const toPath =
  (key: string): Mapping =>
  (value, output) =>
    to(key)(typeof value === 'string' && value !== '' ? fromHere(value) : value, output);

const never =
  (reason: string): Mapping =>
  (value) =>
    isUnset(value) ? undefined : reason;

/** One value is the behaviour anyway; any other has no setting. */
const only =
  (usual: unknown, reason: string): Mapping =>
  (value) =>
    isUnset(value) || value === usual ? undefined : reason;

/** An option of the docker backend, which corresponds to OpenHands' own runtime. */
const docker =
  (name: string, change: (value: unknown) => unknown = (value) => value): Mapping =>
  (value, output) => {
    if (isUnset(value)) return undefined;
    if (output.backend !== 'docker') return 'it holds for runtime = "docker" only';
    output.set(`backends.docker.${name}`, change(value));
    return undefined;
  };

function withoutPlugin(name: string): Mapping {
  return (value, output) => {
    if (value !== false) return undefined;
    const before = output.settings.plugins as string[] | undefined;
    output.set(
      'plugins',
      (before ?? output.plugins).filter((plugin) => plugin !== name),
    );
    return undefined;
  };
}

const gitVariables =
  (names: readonly string[]): Mapping =>
  (value, output) => {
    if (!isUnset(value))
      output.set(
        'sandbox.runtime_startup_env_vars',
        Object.fromEntries(names.map((name) => [name, String(value)])),
      );
    return undefined;
  };

export const coreKeys: Keys = {
  runtime: (value, output) => {
    if (output.backend !== undefined) return undefined;
    if (value === 'remote') return `${noService}. Without a backend the safest one here is used`;
    return `there is no backend ${JSON.stringify(value)} here. Without one the safest that can start is used`;
  },
  workspace_base: toPath('workspace'),
  workspace_mount_path: toPath('workspace'),
  workspace_mount_path_in_sandbox: only('/workspace', 'the workspace is at /workspace in every container'),
  workspace_mount_rewrite: never('paths are given as this machine has them'),
  run_as_openhands: only(
    true,
    'commands run as whom the workspace belongs to, and as root only where that is root',
  ),
  enable_browser: withoutPlugin('browser'),
  init_git_in_empty_workspace: only(
    false,
    'run git init, or runtime.git.prepare, where a repository is wanted',
  ),
  git_user_name: gitVariables(['GIT_AUTHOR_NAME', 'GIT_COMMITTER_NAME']),
  git_user_email: gitVariables(['GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_EMAIL']),
  file_store: (value, output) => {
    if (value === 'memory') output.set('events.store', 'memory');
    return isUnset(value) || ['memory', 'local'].includes(String(value))
      ? undefined
      : 'events are kept in memory, SQLite or PostgreSQL: set events.store';
  },
  file_store_path: (value, output) => {
    if (!isUnset(value) && !String(value).startsWith('~') && !output.has('events.store'))
      output.set('events.store', `sqlite:${fromHere(`${String(value)}/workcell.db`)}`);
    return String(value).startsWith('~')
      ? 'a path begins with no ~ here; without it events are kept in a file of this user'
      : undefined;
  },
  file_store_web_hook_url: never('events are not sent anywhere; follow them with runtime.events'),
  file_store_web_hook_headers: never('events are not sent anywhere; follow them with runtime.events'),
  file_store_web_hook_batch: only(false, 'events are not sent anywhere; follow them with runtime.events'),
  cache_dir: never('caches are below XDG_CACHE_HOME'),
  debug: (value, output) => {
    if (value === true) output.set('log.level', 'debug');
    return undefined;
  },
  mcp_host: never(ofServer),
  default_agent: never(ofAgent),
  max_iterations: never(ofAgent),
  max_budget_per_task: never(ofAgent),
  save_trajectory_path: never('the event stream has all that happened: workcell events'),
  save_screenshots_in_trajectory: only(false, 'the event stream has all that happened: workcell events'),
  replay_trajectory_path: never(ofAgent),
  search_api_key: never(ofAgent),
  conversation_max_age_seconds: never(ofServer),
  max_concurrent_conversations: never(ofServer),
  client_wait_timeout: never(ofServer),
  file_uploads_max_file_size_mb: never(ofServer),
  file_uploads_restrict_file_types: only(false, ofServer),
  file_uploads_allowed_extensions: never(ofServer),
};

export const sandboxKeys: Keys = {
  timeout: to('sandbox.timeout'),
  runtime_startup_env_vars: (value, output) => {
    if (!isTable(value)) return undefined;
    const entries = Object.entries(output.variables(value, 'sandbox.runtime_startup_env_vars'));
    // A secret reaches the commands that mention it, not every one of them.
    const plain = entries.filter(([name, text]) => text !== `\${${name}}`);
    if (plain.length > 0) output.set('sandbox.runtime_startup_env_vars', Object.fromEntries(plain));
    return undefined;
  },
  base_container_image: (value, output) =>
    output.has('backends.docker.image') ? undefined : docker('image')(value, output),
  runtime_container_image: docker('image'),
  platform: docker('platform'),
  keep_runtime_alive: (value, output) => (value === true ? docker('keep_alive')(true, output) : undefined),
  enable_gpu: (value, output) =>
    value === true && !output.has('backends.docker.gpu') ? docker('gpu')(true, output) : undefined,
  cuda_visible_devices: docker('gpu', (value) =>
    String(value)
      .split(',')
      .map((id) => id.trim()),
  ),
  use_host_network: (value, output) => (value === true ? docker('network')('host', output) : undefined),
  additional_networks: (value, output) => {
    if (isUnset(value)) return undefined;
    if (!output.has('backends.docker.network')) docker('network')('bridge', output);
    return docker('networks')(value, output);
  },
  volumes: importVolumes,
  docker_runtime_kwargs: importKwargs,
  remote_runtime_api_url: never(noService),
  api_key: never(noService),
  remote_runtime_init_timeout: never(noService),
  remote_runtime_api_timeout: never(noService),
  remote_runtime_enable_retries: only(true, noService),
  remote_runtime_class: never(noService),
  remote_runtime_resource_factor: only(1, noService),
  local_runtime_url: (value, output) => {
    // Its default: the executor of a local cell has a socket and no address.
    if (isUnset(value) || value === 'http://localhost') return undefined;
    const there =
      'where runtimes are on that machine, start "workcell executor" there and set backend = "remote"';
    if (mayBeSecret('local_runtime_url', String(value)))
      return `it may hold a secret, which is not copied; ${there} and backends.remote.url`;
    output.set('backends.remote.url', value);
    return `it becomes backends.remote.url: ${there}`;
  },
  pause_closed_runtimes: only(true, 'a cell is ended or kept; runtime.pause halts it'),
  rm_all_containers: only(false, 'a cell that is closed removes its own container, and no other'),
  user_id: never('commands run as whom the workspace belongs to; backends.docker.user names another'),
  enable_auto_lint: (value, output) => to('openhands.auto_lint')(value === true || null, output),
  runtime_binding_address: never('no port is published; backends.docker.ports publishes some on loopback'),
  runtime_extra_build_args: never('build the image with workcell images build'),
  runtime_extra_deps: never(
    'build the image with workcell images build --extra-deps, and name it as backends.docker.image',
  ),
  force_rebuild_runtime: only(false, 'build the image with workcell images build --force'),
  initialize_plugins: never('plugins start when they are first used'),
  browsergym_eval_env: never('it belongs to the evaluation of OpenHands'),
  close_delay: never('only a service ends idle cells, after the idle time of their template'),
  selected_repo: never('clone it with runtime.git.prepare'),
  trusted_dirs: never('trust the configuration of a directory with workcell trust'),
  vscode_port: never('the port of the editor is chosen when it is opened: workcell vscode'),
};

export const securityKeys: Keys = {
  /** There every action is a question; with an analyzer, only those that it finds risky. */
  confirmation_mode: (value, output) => {
    if (value !== true) return undefined;
    output.set('security.confirm', 'terminal');
    if (!output.has('security.guards')) output.set('security.mode', 'always');
    return undefined;
  },
  security_analyzer: (value, output) => {
    if (isUnset(value)) return undefined;
    output.set('security.guards', ['rules']);
    if (isTable(output.settings.security)) delete output.settings.security.mode;
    return value === 'llm'
      ? 'the rules judge here, and what the agent states about a risk counts where it is stricter'
      : `there is no analyzer ${JSON.stringify(value)}; the rules judge in its place`;
  },
};

export const agentKeys: Keys = {
  enable_browsing: withoutPlugin('browser'),
  enable_jupyter: withoutPlugin('jupyter'),
  enable_mcp: withoutPlugin('mcp'),
  ...Object.fromEntries(
    [
      'enable_cmd',
      'enable_editor',
      'enable_think',
      'enable_finish',
      'enable_prompt_extensions',
      'enable_som_visual_browsing',
      'enable_plan_mode',
    ].map((name) => [name, only(true, ofAgent)]),
  ),
  enable_llm_editor: only(
    false,
    'name the model that applies drafts as [openhands.llm_editor], with its base_url; models are not imported',
  ),
  disabled_microagents: never('runtime.microagents gives all of them, and the caller chooses'),
};
