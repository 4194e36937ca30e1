/** Programs that are there to hand out passwords, tokens and keys. */
import { type Checks, each } from './check.js';

/** By program: the words, options left out, with which a secret is printed or written out. */
const stores: Readonly<Record<string, RegExp>> = {
  'secret-tool': /^(?:lookup|search)\b/,
  security: /^(?:dump-keychain|find-(?:generic|internet)-password|export)\b/,
  pass: /^(?!(?:ls|list|git|help|version|init|insert|generate|find|edit)\b)\S/,
  gopass: /^(?!(?:ls|list|git|help|version|init|insert|generate|find|edit)\b)\S/,
  op: /^(?:read|item get|document get|inject|run)\b/,
  bw: /^(?:get|list|export)\b/,
  lpass: /^(?:show|export)\b/,
  'keepassxc-cli': /^(?:show|export|clip)\b/,
  'kwallet-query': /^/,
  keyctl: /^(?:print|pipe|read)\b/,
  keyring: /^get\b/,
  vault: /^(?:read|kv get|print token|login|token create|unwrap)\b/,
  sops: /^(?:decrypt|exec-env|exec-file)\b/,
  'ansible-vault': /^(?:view|decrypt)\b/,
  doppler: /^(?:secrets|run)\b/,
  infisical: /^(?:secrets|export|run)\b/,
  chamber: /^(?:read|export|exec|list)\b/,
  heroku: /^config(?::get)?(?:\s|$)|^auth:token\b/,
  gcloud:
    /^(?:secrets versions access|auth (?:application-default )?print-(?:access|identity)-token|iam service-accounts keys create|kms decrypt)\b/,
  az: /^(?:keyvault (?:secret|key|certificate) (?:show|download|backup)|account get-access-token|acr credential show|storage account keys list|ad sp create-for-rbac|aks get-credentials)\b/,
  aws: /^(?:secretsmanager (?:get-secret-value|batch-get-secret-value)|iam create-(?:access-key|login-profile)|configure export-credentials|kms decrypt)\b|^configure get .*(?:secret|token)/,
  doctl: /^(?:auth token|kubernetes cluster kubeconfig show|databases connection)\b/,
  gh: /^auth token\b/,
  kubectl: /^(?:config view --raw|create token)\b/,
  consul: /^kv (?:get|export)\b/,
  etcdctl: /^get\b.*(?:secret|password|token)/i,
};

/** An option that makes a secret come out where the words alone would not. */
const options: readonly { readonly program: RegExp; readonly option: RegExp; readonly words?: RegExp }[] = [
  { program: /^gpg2?$/, option: /^--export-secret-(?:sub)?keys?$|^--export-ssh-key$/ },
  { program: /^aws$/, option: /^--with-decryption$/, words: /^ssm get-param/ },
  { program: /^sops$/, option: /^(?:-d|--decrypt)$/ },
  { program: /^gh$/, option: /^(?:-t|--show-token)$/, words: /^auth status/ },
  { program: /^openssl$/, option: /^-nodes$|^-noenc$/, words: /^pkcs12/ },
  { program: /^docker$/, option: /^(?:-f|--format)=?.*(?:Env|\.Config)/, words: /^inspect/ },
  { program: /^ssh-keygen$/, option: /^-y$/ },
];

export const secretStores: Checks = {
  ...each(Object.keys(stores).join(' '), ({ program, args }, scope) => {
    const words = args.filter((arg) => !arg.startsWith('-') || arg === '--raw').join(' ');
    if (stores[program]?.test(words)) scope.high('Prints secrets that are kept for safety.');
  }),
};

/** Looked at for every program, because the names of some of them vary. */
export function judgeSecretOptions(
  program: string,
  args: readonly string[],
  high: (reason: string) => void,
): void {
  if (/^docker-credential-/.test(program) && args[0] === 'get')
    high('Prints secrets that are kept for safety.');
  for (const { program: name, option, words } of options) {
    if (!name.test(program) || !args.some((arg) => option.test(arg))) continue;
    if (words === undefined || words.test(args.filter((arg) => !arg.startsWith('-')).join(' ')))
      high('Prints secrets that are kept for safety.');
  }
}
