/** Where this user keeps configuration, state and caches, as the XDG base directory specification has it. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's own settings. */
export function configDirectory(env: Environment = process.env): string {
  return below(env.XDG_CONFIG_HOME, env, '.config');
}

/** Data that the user would miss: events, and the list of trusted projects. */
export function stateDirectory(env: Environment = process.env): string {
  return below(env.XDG_STATE_HOME, env, '.local', 'state');
}

/** Data that we can create again. */
export function cacheDirectory(env: Environment = process.env): string {
  return below(env.XDG_CACHE_HOME, env, '.cache');
}

/** Never a relative path, which would depend on where a program starts. */
export function homeDirectory(env: Environment = process.env): string {
  const named = env.HOME ?? homedir();
  return isAbsolute(named) ? named : userInfo().homedir;
}

/** The specification says to ignore relative paths. */
function below(named: string | undefined, env: Environment, ...names: string[]): string {
  const base = named !== undefined && isAbsolute(named) ? named : join(homeDirectory(env), ...names);
  return join(base, 'workcell');
}
